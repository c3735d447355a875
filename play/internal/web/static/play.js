// The page on which people play, and look at the values of positions.
import { draw as drawBoard, el, glyph, has, meant, replace } from './board.js';
import * as clock from './clock.js';
import { edit } from './editor.js';
import { draw as drawHistory } from './history.js';

const $ = id => document.getElementById(id);
const base = document.body.dataset.view, puzzle = 'puzzle' in document.body.dataset; // a puzzle has one player

// The play: the position at which it began ("" is the initial one), the moves, and how many of
// them are made; the others were taken back.
let from = '', moves = [], made = 0;
let view = null, report = null, source = null, timer = 0;
let turn = 0; // number of the latest request for a position: only its answer changes the page
let shown = null; // the play whose position is view, and the number of its request
let pushes = false; // the next position that is shown gets an entry in the browser's history
let thinking = false; // a machine chooses a move
let clicks = []; // the squares that were clicked, while they can mean several moves
let paused = false, played = false; // a move was made on this page
let mode = addressMode(); // play, without values, or analyse
let rival = puzzle ? '' : 'regular'; // the machine that gets the side that is not to move when Play begins; '' when the players are chosen
let resigned = null; // the play, see query, whose player to move has resigned
let hint = ''; // the best move, which a player asked for
let line = null; // the line on the board: its title, its plies, and how many of them are made
let keys = stored('keys') !== 'off', threats = stored('threats') === 'on';
let practice = null; // the mistakes that a player tries to put right: all, the current one, the moves tried at it, how many were found at once, and the ply before the practice
let editing = null; // returns the squares of the board editor, while it is open
let pressed = false; // a button of the mouse; what it pressed must stay until it is released, or there is no click

// addressMode returns the mode that the address names.
function addressMode() { return location.hash === '#play' ? 'play' : 'analyse'; }

// stored returns what stays when the page is loaded again: settings for all pages in localStorage, the
// state of a play in sessionStorage, which only this tab has. A browser may refuse to keep any.
function stored(name, where = 'localStorage') { try { return window[where][name]; } catch { return undefined; } }
function store(name, value, where = 'localStorage') { try { window[where][name] = value; } catch { /* it is lost */ } }

function query(extra = {}) {
  const q = new URLSearchParams();
  if (from) q.set('from', from);
  if (made) q.set('moves', moves.slice(0, made).join(','));
  for (const [key, value] of Object.entries(extra)) q.set(key, value);
  return q.toString();
}

// whole returns the query of the play with the moves that were taken back.
function whole() {
  const q = new URLSearchParams({ moves: moves.join(',') });
  if (from) q.set('from', from);
  return q.toString();
}

// session returns what the query of a view has beside the play: the moves that were taken back and, in the mode play, who is
// a person, whether machines wait, and an action.
function session(action = resigned === query() && 'resign') {
  const q = made < moves.length ? { later: moves.slice(made).join(',') } : {};
  if (mode === 'analyse') return q;
  return { ...q, people: people().join(','), ...(paused && { paused: 1 }), ...(action && { do: action }) };
}

async function get(path, q) {
  const answer = await fetch(`${base}${path}?${q}`);
  const json = await answer.json();
  if (!answer.ok) throw new Error(json.error);
  return json;
}

function say(text) { $('message').textContent = text; }

// ask returns the view that a query describes; null if that fails, or a later request was made
// meanwhile. A failure restores the play whose position is shown.
async function ask(q) {
  const mine = ++turn;
  clearTimeout(timer);
  source?.close();
  try {
    const answer = await get('', q);
    return mine === turn ? answer : null;
  } catch (e) {
    if (mine !== turn) return null;
    say(e.message);
    pushes = false;
    if (shown) {
      [from, moves, made, played, resigned] = shown.play;
      shown.turn = turn;
      if (!editing) follow();
    }
    return null;
  }
}

