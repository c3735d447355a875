// The page of puzzles: those of the day, others, and the mistakes of a person, which come again. It also lists the games.
import { asks, draw, replace } from './board.js';
import { capital, fetched, pick, say } from './lists.js';
import { add, answered, day, game, load, playOf, remove, text } from './storage.js';

const $ = id => document.getElementById(id);
const { view: base, root } = document.body.dataset;
const seen = []; // IDs of the puzzles of this visit
const mostSeen = 300; // that a request names
let grade = 'easy', asked = 0; // the grade chosen last; the number of the latest request
let current = null; // the puzzle: as the server sends it, with its play, its key as a puzzle of the day, and the marks of its moves after it is solved
let clicks = []; // the squares that were clicked, while they can mean several moves

// get returns an answer of the server; null after an error, which the page shows, or if the page has asked for more since.
function get(path, query) {
  const mine = ++asked;
  say('');
  return fetched(`${base}${path}?${new URLSearchParams(query)}`, () => mine === asked);
}

// pose shows the puzzle that a query asks for. daily is the key of a puzzle of the day.
async function pose(query, daily = null) {
  $('state').textContent = 'Looking for a puzzle …';
  $('grades')?.querySelectorAll('button').forEach(b => b.setAttribute('aria-pressed', daily !== null && b.value === grade));
  const mine = asked + 1, puzzle = await get('', query);
  if (!puzzle) {
    if (mine !== asked) return;
    $('state').textContent = '';
    return render();
  }
  current = { ...puzzle, daily, play: playOf(puzzle.view.game, puzzle.view.made), solved: null };
  if (!seen.includes(current.id)) seen.push(current.id);
  history.replaceState(null, '', `${location.pathname}?${daily ? new URLSearchParams({ grade }) : current.play}`);
  clicks = [];
  $('chooser').hidden = true;
  $('asked').textContent = '';
  render();
}

function pickDay(name) {
  grade = name;
  return pose({ date: day(), grade }, `${game} ${day()} ${grade}`);
}

function choose(...click) {
  if (current.solved) return;
  clicks = pick(current.view.moves, clicks, ...click, answer);
  render();
}

// answer answers the puzzle with a move; with '', it shows the answer.
async function answer(move) {
  const puzzle = current;
  if (!puzzle || puzzle.solved) return;
  const found = await get('/answer', { ...Object.fromEntries(new URLSearchParams(puzzle.play)), move });
  if (puzzle === current) clicks = [];
  if (!found) return render();
  const right = found.right && move !== '', tries = puzzle.tries ??= [];
  const nth = tries.includes(move) ? `, try ${tries.length + 1}` : ''; // the words differ, so that a screen reader says them again
  tries.push(move);
  answered(puzzle.play, right, puzzle.daily);
  puzzle.solved = found.right ? found.marks : null;
  const due = load().mistakes[`${game}?${puzzle.play}`]?.due;
  const again = puzzle.solved && due ? ` It comes again on ${due}.` : '';
  $('asked').textContent = `${!move ? 'The answer is' : `${right ? 'Right' : 'Wrong'}${nth}:`} ${found.text}${found.text.endsWith('…') ? '' : '.'}${right || !move ? again : ' Try another move.'}`;
  render();
}

function render() {
  if (current) {
    const { view, task, solved } = current;
    const level = current.level ? ` (${current.level})` : '';
    const said = asks({ ...view, clicks }) || `${capital(task)}${level}.`;
    if ($('state').textContent !== said) $('state').textContent = said;
    replace($('board'), draw({ ...view, clicks, threats: null, marks: solved }, choose));
    const lost = solved && document.activeElement === $('solution');
    $('solution').hidden = solved !== null;
    $('legend').hidden = !solved;
    if (lost) ($('another') ?? $('look')).focus();
    $('look').hidden = false;
    $('look').href = `${root}play/${game}?${current.play}`;
  }
  list();
}

