// The page on which people play, and look at the values of positions. A request has the whole game and what is done with it; the
// answer has the game after that, and what is shown of it.
import { asks, draw, replace } from './board.js';
import * as clock from './clock.js';
import { edit } from './editor.js';
import { capital, fetched, listPasses, listSteps, onBoard, pick, put, said, say } from './lists.js';
import { dueOf, levelOf, playOf, saveGame, saveMistakes } from './storage.js';

const $ = id => document.getElementById(id);
const base = document.body.dataset.view;

let game = { rival: 'regular', mode: location.hash === '#play' ? 'play' : '' }; // the parameters of a request that describe the game
let pending = []; // what was done since, for which there is no answer yet
let view = null, source = null, timer = 0; // the last answer; the events of an analysis or of a review
let turn = 0, shown = 0; // the numbers of the latest request and of the one whose answer is shown: no earlier answer changes the page
let played = false, thinking = false; // a move was made on this page; a machine chooses one
let clicks = []; // the squares that were clicked, while they can mean several moves
let line = null; // the line on the board: its title, its plies, and how many of them are made
let reviewing = false; // the review of the play goes on, in place of the analysis of the position
const settings = { keys: stored('keys') !== 'off', threats: stored('threats') === 'on' };
let editing = null; // returns the squares of the board editor, while it is open
let pressed = false; // a button of the mouse; what it pressed must stay until it is released, or there is no click

// stored returns what stays when the page is loaded again: settings for all pages in localStorage, the
// state of a play in sessionStorage, which only this tab has. A browser may refuse to keep any.
function stored(name, where = 'localStorage') { try { return window[where][name]; } catch { return undefined; } }
function store(name, value, where = 'localStorage') { try { window[where][name] = value; } catch { /* it is lost */ } }

// query returns the game as the query of a request.
const query = (...more) => new URLSearchParams([...Object.entries(game), ...more]);

// on has an element do something when it is clicked, or a form when it is submitted.
function on(id, does, event = 'click') {
  $(id).addEventListener(event, e => {
    if (event === 'submit') e.preventDefault();
    does(e);
  });
}

// latest returns the answer to a request; null if that fails, or a later request was made meanwhile.
function latest(path, q) {
  const mine = turn;
  return fetched(`${base}${path}?${q}`, () => mine === turn);
}

// ask shows the answer to a request, and reports whether it did. If that fails, what is pending is dropped.
async function ask(q, push = true) {
  const mine = leave(), next = await latest('', q);
  if (mine !== turn) return false;
  pending = [];
  if (next) show(next, push);
  else if (view && !editing) {
    seat();
    shown = turn;
    follow();
  } else if (!view) game = { ...game, from: '', moves: '', later: '', practice: '' }; // the next request begins a game
  return next !== null;
}

// act does something with the game.
function act(...todo) {
  pending.push(...todo.map(action => ['do', action]));
  return ask(query(...pending));
}

// leave ends what the page does at the position, and returns the number of the next request.
function leave() {
  clearTimeout(timer);
  source?.close();
  return ++turn;
}

// fresh begins another game.
function fresh() {
  clock.run(-1);
  clock.set([0, 0]);
  played = false;
  say('');
}

// find shows a position that the server finds.
function find(q) {
  fresh();
  pending = [];
  ask(new URLSearchParams({ ...game, ...q }));
}

// show shows an answer.
function show(next, push) {
  const named = new URLSearchParams(location.search), hash = next.game.mode ? '#play' : '';
  next.since = view?.text === next.text ? view.since : performance.now();
  reviewing &&= playOf(game) === playOf(next.game) && !next.game.mode;
  [view, game, shown] = [next, next.game, turn];
  [line, clicks, editing] = [null, [], null];
  $('chooser').hidden = true;
  const q = new URLSearchParams(['from', 'moves'].filter(name => game[name]).map(name => [name, game[name]]));
  if (push && !game.practice && ['from', 'moves'].some(name => (named.get(name) ?? '') !== (game[name] ?? ''))) history.pushState(null, '', `${location.pathname}?${q}${hash}`);
  else if (location.hash !== hash) history.replaceState(null, '', location.pathname + location.search + hash);
  if (game.mode) view.said += saveGame(view);
  seat();
  follow();
  render();
}

// seat shows who plays the sides.
function seat() {
  document.querySelectorAll('option[value=adapts]').forEach(o => { o.textContent = `adapts (${levelOf('adapts')})`; });
  view.game.seats.split(',').forEach((name, i) => { $(`seat${i}`).value = name; });
}