// show shows the current position, or the one after an action, and reports whether it did.
async function show(remember = true, action = undefined) {
  pushes ||= remember;
  const next = await ask(query(session(action)));
  if (!next) return false;
  [moves, made] = [next.plies.slice(0, -1).map(p => p.move), next.ply];
  next.since = view?.text === next.text ? view.since : performance.now();
  view = next;
  shown = { play: [from, moves, made, played, resigned], turn };
  if (mode === 'play' && rival) {
    sit(view.turn);
    return show(false);
  }
  report = null;
  hint = '';
  line = null;
  $('chooser').hidden = true;
  clicks = [];
  editing = null;
  const search = `?${query()}`;
  if (pushes && location.search !== search) history.pushState(null, '', location.pathname + search + fragment());
  pushes = false;
  render();
  follow();
  return true;
}

// sit gives a machine the side that is not to move.
function sit(person) {
  [$(`seat${person}`).value, $(`seat${1 - person}`).value] = ['person', rival];
  rival = '';
}

// follow starts the analysis of the position that is shown, the clock, and the machine that is to move.
function follow() {
  const mine = turn, stands = view.over || made < moves.length || paused, level = $(`seat${view.turn}`).value;
  clock.run(stands || !played && level === 'person' ? -1 : view.turn);
  thinking = !stands && level !== 'person';
  if (!view.over && mode === 'analyse') analyze(mine);
  if (thinking) machine(mine, level);
}

// people returns the sides that a person plays.
function people() { return [0, 1].filter(i => $(`seat${i}`).value === 'person'); }

// ready reports whether the page shows the position of the latest request, and a person is to move.
function ready() { return shown?.turn === turn && !thinking; }

// early reports whether a key may name a move before the page shows the position: no machine moves.
function early() { return !thinking && (paused || people().length === 2); }

// analyze follows the analysis of the position.
function analyze(mine) {
  const events = source = new EventSource(`${base}/analysis?${query()}`);
  events.addEventListener('report', e => {
    if (mine !== turn) return;
    report = JSON.parse(e.data);
    if (report.worth?.value) view.plies[view.ply].worth = report.worth;
    if (!pressed) render();
  });
  for (const end of ['end', 'error']) events.addEventListener(end, () => events.close());
}

// machine lets a machine move.
function machine(mine, level) {
  const begun = performance.now(), limit = Math.round(machineTime(view.turn));
  get('/move', query(limit ? { level, limit } : { level })).then(({ move }) => {
    if (mine !== turn) return;
    clock.run(-1);
    timer = setTimeout(() => play(move), Math.max(0, $('speed').value - (performance.now() - begun)));
  }, e => {
    if (mine !== turn) return;
    thinking = false;
    say(e.message);
  });
}

// machineTime returns the most time for the next move of a machine; 0: as its level says. It may use
// a twentieth of what is left of the time for a game.
function machineTime(side) {
  const [of, seconds] = $('limit').value.split(' ');
  if (of === 'game') return Math.max(10, (1000 * seconds - clock.spent(side)) / 20);
  return of === 'move' ? 1000 * seconds : 0;
}

function play(name) {
  say('');
  if (practice) return attempt(name);
  resigned = null;
  if (moves[made] !== name) moves = [...moves.slice(0, made), name];
  made++;
  played = true;
  show();
}

// press plays a move that a key names.
function press(name) { if (!view.over && (ready() || early())) play(name); }

// choose plays a move. If a click on a square can mean several, or the first square of a path, the next square to
// click tells which; if no square does, they are shown at the square.
function choose(names, square, at) {
  if (!ready() || view.over) return;
  if (!square) return play(names[0]);
  const again = clicks.includes(at);
  let open = again ? [] : meant(view.moves, [...clicks, at]);
  if (clicks.length && open.length) clicks = [...clicks, at];
  else {
    clicks = again ? [] : [at];
    open = again ? [] : view.moves.filter(m => names.includes(m.name));
  }
  if (open.length === 1 && (!open[0].path || clicks.length > 1)) return play(open[0].name);
  const same = open.some(m => m.squares.every(s => clicks.includes(String(s)))) || open.every(m => m.squares.every(s => open.every(o => has(o, String(s)))));
  if (open.length < 2 || !same) return render();
  clicks = [];
  names = open.map(m => m.name);
  const chooser = $('chooser'), area = square.getBoundingClientRect(), within = $('board').getBoundingClientRect();
  chooser.replaceChildren(...names.map(name => button(name, () => play(name))));
  chooser.hidden = false;
  const left = area.x + (area.width - chooser.offsetWidth) / 2 - within.x;
  chooser.style.left = `${Math.max(0, Math.min(left, within.width - chooser.offsetWidth))}px`;
  chooser.style.top = `${area.bottom - within.y}px`;
  chooser.firstChild.focus();
}

