// What the pages of plays and puzzles share: requests, clicks on the board, and lists of moves without a square, and of those of a
// line, whose pieces the board shows.
import { has, meant, one } from './board.js';

// The rules have the focus while they are shown, so keys scroll them. With autofocus, the browser complains if something else has
// the focus before the page is loaded.
document.getElementById('rules')?.addEventListener('toggle', ({ newState, target }) => { if (newState === 'open') target.focus(); });

const chooser = document.getElementById('chooser');

export function say(text) { document.getElementById('message').textContent = text; }

// capital returns a text with a capital at its beginning, unless it is a single letter.
export const capital = text => text.length > 1 ? text[0].toUpperCase() + text.slice(1) : text;

// fetched returns the answer to a request; null if that fails, which the page says, or if it is no longer wanted.
export async function fetched(address, wanted) {
  try {
    const answer = await fetch(address), json = await answer.json();
    if (!answer.ok) throw new Error(json.error);
    return wanted() ? json : null;
  } catch (e) {
    if (wanted()) say(e.message);
    return null;
  }
}

// button makes a button.
function button(text, pressed, label = null) {
  const b = Object.assign(document.createElement('button'), { type: 'button', textContent: text, ariaLabel: label });
  b.addEventListener('click', pressed);
  return b;
}

const texts = {};

// unless calls change if a text is another one than the last time: otherwise, a button keeps the focus.
function unless(name, text, change) {
  if (texts[name] !== text) change();
  texts[name] = text;
}

// onBoard returns a view of the position after the moves of a line. It has no moves: those of the view are not possible there.
export function onBoard(view, line) {
  const picture = structuredClone(view.picture), plies = line.plies.slice(0, line.made), last = plies.at(-1);
  plies.forEach((p, i) => p.changed.forEach(([x, y], k) => { picture.rows[y][x] = { ...p.squares[k], ply: i + 1 }; }));
  picture.won = last.won;
  return { ...view, picture, last: last.changed, moves: [], over: said(view, line).slice(0, -1) };
}

// said describes the last move of a line on the board.
export function said({ players }, { title, plies, made }) {
  return `${title}, move ${made} of ${plies.length}: ${players[plies[made - 1].turn]} plays ${plies[made - 1].move}.`;
}

// listSteps lists the moves of a line, of which made are on the board. stepTo is called with the number that is to be there.
export function listSteps({ title, plies, made }, stepTo) {
  const [steps, back, forward] = ['steps', 'back', 'forward'].map(id => document.getElementById(id));
  back.disabled = !made;
  forward.disabled = made >= plies.length;
  unless('line', title + plies.map(p => p.move), () => steps.replaceChildren(plies.length ? `${title}:` : '', ...plies.flatMap(({ move }, i) => [' ', button(move, () => stepTo(i + 1))])));
  steps.querySelectorAll('button').forEach((b, i) => {
    if (i + 1 === made) b.setAttribute('aria-current', 'step');
    else b.removeAttribute('aria-current');
  });
  const now = steps.querySelector('[aria-current]');
  if (now) steps.scrollTo(now.offsetLeft - steps.offsetLeft - steps.clientWidth / 2, now.offsetTop - steps.offsetTop - steps.clientHeight / 2);
}

// put shows HTML in an element, unless it shows it already. A button that has the focus keeps it.
export function put(id, html) {
  const place = document.getElementById(id), label = b => b.ariaLabel ?? b.textContent;
  unless(id, html, () => {
    const focused = place.contains(document.activeElement) && label(document.activeElement);
    place.innerHTML = html;
    if (focused) [...place.querySelectorAll('button')].find(b => label(b) === focused)?.focus();
  });
}

// listPasses lists the moves that no square of the board means.
export function listPasses(moves, choose) {
  const passes = document.getElementById('passes'), names = moves.filter(m => !m.squares.length).map(m => m.name);
  passes.hidden = !names.length;
  unless('passes', names.join(), () => passes.replaceChildren(...names.map(name => button(capital(name), () => choose(name)))));
}

// pick takes a click on a square, after other clicks. If they mean one move, it is played; if no square to click next tells which one it
// is, they are listed at the square. pick returns the clicks that another one can follow.
export function pick(moves, clicks, at, square, play) {
  if (clicks.includes(at)) return [];
  const longer = [...clicks, at], now = meant(moves, longer).length ? longer : [at], open = meant(moves, now);
  if (one(open, now)) {
    play(open[0].name);
    return now;
  }
  const same = open.some(m => m.squares.every(s => now.includes(String(s)))) || open.every(m => m.squares.every(s => open.every(o => has(o, String(s)))));
  if (open.length < 2 || !same) return now;
  listAt(square, open, play);
  return [];
}

// listAt lists moves at a square of the board.
function listAt(square, moves, play) {
  const area = square.getBoundingClientRect(), within = document.getElementById('board').getBoundingClientRect();
  chooser.replaceChildren(...moves.map(({ name }) => button(name, () => {
    chooser.hidden = true;
    play(name);
  })));
  chooser.hidden = false;
  const left = area.x + (area.width - chooser.offsetWidth) / 2 - within.x;
  chooser.style.left = `${Math.max(0, Math.min(left, within.width - chooser.offsetWidth))}px`;
  chooser.style.top = `${area.bottom - within.y}px`;
  chooser.firstChild.focus();
}

addEventListener('pointerdown', e => { if (!e.target.closest('#chooser')) chooser.hidden = true; });
chooser.addEventListener('keydown', e => {
  if (e.key !== 'Escape') return;
  e.stopPropagation();
  chooser.hidden = true;
  document.querySelector('#board [tabindex="0"]')?.focus();
});