// follow starts the clock, the analysis of the position that is shown, and the machine that is to move.
function follow() {
  const person = game.seats.split(',')[view.turn] === 'person';
  thinking = view.thinking;
  clock.run(view.over || game.later || game.paused || game.practice || !played && person ? -1 : view.turn);
  if (reviewing || !view.done) watch();
  if (thinking) machine(turn);
}

// ready reports whether the page shows the answer to the latest request, and a person is to move.
function ready() { return shown === turn && !thinking; }

// watch follows the analysis of the position, or the review of the play.
function watch() {
  source?.close();
  source = new EventSource(`${base}/${reviewing ? 'review' : 'analysis'}?${query()}`);
  source.addEventListener('report', e => {
    if (shown !== turn) return;
    Object.assign(view, JSON.parse(e.data));
    if (!pressed) render();
  });
  for (const end of ['end', 'error']) source.addEventListener(end, () => reviewing ? stopReview() : source.close());
}

// machine lets a machine move.
async function machine(mine) {
  const begun = performance.now();
  const next = await latest('', query(['do', 'machine'], ['level', levelOf(game.seats.split(',')[view.turn])], ['limit', $('limit').value]));
  if (mine !== turn) return;
  if (!next) {
    thinking = false;
    const paused = await latest('', query(['do', 'pause']));
    if (paused && mine === turn) show(paused, false);
    return;
  }
  clock.run(-1);
  timer = setTimeout(() => {
    played = true;
    leave();
    show(next, true);
  }, Math.max(0, $('speed').value - (performance.now() - begun)));
}

// play plays a move; in a practice, it tries it.
async function play(name) {
  say('');
  played = true;
  if (await act(`move ${name}`) && view.practice?.right) $('next').focus();
}

// press plays a move that a key names: also before the page shows the position, if no machine moves.
function press(name) { if (!view.over && !view.practice?.right && (ready() || view.free && !thinking)) play(name); }

// choose plays a move, or takes a click on a square.
function choose(name, ...click) {
  if (!ready() || view.over || view.practice?.right) return;
  if (name) return play(name);
  clicks = pick(view.moves, clicks, ...click, play);
  render();
}

// go shows the position after this number of moves, and the board, which may be outside the window.
async function go(made) {
  say('');
  if (await act(`go ${made}`)) $('stand').scrollIntoView({ block: 'nearest' });
}

function render() {
  const { over, practice } = view, marks = line?.made ? null : view.marks;
  document.body.dataset.mode = practice ? 'practice' : game.mode ?? 'analyse';
  $('playing').setAttribute('aria-pressed', game.mode === 'play');
  $('analysing').setAttribute('aria-pressed', !game.mode);
  if (!editing) {
    const drawn = { ...(line?.made ? onBoard(view, line) : view), clicks, marks, best: marks ? view.best : view.hint, threats: settings.threats && marks ? view.threats : null };
    const board = draw(drawn, (...click) => choose(null, ...click));
    if (line?.made) board.addEventListener('click', closeLine);
    replace($('board'), board);
  }
  const owned = view.look.pieces?.['*'] !== 'number' && [...view.look.place ?? [], ...view.picture.rows.flat()].some(square => square.owner); // pieces have colours
  view.players.forEach((name, i) => {
    $(`name${i}`).textContent = capital(name);
    $(`name${i}`).className = owned ? ['first', 'second'][i] : '';
  });
  listPasses(line?.made ? [] : view.moves, choose);
  $('editor').hidden = !editing;
  $('edit').hidden = !view.look.place;
  $('edit').setAttribute('aria-expanded', editing !== null);
  const state = line?.made ? said(view, line) : asks({ ...view, clicks }) || view.said;
  if ($('state').textContent !== state) $('state').textContent = state; // a screen reader would say it again
  for (const id of ['undo', 'redo', 'hint', 'resign', 'swap']) $(id).disabled = !view.can.includes(id);
  $('best').disabled = !view.best;
  $('pause').hidden = !view.can.includes('pause');
  $('pause').setAttribute('aria-pressed', view.waits);
  $('threats').hidden = !view.threats || Boolean(over);
  for (const id of Object.keys(settings)) $(id).setAttribute('aria-pressed', settings[id]);
  for (const [id, html] of Object.entries({ ...view.report, ...view.review })) put(id, html);
  [...$('history').rows].slice(1).forEach((row, i) => { row.ariaCurrent = i === view.made ? 'step' : null; });
  $('line').hidden = Boolean(over || practice && !line);
  listSteps(line ?? { title: 'Best play', plies: (view.line ?? []).map(move => ({ move })), made: 0 }, stepTo);
  $('close').hidden = !line;
  $('choices').hidden = Boolean(over);
  $('ended').hidden = !over || !view.made;
  renderReview();
  $('practice').hidden = !practice;
  if (practice) renderPractice(practice);
  renderClocks();
}