// jump shows a position that the server finds.
async function jump(q) {
  const v = await ask(new URLSearchParams(q).toString());
  if (v) begin(v.from, v.plies.slice(0, -1).map(p => p.move));
}

// begin shows a play that begins at a position, after these moves.
function begin(position, names = []) {
  [from, moves, played] = [position, names, false];
  clock.set([0, 0]);
  practice = null;
  go(names.length);
}

function go(ply) {
  made = Math.min(ply, moves.length); // a click may be on a play that was longer
  resigned = null;
  say('');
  return show();
}

// goBoard shows the position after so many moves, and the board, which may be outside the window.
async function goBoard(ply) {
  if (await go(ply)) $('stand').scrollIntoView({ block: 'nearest' });
}

// points describes an evaluation.
function points({ score = 0 }) {
  return score ? `${count(Math.abs(score), 'point')} for ${view.players[score > 0 ? view.turn : 1 - view.turn]}` : 'even';
}

// words describes a value for the player to move.
function words(w) {
  if (!w) return 'not known yet';
  if (!w.value) return points(w);
  if (w.value === 'draw') return w.word ?? 'draw: play need not end';
  return w.open ? w.word ?? w.value : `${w.word ?? w.value} in ${count(w.remoteness, 'move')}`;
}

function worthOf(name) { return report?.moves[name] ?? view.moves.find(m => m.name === name)?.worth ?? null; }

function render() {
  const worths = Object.fromEntries(view.moves.map(m => [m.name, worthOf(m.name)])), over = view.over;
  document.body.dataset.mode = practice ? 'practice' : mode;
  $('playing').setAttribute('aria-pressed', mode === 'play');
  $('analysing').setAttribute('aria-pressed', mode === 'analyse');
  if (!editing) {
    const values = mode === 'analyse' && !line?.made && (!practice || tried().right);
    const drawn = { ...(line?.made ? lineView() : view), clicks, threats: threats && values && !over ? view.threats : null };
    replace($('board'), drawBoard(drawn, values ? worths : null, values ? report?.best : hint, line?.made ? closeLine : choose));
  }
  $('editor').hidden = !editing;
  $('edit').hidden = !view.place.length;
  $('edit').setAttribute('aria-expanded', editing !== null);
  $('name0').textContent = capital(view.players[0]);
  $('name1').textContent = capital(view.players[1]);
  const last = view.plies[view.ply - 1];
  const hinted = hint ? ` Hint: ${hint}.` : '', before = last && !over ? `${puzzle ? 'You' : capital(view.players[last.turn])} played ${last.move}. ` : '';
  $('state').textContent = line?.made ? lineState() : `${before}${capital(view.state)}.${hinted}`;
  renderControls(over);
  renderWorth();
  renderLine();
  renderMoves(worths);
  $('choices').hidden = view.over !== undefined;
  $('ended').hidden = !over || !made;
  $('history').replaceChildren(drawHistory(view, goBoard));
  renderReview();
  renderPractice();
  renderClocks();
}

function renderControls(over) {
  const sides = people();
  $('undo').disabled = made === 0 || mode === 'play' && !sides.length;
  $('redo').disabled = made === moves.length;
  $('best').disabled = !report?.best;
  $('hint').disabled = over !== undefined || !sides.includes(view.turn);
  $('resign').disabled = $('hint').disabled || !made;
  $('swap').disabled = $('seat0').value === $('seat1').value;
  $('pause').hidden = sides.length === 2 || mode === 'play' && sides.length === 1 && !paused;
  $('pause').setAttribute('aria-pressed', paused);
  $('keys').setAttribute('aria-pressed', keys);
  $('threats').hidden = !view.threats || over !== undefined;
  $('threats').setAttribute('aria-pressed', threats);
}