// due returns the keys of the mistakes of a game that come again today, the oldest first.
const due = (mistakes, of) => Object.keys(mistakes).filter(key => key.startsWith(`${of}?`) && mistakes[key].due <= day()).sort((a, b) => mistakes[a].due.localeCompare(mistakes[b].due));

// list shows what is saved.
function list() {
  const { games, mistakes, days } = load(), own = games.filter(g => g.game === game), waiting = due(mistakes, game).length;
  $('due').disabled = !waiting;
  $('due').textContent = `My mistakes (${waiting} due)`;
  $('grades')?.querySelectorAll('button').forEach(b => {
    const result = days[`${game} ${day()} ${b.value}`];
    b.textContent = b.value + ({ right: ' ✓', wrong: ' ✗' }[result] ?? '');
    b.ariaLabel = result ? `${b.value}, ${result}` : null;
  });
  $('none').hidden = own.length > 0;
  $('results').hidden = !own.length;
  for (const row of $('results').tBodies[0].rows) {
    const results = own.filter(g => g.level === row.dataset.level).map(g => g.result);
    const won = results.filter(r => r === 'win').length, lost = results.filter(r => r === 'lose').length;
    row.hidden = !results.length;
    [won, lost, results.length - won - lost].forEach((n, i) => { row.cells[i + 1].textContent = n; });
  }
  $('games').replaceChildren(...own.slice(-10).reverse().map(g => {
    const li = document.createElement('li');
    li.append(link(`${root}play/${game}?${g.play}`, `${day(0, g.at)} ${new Date(g.at).toTimeString().slice(0, 5)}, ${g.level}: ${{ win: 'won', lose: 'lost' }[g.result] ?? g.result} after ${movesOf(g.play)}`));
    return li;
  }));
  const others = new Set([...games.map(g => g.game), ...Object.keys(mistakes).map(key => key.split('?')[0])]);
  others.delete(game);
  $('others').replaceChildren(...[...others].sort().flatMap(of => [link(`${root}puzzles/${of}`, games.findLast(g => g.game === of)?.title ?? of), `: games ${games.filter(g => g.game === of).length}, mistakes due ${due(mistakes, of).length}. `]));
}

// movesOf returns the number of moves of a play in words.
function movesOf(play) {
  const made = new URLSearchParams(play).get('moves').split(',').filter(Boolean).length;
  return `${made} move${made === 1 ? '' : 's'}`;
}

function link(href, content) { return Object.assign(document.createElement('a'), { href, textContent: content }); }

$('grades')?.addEventListener('click', e => { if (e.target.value) pickDay(e.target.value); });
$('another')?.addEventListener('click', () => pose({ grade, seed: Math.floor(Math.random() * 2 ** 32), without: seen.slice(-mostSeen).join() }));
$('due').addEventListener('click', () => pose(due(load().mistakes, game)[0].slice(game.length + 1)));
$('solution').addEventListener('click', () => answer(''));
$('export').addEventListener('click', () => {
  try {
    const href = URL.createObjectURL(new Blob([text() ?? JSON.stringify(load())], { type: 'application/json' }));
    const download = `treereduce-${day()}.json`;
    Object.assign(link(href, ''), { download }).click();
    say(`Exported to ${download}.`);
    setTimeout(() => URL.revokeObjectURL(href));
  } catch (e) { say(e.message); }
});
$('import').addEventListener('change', async e => {
  say('');
  for (const file of e.target.files) add(await file.text());
  e.target.value = '';
  list();
});
$('delete').addEventListener('click', () => {
  if (!confirm('Delete all games, answers and mistakes of all games that are saved in this browser?')) return;
  say('All is deleted.');
  remove();
  list();
});

const query = new URLSearchParams(location.search);
if (query.has('moves') || query.has('from')) pose(query);
else if ($('grades')) pickDay([...$('grades').querySelectorAll('button')].some(b => b.value === query.get('grade')) ? query.get('grade') : 'easy');
list();