function renderClocks() { if (view) clock.show(view.players); }

// showLine shows a line that the server plays: these moves and, if best is set, best play after them.
async function showLine(title, names, made, ...best) {
  const answer = await latest('/line', query(['line', names.join(',')], ...best));
  if (!answer) return;
  line = { title, plies: answer.plies, made: Math.min(made, answer.plies.length) };
  say(answer.why && `${capital(answer.why)}.`);
  render();
  for (const id of ['board', 'state']) $(id).scrollIntoView({ block: 'nearest' });
}

// stepTo shows the line after so many moves.
function stepTo(made) {
  if (!line) return view.line?.length ? showLine('Best play', view.line, made) : undefined;
  line.made = Math.max(0, Math.min(made, line.plies.length));
  render();
}

function closeLine() {
  if (!line) return;
  line = null;
  say('');
  render();
  $(view.practice ? 'practice' : 'forward').focus();
}

// refute shows what follows a move at the position after this number of moves.
async function refute(made, name) {
  if (made !== view.made) await go(made);
  if (ready()) showLine(`Refutation of ${name}`, [name], Infinity, ['best', 1]);
}

let reviewed = null; // the play of the last review by search
function renderReview() {
  $('review').hidden = !view.open && !reviewing;
  $('practise').hidden = reviewing || !view.practise;
  $('review').textContent = reviewing ? 'Stop' : reviewed === playOf(game) ? 'Search longer' : 'Review by search';
  $('judged').textContent = view.judged;
}

$('analysis').addEventListener('click', e => {
  const { go: made, move, refute: name } = e.target.closest('[data-go], [data-move], [data-refute]')?.dataset ?? {};
  if (name) refute(Number(made ?? view.made), name);
  else if (made) go(Number(made));
  else if (move) choose(move);
});

// The server finds the values of all positions of the play.
on('review', () => {
  if (reviewing) return stopReview();
  reviewing = true;
  reviewed = playOf(game);
  renderReview();
  watch();
});

// stopReview ends a review and shows what it has found.
function stopReview() {
  reviewing = false;
  act().then(() => saveMistakes(view));
}

function renderPractice({ asked, over, right, wrong }) {
  const due = over && dueOf(view), text = due ? `${asked} They come again among the puzzles on ${due}.` : asked;
  if ($('asked').textContent !== text) $('asked').textContent = text;
  $('legend').hidden = !right;
  $('why-wrong').hidden = !wrong;
  $('next').hidden = over;
  $('next').textContent = right ? 'Next' : 'Skip';
  $('stop').textContent = over ? 'Close' : 'Stop';
}

// practise shows the next mistake, or after the last one the end of the practice.
async function practise(action) {
  if (!await act(action)) return;
  $('practice').focus();
  $('stand').scrollIntoView({ block: 'nearest' });
}

async function stopPractice() { if (await act('stop')) $('practise').focus(); }

on('practise', () => practise('practise'));
on('why-wrong', () => refute(view.made, view.practice.wrong));
on('next', () => practise('next'));
on('stop', stopPractice);

on('why', async () => {
  if (!await act('analyse')) return;
  $('past').focus();
  $('past').scrollIntoView({ block: 'start' });
  if (!$('review').hidden && !reviewing) $('review').click();
});

// A reload keeps the game, its clocks and the pace of machines. The address does not have them, so a link does not choose
// players for somebody else.
const selects = ['speed', 'limit'];
addEventListener('pagehide', () => store(base, JSON.stringify({
  address: location.href, values: selects.map(id => $(id).value), used: [0, 1].map(clock.spent), game, pending, played,
}), 'sessionStorage'));

function restore() {
  const kept = JSON.parse(stored(base, 'sessionStorage') ?? 'null');
  if (!kept?.game) return;
  selects.forEach((id, i) => { $(id).value = kept.values[i]; });
  if (kept.address === location.href) {
    ({ game, pending, played } = kept);
    if (performance.getEntriesByType('navigation')[0].type === 'navigate') game.practice = ''; // a link to the play does not lead into it
    clock.set(kept.used);
  } else { // another play of the game
    const { seats, rival = '' } = kept.game;
    game = { ...game, ...(seats && { seats }), rival };
  }
}