function count(n, word) { return `${n} ${word}${n === 1 ? '' : 's'}`; }
function capital(text) { return text.length > 1 ? text[0].toUpperCase() + text.slice(1) : text; }

function renderClocks() {
  view?.players.forEach((name, i) => {
    const [of, seconds] = $('limit').value.split(' ');
    const all = of === 'game' && $(`seat${i}`).value !== 'person' ? ` of ${clock.text(1000 * seconds)}` : '';
    $(`clock${i}`).textContent = clock.text(clock.spent(i)) + all;
    $(`clock${i}`).ariaLabel = `Thinking time of ${name}`;
  });
}

function renderWorth() {
  const w = view.over ? null : report?.worth;
  $('worth').className = w?.value ?? '';
  $('worth').textContent = view.over || `${glyph[w?.value] ?? ''} ${w && !w.value ? 'Estimate' : capital(view.players[view.turn])}: ${words(w)}`;
  let text = '';
  if (report?.table) text = 'From the table.';
  else if (report?.book && report.done) text = 'From the opening book.';
  else if (report && !view.over) {
    const rate = report.millis ? Math.round(report.nodes / report.millis) : 0;
    text = `Search: ${count(report.depth, 'move')} ahead, ${report.nodes.toLocaleString('en')} positions, ${rate.toLocaleString('en')} thousand a second${report.done ? '' : ' …'}`;
  }
  $('search').textContent = report?.note ? `${text} ${capital(report.note)}.` : text;
}

// lineView returns the view with the pieces of the line.
function lineView() {
  const picture = structuredClone(view.picture), plies = line.plies.slice(0, line.made), last = plies.at(-1);
  plies.forEach((p, i) => p.changed.forEach(([x, y], k) => { picture.rows[y][x] = { ...p.squares[k], ply: i + 1 }; }));
  picture.won = last.won;
  return { ...view, picture, last: last.changed };
}

function lineState() {
  const p = line.plies[line.made - 1];
  return `${line.title}, move ${line.made} of ${line.plies.length}: ${view.players[p.turn]} plays ${p.move}.`;
}

// showLine shows a line that the server plays: these moves and, if best is set, best play after them.
async function showLine(title, names, made, best = {}) {
  const mine = turn;
  try {
    const { plies } = await get('/line', query({ line: names.join(','), ...best }));
    if (mine !== turn) return;
    line = { title, plies, made: Math.min(made, plies.length) };
    render();
    $('board').scrollIntoView({ block: 'nearest' });
  } catch (e) { if (mine === turn) say(e.message); }
}

// stepTo shows the line after so many moves.
function stepTo(made) {
  if (!line) return report?.line.length ? showLine('Best play', report.line, made) : undefined;
  line.made = Math.max(0, Math.min(made, line.plies.length));
  render();
}

function closeLine() {
  if (!line) return;
  line = null;
  render();
  $(practice ? 'practice' : 'forward').focus();
}

// refute shows what follows a move of the ply.
async function refute(ply, name) {
  if (ply === made && ready() || await go(ply)) showLine(`Refutation of ${name}`, [name], Infinity, { best: 1 });
}

