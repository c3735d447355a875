// Games, answers and mistakes of a person, in the storage of the browser: one item, for all games. What this module cannot read
// or save stays as it is, and the page says so in its element message.
import { say } from './lists.js';

const item = 'treereduce', version = 1; // a later version that reads this one converts it in parse
const steps = [1, 3, 7, 21]; // days until a mistake comes again, after each right answer
let last = null; // the text of the item, when it was last read or written

// game is the game of the page: "connectn/7-6-4".
export const game = (document.body.dataset.view ?? '').split('/').slice(-2).join('/');

// empty is what is saved at first. games: the finished games, in order: { game, title, at, play, side, level, adapts, result }; play is a
// query, at the time in milliseconds, side the side of the person. mistakes: { step, due } by game and play,
// "connectn/7-6-4?moves=3", due is a day. days: right or wrong, by game, day and grade of a puzzle of the day.
const empty = () => ({ version, games: [], mistakes: {}, days: {} });

const isGame = g => ['game', 'play', 'level', 'result'].every(key => typeof g?.[key] === 'string') && Number.isFinite(g.at) && (g.side === 0 || g.side === 1);
const isMap = (map, valid) => map !== null && typeof map === 'object' && !Array.isArray(map) && Object.values(map).every(valid);

// parse returns what a text contains. Its error says what is wrong with it.
function parse(text) {
  let data = null;
  try { data = JSON.parse(text); } catch { /* it has no version */ }
  if (data?.version !== version) throw new Error(`has ${Number.isFinite(data?.version) ? `version ${data.version}, and this page reads version ${version}` : 'no version'}`);
  if (!Array.isArray(data.games) || !data.games.every(isGame) || !isMap(data.days, v => v === 'right' || v === 'wrong')
    || !isMap(data.mistakes, m => Number.isInteger(m?.step) && m.step >= 0 && m.step < steps.length && typeof m.due === 'string')) throw new Error('is damaged');
  return data;
}

// text returns the item as it is, null if there is none.
export function text() {
  try { return localStorage.getItem(item); } catch { throw new Error('This browser does not let the page save anything: games and answers are lost with the page.'); }
}

// read returns what is saved. If that is not possible, it says why.
function read() {
  const found = text();
  if (found === null && last !== null) say('What was saved in this browser has been deleted meanwhile.');
  last = found;
  if (found === null) return empty();
  try { return parse(found); } catch (e) { throw new Error(`What is saved in this browser ${e.message}. It stays as it is, and nothing is added: export it, then delete it.`); }
}

// load returns what is saved, or what is saved at first, if that cannot be read.
export function load() {
  try { return read(); } catch (e) {
    say(e.message);
    return empty();
  }
}

// change saves what f makes of it.
export function change(f) {
  try {
    const data = read();
    f(data);
    const next = JSON.stringify(data);
    try { localStorage.setItem(item, next); } catch { throw new Error('This is not saved: the storage of this browser for this site is full. Export what is saved, then delete it.'); }
    last = next;
  } catch (e) { say(e.message); }
}

// remove deletes everything.
export function remove() {
  try {
    localStorage.removeItem(item);
    last = null;
  } catch (e) { say(e.message); }
}

// add adds what another browser has exported.
export function add(exported) {
  let more;
  try { more = parse(exported); } catch (e) { return say(`The file ${e.message}. Choose one that this page has exported.`); }
  change(data => {
    const known = new Set(data.games.map(g => JSON.stringify(g)));
    data.games.push(...more.games.filter(g => !known.has(JSON.stringify(g))));
    data.games.sort((a, b) => a.at - b.at);
    data.mistakes = { ...more.mistakes, ...data.mistakes };
    data.days = { ...more.days, ...data.days };
  });
}

// day returns the local date this number of days after a time: "2026-11-29".
export function day(after = 0, time = Date.now()) {
  const d = new Date(time);
  return new Date(Date.UTC(d.getFullYear(), d.getMonth(), d.getDate() + after)).toISOString().slice(0, 10);
}

// playOf returns the query of the play of a game, with the moves that were taken back, or of its moves up to a ply.
export function playOf({ from, moves, later }, made) {
  const all = [moves, later].filter(Boolean).join().split(',');
  return new URLSearchParams({ ...(from && { from }), moves: all.slice(0, made).join() }).toString();
}

const wrong = () => ({ step: 0, due: day(steps[0]) });

// answered saves an answer to the task after a play; a right one after a wrong one of the same day changes nothing. daily is the key
// in days of a puzzle of the day.
export function answered(play, right, daily) {
  change(data => {
    const key = `${game}?${play}`, old = data.mistakes[key];
    if (daily) data.days[daily] ??= right ? 'right' : 'wrong';
    if (!right) data.mistakes[key] = wrong();
    else if (!(old?.due <= day())) return; // it is not due yet
    else if (old.step === steps.length - 1) delete data.mistakes[key];
    else data.mistakes[key] = { step: old.step + 1, due: day(steps[old.step + 1]) };
  });
}

// levels returns the names of the levels that the page offers, the weakest first.
const levels = () => [...document.querySelectorAll('#seat1 option')].map(o => o.value).filter(v => v !== 'person' && v !== 'adapts');

// adapted returns the level after games against the one that adapts: it rises after two wins, and falls after two losses.
export function adapted(games, names) {
  let at = names.indexOf('casual'), run = 0;
  for (const g of games.filter(g => g.game === game && g.adapts)) {
    const way = { win: 1, lose: -1 }[g.result] ?? 0;
    run = way * run > 0 ? run + way : way;
    if (Math.abs(run) < 2) continue;
    at = Math.max(0, Math.min(at + way, names.length - 1));
    run = 0;
  }
  return names[at];
}

// levelOf returns the level of a seat.
export function levelOf(seat) { return seat === 'adapts' ? adapted(load().games, levels()) : seat; }

const most = 3; // mistakes of a game that come again: the first ones

// saveGame saves the game of a view, if it has ended, and says if this changes the level that adapts. The page calls it for each
// position of a game that it shows. A game that goes on after its end is saved once.
let open = null; // the game is not saved
export function saveGame(view) {
  const { game: play, made, over, result } = view;
  open = !made || (open ?? !over);
  if (!over || !open) return '';
  open = false;
  if (!result) return ''; // the players are not a person and a machine
  const seats = play.seats.split(','), side = seats.indexOf('person'), level = seats[1 - side], before = levelOf('adapts');
  change(data => { data.games.push({ game, title: document.querySelector('h1').textContent, at: Date.now(), play: playOf(play, made), side, level: levelOf(level), adapts: level === 'adapts', result }); });
  saveMistakes(view);
  const now = levelOf('adapts'), [was, is] = [before, now].map(name => levels().indexOf(name));
  return was === is ? '' : ` The level that adapts ${is > was ? 'rises' : 'falls'} to ${now}.`;
}

// saveMistakes saves the mistakes of a view, if its play is a game that is saved.
export function saveMistakes({ game: play, mistakes: found }) {
  change(({ games, mistakes }) => {
    const side = games.findLast(g => g.game === game && g.play === playOf(play))?.side;
    found.filter(([, of]) => of === side).slice(0, most).forEach(([ply]) => { mistakes[`${game}?${playOf(play, ply)}`] ??= wrong(); });
  });
}

// dueOf returns the day on which the first of the mistakes of a view comes again.
export function dueOf({ game: play, mistakes: found }) {
  const { mistakes } = load();
  return found.map(([ply]) => mistakes[`${game}?${playOf(play, ply)}`]?.due).filter(Boolean).sort()[0];
}