// load takes the play from the address. It begins a game of a person, who is to move, against a machine, if the fragment of the
// address says so: #against=LEVEL.
function load() {
  const q = new URLSearchParams(location.search), named = (q.get('moves') ?? '').split(',').filter(Boolean).join();
  const rival = new URLSearchParams(location.hash.slice(1)).get('against'), from = q.get('from') ?? '';
  pending.push(['do', rival || location.hash === '#play' ? 'play' : 'analyse']);
  if (rival) game.rival = rival === 'adapts' ? stored('rival') ?? rival : rival; // what a person chose last
  if (from === (game.from ?? '') && `${[game.moves, game.later].filter(Boolean)},`.startsWith(named && `${named},`)) {
    if (named !== (game.moves ?? '')) pending.unshift(['do', `go ${named ? named.split(',').length : 0}`]);
  } else game = { ...game, from, moves: named, later: '', resigned: '', practice: '' };
  ask(query(...pending), pending.length > 1);
}

for (const i of [0, 1]) {
  $(`seat${i}`).addEventListener('change', () => {
    const { value } = $(`seat${i}`);
    if (value !== 'person' && $(`seat${1 - i}`).value === 'person') store('rival', value);
    act(`seat ${i} ${value}`);
  });
}
for (const [id, action] of Object.entries({ playing: 'play', analysing: 'analyse', undo: 'undo', redo: 'redo', hint: 'hint', swap: 'swap' })) {
  on(id, () => {
    say('');
    act(action);
  });
}
for (const [id, ...actions] of [['restart', 'new'], ['again', 'play', 'new']]) {
  on(id, () => {
    fresh();
    act(...actions);
  });
}
on('best', () => { if (view.best) choose(view.best); });
on('resign', async () => { if (ready() && await act('resign')) $('why').focus(); });
on('pause', () => act(view.waits ? 'resume' : 'pause'));
for (const id of Object.keys(settings)) {
  $(id).addEventListener('click', () => {
    settings[id] = !settings[id];
    store(id, settings[id] ? 'on' : 'off');
    render();
  });
}
if ($('drawn')) on('drawn', e => find({ random: 1, ...Object.fromEntries(new FormData(e.target)) }), 'submit');
on('edit', () => {
  if (editing) return act();
  shown = leave(); // drops answers for the position
  pending = [];
  clock.run(-1);
  editing = edit(view, $('board'), $('tools'));
  $('mover').hidden = !view.chosen;
  $('editturn').replaceChildren(...view.players.map((name, i) => new Option(name, i, false, i === view.turn)));
  render();
});
on('cancel', () => act());
on('editor', () => find({ board: editing(), turn: $('editturn').value }), 'submit');
on('back', () => stepTo(line.made - 1));
on('forward', () => stepTo((line?.made ?? 0) + 1));
on('close', closeLine);
on('typed', () => {
  const name = $('move').value.trim();
  if (view?.moves.some(m => m.name === name)) {
    $('move').value = '';
    press(name);
  } else {
    say(`There is no move ${JSON.stringify(name)}.`);
    $('message').scrollIntoView({ block: 'nearest' });
  }
}, 'submit');
on('goto', () => find({ from: $('position').value, moves: '', later: '', resigned: '', practice: '' }), 'submit');
// The second click of a double click is no move of the position that the first one leads to.
addEventListener('click', e => { if (e.detail > 1 && !editing && e.target.closest('#stand, #moves')) e.stopPropagation(); }, true);
addEventListener('pointerdown', () => { pressed = true; });
for (const end of ['pointerup', 'pointercancel']) {
  addEventListener(end, () => setTimeout(() => {
    pressed = false;
    if (view) render();
  }));
}
addEventListener('popstate', () => {
  pending = [];
  load();
});
setInterval(renderClocks, 500);
addEventListener('keydown', e => {
  if (e.repeat) { // a key that is held down
    if (e.key === 'Enter' && e.target.closest('#moves, #best, #chooser')) e.preventDefault();
    return;
  }
  if (!view || editing || e.ctrlKey || e.altKey || e.metaKey || e.target.closest('input, select, #rules')) return;
  if (clicks.length && e.key === 'Escape') {
    clicks = [];
    render();
  } else if (line && e.key === 'Escape') closeLine();
  else if (line && e.key === 'ArrowLeft') stepTo(line.made - 1);
  else if (line && e.key === 'ArrowRight') stepTo(line.made + 1);
  else if (view.practice && e.key === 'Escape') stopPractice();
  else if (view.practice && e.key.startsWith('Arrow')) return;
  else if (e.key === 'ArrowLeft') act('undo');
  else if (e.key === 'ArrowRight') act('redo');
  else if (settings.keys && view.moves.some(m => m.name === e.key)) press(e.key);
});

restore();
if (game.practice) ask(query(...pending), false); // the address has the game, not the mistake
else load();