// renderLine lists the moves of the line, or else of best play.
let lined = '';
function renderLine() {
  const names = line ? line.plies.map(p => p.move) : report?.line ?? [], title = line?.title ?? 'Best play', at = line?.made ?? 0;
  $('line').hidden = view.over !== undefined || practice && !line;
  $('back').disabled = !at;
  $('forward').disabled = at >= names.length;
  $('close').hidden = !line;
  if (lined !== JSON.stringify([title, names])) { // so that a button keeps the focus
    lined = JSON.stringify([title, names]);
    $('steps').replaceChildren(names.length ? `${title}:` : '', ...names.flatMap((name, i) => [' ', button(name, () => stepTo(i + 1))]));
  }
  $('steps').querySelectorAll('button').forEach((b, i) => {
    if (i + 1 === at) b.setAttribute('aria-current', 'step');
    else b.removeAttribute('aria-current');
  });
  const now = $('steps').querySelector('[aria-current]');
  if (now) $('steps').scrollLeft = now.offsetLeft - $('steps').offsetLeft - $('steps').clientWidth / 2;
}

// button makes a button.
function button(text, pressed, label = null) {
  const b = document.createElement('button');
  b.type = 'button';
  b.textContent = text;
  b.ariaLabel = label;
  b.addEventListener('click', pressed);
  return b;
}

// renderMoves fills the table of moves, the best first.
function renderMoves(worths) {
  const order = report ? report.order : view.moves.map(m => m.name);
  const label = b => b.ariaLabel ?? b.textContent;
  const focused = document.activeElement?.closest?.('#moves') ? label(document.activeElement) : '';
  const most = Math.max(10, ...Object.values(worths).map(w => Math.abs(w?.score ?? 0)));
  const rows = order.map(name => {
    const w = worths[name];
    const tr = document.createElement('tr');
    const result = document.createElement('span');
    result.append(w?.value ? `${glyph[w.value]} ${w.word ?? w.value}` : w ? bar(w.score ?? 0, most) : '?', w && !w.value ? ` ${points(w)}` : '');
    const cells = [button(name, () => choose([name])), result, w?.value && w.value !== 'draw' && !w.open ? w.remoteness : '',
      w?.value === 'lose' ? button('Refute', () => refute(made, name), `Refute ${name}`) : ''].map(content => {
      const td = document.createElement('td');
      td.append(content);
      return td;
    });
    cells[1].className = w?.value ?? '';
    if (name === report?.best) cells[1].append(' ★');
    tr.append(...cells);
    return tr;
  });
  $('moves').tBodies[0].replaceChildren(...rows);
  if (focused) [...$('moves').querySelectorAll('button')].find(b => label(b) === focused)?.focus();
  $('summary').textContent = summary(worths);
}

// bar draws an evaluation: to the right if it is good for the player to move.
function bar(score, most) {
  const width = 50 * Math.abs(score) / most;
  return el('svg', { class: 'bar', viewBox: '-51 0 102 12', 'aria-hidden': true },
    el('rect', { x: score < 0 ? -width : 0, y: 2, width, height: 8, class: score < 0 ? 'lose' : 'win' }),
    el('line', { x1: 0, x2: 0, y1: 0, y2: 12 }));
}

const ranks = { win: 3, tie: 2, draw: 1, lose: 0 };

// summary tells how many moves keep the result.
function summary(worths) {
  const all = Object.values(worths);
  if (all.some(w => w && !w.value)) return 'Points are an estimate of the search: the more, the better for that side.';
  if (!all.length || all.some(w => !w)) return '';
  const best = all.reduce((a, b) => ranks[b.value] > ranks[a.value] ? b : a).value;
  const keep = all.filter(w => w.value === best).length;
  if (all.length === 1) return 'The only move.';
  if (best === 'lose') return 'Every move loses.';
  if (keep === 1) return `Only one move keeps the ${best}.`;
  return `${keep} of ${all.length} moves keep the ${best}.`;
}

