// The page on which people play, and look at the values of positions.
import { draw as drawBoard, evaluation, glyph, mark } from './board.js';
import { edit } from './editor.js';
import { draw as drawHistory } from './history.js';

const $ = id => document.getElementById(id);
const base = document.body.dataset.view;

// The play: the position at which it began ("" is the initial one), the moves, and how many of
// them are made; the others were taken back.
let from = '', moves = [], made = 0;
let view = null, report = null, source = null, turn = 0, timer = 0;
let hints = true, paused = false;
let editing = null; // returns the squares of the board editor, while it is open
let pressed = false; // a button of the mouse; what it pressed must stay until it is released, or there is no click

function query(extra = {}) {
  const q = new URLSearchParams();
  if (from) q.set('from', from);
  if (made) q.set('moves', moves.slice(0, made).join(','));
  for (const [key, value] of Object.entries(extra)) q.set(key, value);
  return q.toString();
}

async function get(path, q) {
  const answer = await fetch(`${base}${path}?${q}`);
  const json = await answer.json();
  if (!answer.ok) throw new Error(json.error);
  return json;
}

function say(text) { $('message').textContent = text; }

// show shows the current position. Answers that belong to an earlier one are dropped.
async function show(remember = true) {
  const mine = ++turn;
  clearTimeout(timer);
  source?.close();
  let next;
  try {
    next = await get('', query());
  } catch (e) {
    say(e.message);
    return false;
  }
  if (mine !== turn) return false;
  view = next;
  report = null;
  editing = null;
  const address = `?${query()}`;
  if (remember && location.search !== address) history.pushState(null, '', address);
  render();
  if (!view.over) {
    analyze(mine);
    machine(mine);
  }
  return true;
}

// analyze follows the analysis of the position.
function analyze(mine) {
  source = new EventSource(`${base}/analysis?${query()}`);
  source.addEventListener('report', e => {
    if (mine !== turn) return;
    report = JSON.parse(e.data);
    if (report.worth) view.plies.at(-1).worth = report.worth;
    if (!pressed) render();
  });
  source.addEventListener('end', () => source.close());
  source.addEventListener('error', () => source.close());
}

// machine lets a machine move, if it is its turn.
function machine(mine) {
  const level = $(`seat${view.turn}`).value;
  if (level === 'person' || paused) return;
  const begun = performance.now();
  get('/move', query({ level })).then(({ move }) => {
    if (mine !== turn) return;
    timer = setTimeout(() => play(move), Math.max(0, $('speed').value - (performance.now() - begun)));
  }, e => { if (mine === turn) say(e.message); });
}

async function play(name) {
  say('');
  const before = [moves, made];
  if (moves[made] !== name) moves = [...moves.slice(0, made), name];
  made++;
  if (!await show() && view) [moves, made] = before;
}

// choose plays a move, or if a click can mean several, marks them in the list.
function choose(names) {
  if (names.length === 1) return play(names[0]);
  say(`Choose one of ${names.join(', ')}.`);
  for (const button of $('moves').querySelectorAll('button')) {
    button.setAttribute('aria-pressed', names.includes(button.textContent));
  }
  $('moves').querySelector('button[aria-pressed=true]')?.focus();
}

// jump shows a position that the server finds.
async function jump(q) {
  try {
    const v = await get('', new URLSearchParams(q).toString());
    [from, moves] = [v.from, []];
    go(0);
  } catch (e) { say(e.message); }
}

function go(ply) {
  made = ply;
  say('');
  show();
}

// words describes a value for the player to move.
function words(w) {
  if (!w) return 'not known yet';
  if (!w.value) return `evaluation ${evaluation(w)}, ${w.depth} plies deep`;
  if (w.value === 'draw') return 'draw: play need not end';
  return w.open ? w.value : `${w.value} in ${w.remoteness} ${w.remoteness === 1 ? 'ply' : 'plies'}`;
}

function worthOf(name) { return report?.moves[name] ?? view.moves.find(m => m.name === name)?.worth ?? null; }

function render() {
  const worths = Object.fromEntries(view.moves.map(m => [m.name, worthOf(m.name)]));
  if (!editing) $('board').replaceChildren(drawBoard(view, hints ? worths : null, hints ? report?.best : null, choose));
  $('editor').hidden = !editing;
  $('edit').hidden = !view.place.length;
  $('edit').setAttribute('aria-expanded', editing !== null);
  $('name0').textContent = view.players[0];
  $('name1').textContent = view.players[1];
  $('state').textContent = view.over ? `The game is over: ${view.over.text}.` : `${view.players[view.turn]} to move.`;
  $('undo').disabled = made === 0;
  $('redo').disabled = made === moves.length;
  $('best').disabled = !report?.best;
  const machines = [0, 1].map(i => $(`seat${i}`).value !== 'person');
  $('pause').hidden = !machines.some(Boolean);
  $('hints').setAttribute('aria-pressed', hints);
  renderWorth();
  renderMoves(worths);
  $('history').replaceChildren(drawHistory(view, view.plies.length - 1, go));
  renderMistakes();
}

function renderWorth() {
  const w = view.over ? null : report?.worth;
  $('worth').className = w?.value ?? '';
  $('worth').textContent = view.over ? view.over.text : hints ? `${glyph[w?.value] ?? ''} ${view.players[view.turn]}: ${words(w)}` : '';
  $('line').textContent = hints && report?.line.length ? `Best play: ${report.line.join(' ')}` : '';
  let text = '';
  if (report?.table) text = 'From the table.';
  else if (report && !view.over) {
    const rate = report.millis ? Math.round(report.nodes / report.millis) : 0;
    text = `Search: ${report.depth} plies, ${report.nodes.toLocaleString('en')} positions, ${rate.toLocaleString('en')} thousand a second${report.done ? '' : ' …'}`;
  }
  $('search').textContent = text;
}