// renderReview lists the mistakes of the play.
let listed = '';
function renderReview() {
  const made = view.plies.filter(p => p.move), unknown = made.filter(p => !p.judged).length;
  const sides = view.players.map((name, i) => {
    const own = made.filter(p => p.turn === i);
    return `${capital(name)}: ${count(own.length, 'move')}, ${count(own.filter(p => p.mistake).length, 'mistake')}.`;
  });
  if (reviewing && reviewed !== whole()) { // the page shows another play
    reviewing.close();
    reviewing = null;
  }
  $('review').hidden = !unknown;
  $('review').disabled = reviewing !== null;
  $('practise').hidden = reviewing !== null || !mistakes().length;
  if (!reviewing) $('review').textContent = reviewed === whole() ? 'Search longer' : 'Review by search';
  if (!reviewing) $('judged').textContent = !made.length ? 'No move is made yet.' : sides.join(' ') + (unknown ? ` ${count(unknown, 'move')} not judged: no value is proven.` : '');
  if (listed === JSON.stringify(made)) return; // so that a button keeps the focus
  listed = JSON.stringify(made);
  $('mistakes').replaceChildren(...view.plies.flatMap((p, i) => {
    if (!p.mistake) return [];
    const li = document.createElement('li');
    li.append(button(`Move ${i + 1}`, () => goBoard(i)), ` ${capital(view.players[p.turn])} played ${p.mistake} `, button('Refute', () => refute(i, p.move), `Refute move ${i + 1}`));
    return [li];
  }));
}

// review lets the server find the values of all positions of the play. The page judges moves as the values become known.
let reviewing = null, reviewed = null; // the play of the last review, see whole
$('review').addEventListener('click', () => {
  reviewing?.close();
  source?.close(); // its search would slow the review down
  reviewed = whole();
  const events = reviewing = new EventSource(`${base}/review?${reviewed}`);
  const progress = (done, of) => { $('judged').textContent = `${done} of ${of} positions are solved; the search goes on …`; };
  progress(view.plies.filter(p => p.worth?.value).length, view.plies.length);
  renderReview();
  events.addEventListener('plies', e => {
    const plies = JSON.parse(e.data);
    if (shown?.turn !== turn || editing || practice || plies.map(p => p.move).join() !== view.plies.map(p => p.move).join()) return;
    view.plies = plies;
    if (!pressed) render();
  });
  events.addEventListener('progress', e => {
    const { done, of } = JSON.parse(e.data);
    progress(done, of);
  });
  for (const end of ['end', 'error']) {
    events.addEventListener(end, () => {
      events.close();
      reviewing = null;
      if (shown?.turn === turn && !editing) show(false); // otherwise the next position shows it
    });
  }
});

// mistakes returns the plies of the mistakes, with the result that the player had: those of the only
// person, or of both sides.
function mistakes() {
  const sides = people();
  return view.plies.flatMap((p, ply) => p.mistake && (sides.length !== 1 || sides.includes(p.turn)) ? [{ ply, had: p.worth.value }] : []);
}

// tried returns the last move that was tried at the current mistake, its value, as far as it is known, and
// whether it keeps the result.
function tried() {
  const name = practice.tries.at(-1);
  const worth = [view.moves.find(m => m.name === name)?.worth, report?.moves[name]].find(w => w?.value);
  return { name, worth, right: worth && ranks[worth.value] >= ranks[practice.all[practice.at].had] };
}

// attempt tries a move at the current mistake.
function attempt(name) {
  if (!ready() || tried().right) return;
  practice.tries.push(name);
  line = null;
  $('chooser').hidden = true;
  render();
  if (tried().right) $('next').focus();
}

// practise shows the current mistake, or after the last one the end of the practice.
async function practise() {
  practice.tries = [];
  made = practice.all[practice.at]?.ply ?? practice.back;
  if (!await show(false)) {
    practice = null;
    return render();
  }
  $('practice').focus();
  $('stand').scrollIntoView({ block: 'nearest' });
}

// stopPractice returns to the review.
async function stopPractice() {
  made = practice.back;
  practice = null;
  if (await show(false)) $('practise').focus();
}

// goal describes a move that keeps a result.
function goal(had) {
  if (puzzle) return 'that keeps the puzzle solvable';
  const draws = view.moves.some(m => worthOf(m.name)?.value === 'draw');
  return `with which ${view.players[view.turn]} ${had === 'win' ? 'still wins' : had === 'tie' && draws ? 'still ties' : 'does not lose'}`;
}

function renderPractice() {
  $('practice').hidden = !practice;
  if (!practice) return;
  const { all, at, found } = practice, { name, worth, right } = tried(), end = at === all.length;
  const verdict = !name ? '' : !worth ? `The value of ${name} is not known yet.`
    : right ? `${name} is right: ${words(worth)}.` : `${name} is wrong: ${words(worth)}. Try another move.`;
  const text = end ? `${found} of ${all.length} found at the first try.`
    : `Mistake ${at + 1} of ${all.length}. Find a move ${goal(all[at].had)}.\n${verdict}`;
  if ($('asked').textContent !== text) $('asked').textContent = text;
  $('why-wrong').hidden = !worth || right;
  $('next').hidden = end;
  $('next').textContent = right ? 'Next' : 'Skip';
  $('stop').textContent = end ? 'Close' : 'Stop';
}

$('practise').addEventListener('click', () => {
  practice = { all: mistakes(), at: 0, found: 0, back: made };
  practise();
});
$('why-wrong').addEventListener('click', () => refute(made, tried().name));
$('next').addEventListener('click', () => {
  if (!ready()) return;
  if (tried().right && practice.tries.length === 1) practice.found++;
  practice.at++;
  practise();
});
$('stop').addEventListener('click', stopPractice);

$('why').addEventListener('click', async () => {
  const shows = enter('analyse');
  $('past').focus();
  $('past').scrollIntoView({ block: 'start' });
  if (await shows && !$('review').hidden && !reviewing) $('review').click();
});
$('again').addEventListener('click', () => {
  enter('play');
  begin('');
});

// resume continues the play at the shown position: the moves that were taken back are dropped.
function resume() {
  moves = moves.slice(0, made);
  show(false);
}

for (const i of [0, 1]) {
  $(`seat${i}`).addEventListener('change', () => {
    rival = '';
    resume();
  });
}

// fragment returns the fragment of the address, which names the mode.
function fragment() { return mode === 'play' ? '#play' : ''; }

// change changes the mode. Machines do not move while a person analyses a game, unless Pause is pressed.
function change(next) {
  if (next === mode) return;
  mode = next;
  paused = mode === 'analyse';
}

// enter changes the mode and shows the position in it, as show does.
function enter(next) {
  change(next);
  if (resigned === query() && mode === 'analyse') delete view.over;
  practice = null;
  history.replaceState(null, '', location.pathname + location.search + fragment());
  render();
  return show(false);
}

// takeBack takes a move back; in the mode play, for good, all moves since a person was to move: until the page shows the
// position before them, there is no other move.
function takeBack() {
  if (!made || mode === 'play' && (!people().length || shown?.turn !== turn)) return;
  if (mode === 'analyse') return go(made - 1);
  [resigned, thinking] = [null, true];
  say('');
  show(true, 'undo');
}

// A reload keeps the players, their clocks, the pace of machines and the moves that were taken back. The
// address does not have them, so a link does not choose players for somebody else.
const selects = ['seat0', 'seat1', 'speed', 'limit'];
addEventListener('pagehide', () => store(base, JSON.stringify({
  address: location.href, values: selects.map(id => $(id).value), used: [0, 1].map(clock.spent), from, moves, paused, played, resigned, rival,
}), 'sessionStorage'));

function restore() {
  const kept = JSON.parse(stored(base, 'sessionStorage') ?? 'null');
  if (!kept) return;
  selects.forEach((id, i) => { $(id).value = kept.values[i]; });
  ({ rival } = kept);
  if (kept.address !== location.href) return; // another play of the game
  ({ from, moves, paused, played, resigned } = kept);
  clock.set(kept.used);
}

// against begins a game of a person, who is to move, against a machine, if the fragment of the address says so:
// #against=LEVEL.
function against() {
  const level = new URLSearchParams(location.hash.slice(1)).get('against');
  if (!level) return;
  mode = 'play';
  history.replaceState(null, '', location.pathname + location.search + fragment());
  rival = [...$('seat1').options].some(o => o.value === level) ? level : 'regular';
}