// renderMoves fills the table of moves, the best first.
function renderMoves(worths) {
  const order = hints && report ? report.order : view.moves.map(m => m.name);
  const focused = document.activeElement?.closest?.('#moves') ? document.activeElement.textContent : '';
  const rows = order.map(name => {
    const w = hints ? worths[name] : null;
    const tr = document.createElement('tr');
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = name;
    button.addEventListener('click', () => play(name));
    const cells = [button, hints ? `${glyph[w?.value] ?? ''} ${w?.value || (w ? 'evaluation ' + mark(w) : '?')}` : '', w?.value && w.value !== 'draw' && !w.open ? w.remoteness : ''].map(content => {
      const td = document.createElement('td');
      td.append(content);
      return td;
    });
    cells[1].className = w?.value ?? '';
    if (name === report?.best && hints) cells[1].append(' ★');
    tr.append(...cells);
    return tr;
  });
  $('moves').tBodies[0].replaceChildren(...rows);
  if (focused) [...$('moves').querySelectorAll('button')].find(b => b.textContent === focused)?.focus();
  $('summary').textContent = hints ? summary(worths) : '';
}

// summary tells how many moves keep the result.
function summary(worths) {
  const all = Object.values(worths);
  if (!all.length || all.some(w => !w?.value)) return '';
  const rank = { win: 3, tie: 2, draw: 1, lose: 0 };
  const best = all.reduce((a, b) => rank[b.value] > rank[a.value] ? b : a).value;
  const keep = all.filter(w => w.value === best).length;
  if (all.length === 1) return 'The only move.';
  if (best === 'lose') return 'Every move loses.';
  if (keep === 1) return `Only one move keeps the ${best}.`;
  return `${keep} of ${all.length} moves keep the ${best}.`;
}

function renderMistakes() {
  $('mistakes').replaceChildren(...view.plies.flatMap((p, i) => {
    if (!p.lost) return [];
    const li = document.createElement('li');
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = `Move ${i + 1}, ${p.move}`;
    button.addEventListener('click', () => go(i));
    li.append(button, ` by ${view.players[p.turn]}: from ${p.lost[0]} to ${p.lost[1]}`);
    return [li];
  }));
}

for (const i of [0, 1]) $(`seat${i}`).addEventListener('change', () => show(false));

// load takes the play from the address.
function load() {
  const q = new URLSearchParams(location.search);
  const named = (q.get('moves') ?? '').split(',').filter(Boolean);
  const same = from === (q.get('from') ?? '') && named.every((m, i) => moves[i] === m);
  from = q.get('from') ?? '';
  made = named.length;
  if (!same) moves = named;
  show(false);
}

$('undo').addEventListener('click', () => { if (made) go(made - 1); });
$('redo').addEventListener('click', () => { if (made < moves.length) go(made + 1); });
$('restart').addEventListener('click', () => { from = ''; moves = []; go(0); });
$('best').addEventListener('click', () => { if (report?.best) play(report.best); });
$('hints').addEventListener('click', () => { hints = !hints; render(); });
$('pause').addEventListener('click', () => {
  paused = !paused;
  $('pause').setAttribute('aria-pressed', paused);
  show(false);
});
$('random').addEventListener('click', () => jump({ random: 1 }));
$('drawn')?.addEventListener('submit', e => {
  e.preventDefault();
  jump({ random: 1, ...Object.fromEntries(new FormData(e.target)) });
});
$('edit').addEventListener('click', () => {
  if (editing) {
    show(false);
    return;
  }
  turn++; // drops answers for the position
  clearTimeout(timer);
  source?.close();
  editing = edit(view, $('board'), $('tools'));
  $('mover').hidden = !view.chosen;
  $('editturn').replaceChildren(...view.players.map((name, i) => new Option(name, i, false, i === view.turn)));
  render();
});
$('cancel').addEventListener('click', () => show(false));
$('editor').addEventListener('submit', e => {
  e.preventDefault();
  jump({ board: editing(), turn: $('editturn').value });
});
$('share').addEventListener('click', async () => {
  try {
    await navigator.clipboard.writeText(location.href);
    say('The link is copied.');
  } catch { say(location.href); }
});
$('typed').addEventListener('submit', e => {
  e.preventDefault();
  const name = $('move').value.trim();
  $('move').value = '';
  if (view?.moves.some(m => m.name === name)) play(name);
  else say(`There is no move ${JSON.stringify(name)}.`);
});
$('goto').addEventListener('submit', async e => {
  e.preventDefault();
  const before = [from, moves, made];
  [from, moves, made] = [$('position').value, [], 0];
  if (await show()) say('');
  else [from, moves, made] = before;
});
addEventListener('pointerdown', () => { pressed = true; });
for (const end of ['pointerup', 'pointercancel']) {
  addEventListener(end, () => setTimeout(() => {
    pressed = false;
    if (view) render();
  }));
}
addEventListener('popstate', load);
addEventListener('keydown', e => {
  if (editing || e.ctrlKey || e.altKey || e.metaKey || e.target.closest('input, select')) return;
  if (e.key === 'ArrowLeft' && made) go(made - 1);
  else if (e.key === 'ArrowRight' && made < moves.length) go(made + 1);
  else if (view?.moves.some(m => m.name === e.key)) play(e.key);
});

load();