// load takes the play from the address.
function load() {
  const q = new URLSearchParams(location.search);
  const named = (q.get('moves') ?? '').split(',').filter(Boolean);
  practice = null;
  const same = from === (q.get('from') ?? '') && named.every((m, i) => moves[i] === m);
  from = q.get('from') ?? '';
  made = named.length;
  if (!same) [moves, resigned] = [named, null];
  change(addressMode());
  pushes = false;
  show(false);
}

$('playing').addEventListener('click', () => enter('play'));
$('analysing').addEventListener('click', () => enter('analyse'));
$('undo').addEventListener('click', takeBack);
$('redo').addEventListener('click', () => { if (made < moves.length) go(made + 1); });
$('restart').addEventListener('click', () => begin(''));
$('best').addEventListener('click', () => { if (report?.best) choose([report.best]); });
$('hint').addEventListener('click', async () => {
  const mine = turn;
  try {
    const { move } = await get('/move', query({ level: 'perfect', limit: 1000 }));
    if (mine !== turn) return;
    hint = move;
    render();
  } catch (e) { if (mine === turn) say(e.message); }
});
$('resign').addEventListener('click', async () => {
  if (!ready()) return;
  resigned = query();
  hint = '';
  if (await show(false)) $('why').focus();
});
$('swap').addEventListener('click', () => {
  [$('seat0').value, $('seat1').value] = [$('seat1').value, $('seat0').value];
  resume();
});
$('keys').addEventListener('click', () => {
  keys = !keys;
  store('keys', keys ? 'on' : 'off');
  render();
});
$('threats').addEventListener('click', () => {
  threats = !threats;
  store('threats', threats ? 'on' : 'off');
  render();
});
$('pause').addEventListener('click', () => {
  paused = !paused;
  render();
  if (paused) show(false);
  else resume();
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
  shown.turn = ++turn; // drops answers for the position
  clearTimeout(timer);
  clock.run(-1);
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
$('back').addEventListener('click', () => stepTo(line.made - 1));
$('forward').addEventListener('click', () => stepTo((line?.made ?? 0) + 1));
$('close').addEventListener('click', closeLine);
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
  if (view?.moves.some(m => m.name === name)) press(name);
  else say(`There is no move ${JSON.stringify(name)}.`);
});
$('goto').addEventListener('submit', e => {
  e.preventDefault();
  jump({ position: $('position').value });
});
// The second click of a double click is no move of the position that the first one leads to.
addEventListener('click', e => { if (e.detail > 1 && !editing && e.target.closest('#stand, #moves')) e.stopPropagation(); }, true);
addEventListener('pointerdown', e => {
  pressed = true;
  if (!e.target.closest('#chooser')) $('chooser').hidden = true;
});
for (const end of ['pointerup', 'pointercancel']) {
  addEventListener(end, () => setTimeout(() => {
    pressed = false;
    if (view) render();
  }));
}
addEventListener('popstate', load);
setInterval(renderClocks, 500);
addEventListener('keydown', e => {
  if (e.repeat) { // a key that is held down
    if (e.key === 'Enter' && e.target.closest('#moves, #best, #chooser')) e.preventDefault();
    return;
  }
  if (editing || e.ctrlKey || e.altKey || e.metaKey || e.target.closest('input, select')) return;
  if (e.key === 'Escape' && !$('chooser').hidden) {
    $('chooser').hidden = true;
    $('board').querySelector('[tabindex="0"]')?.focus();
  } else if (clicks.length && e.key === 'Escape') {
    clicks = [];
    render();
  } else if (line && e.key === 'Escape') closeLine();
  else if (line && e.key === 'ArrowLeft') stepTo(line.made - 1);
  else if (line && e.key === 'ArrowRight') stepTo(line.made + 1);
  else if (practice && e.key === 'Escape') stopPractice();
  else if (practice && e.key.startsWith('Arrow')) return;
  else if (e.key === 'ArrowLeft') takeBack();
  else if (e.key === 'ArrowRight' && made < moves.length) go(made + 1);
  else if (keys && view?.moves.some(m => m.name === e.key)) press(e.key);
});

restore();
against();
load();
