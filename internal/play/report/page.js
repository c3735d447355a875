
// The page of a tournament: chooses a game, and shows its moves.

const data = JSON.parse(document.getElementById('data').textContent);
const element = id => document.getElementById(id);
const firstSquare = '0'.codePointAt(0);
let game = null, ply = 0;

// rows returns the squares of a board.
function rows(board) {
  const squares = [...data.Boards[board]].map(c => data.Squares[c.codePointAt(0) - firstSquare]);
  return Array.from({ length: squares.length / data.Width }, (_, y) => squares.slice(y * data.Width, (y + 1) * data.Width));
}

// changes returns the squares that differ between two boards.
function changes(before, after) {
  return after.flatMap((row, y) => row.flatMap((s, x) => s === before[y][x] ? [] : [[x, y]]));
}

const side = turn => `${data.Players[turn]} (${data.Names[game.Players[turn]]})`;

// show shows the position after some moves of the game.
function show(n) {
  ply = Math.max(0, Math.min(n, game.Moves.length));
  const board = game.Boards[ply], now = rows(board), ended = ply === game.Moves.length;
  const text = ended ? game.Text : ply ? `${ply}. ${side(game.Turns[ply - 1])}: ${game.Moves[ply - 1]}` : 'Initial position';
  element('board').replaceChildren(draw({
    picture: { rows: now, Above: data.Above, Below: data.Below, Left: data.Left, won: data.Won[board] },
    look: data.Look, moves: [], last: ply ? changes(rows(game.Boards[ply - 1]), now) : [],
    players: data.Players, turn: game.Turns[ply] ?? 0, over: ended ? { text: game.Text } : null,
  }, null, '', () => {}));
  element('state').textContent = text;
  element('ply').value = ply;
  element('first').disabled = element('back').disabled = ply === 0;
  element('next').disabled = element('last').disabled = ended;
  [...element('moves').children].forEach((li, i) => li.classList.toggle('now', i === ply - 1));
}

// choose shows a game.
function choose(number, n = 0) {
  game = data.Games[number];
  element('game').value = number;
  element('ply').max = game.Moves.length;
  element('moves').replaceChildren(...game.Moves.map((move, i) => {
    const li = document.createElement('li');
    li.textContent = `${data.Players[game.Turns[i]]}: ${move}${i < game.Opening ? ' (opening)' : ''}`;
    return li;
  }));
  show(n);
}

// list lists the games of two players, or all, and shows the first.
function list(pair, number, n) {
  element('pair').value = pair;
  const options = data.Games.flatMap((g, i) => {
    if (pair && [...g.Players].sort((a, b) => a - b).join() !== pair) return [];
    return [new Option(`${i + 1}: ${data.Names[g.Players[0]]} - ${data.Names[g.Players[1]]}`, i)];
  });
  element('game').replaceChildren(...options);
  choose(number ?? Number(options[0].value), n);
}

function onButtons(selector, action) {
  document.querySelectorAll(selector).forEach(b => b.addEventListener('click', () => {
    action(b.dataset);
    element('games').scrollIntoView();
  }));
}

if (data.Games.length) {
  const pairs = [...new Set(data.Games.map(g => [...g.Players].sort((a, b) => a - b).join()))];
  element('pair').append(...pairs.map(p => new Option(p.split(',').map(i => data.Names[i]).join(' - '), p)));
  element('pair').addEventListener('change', e => list(e.target.value));
  element('game').addEventListener('change', e => choose(Number(e.target.value)));
  element('ply').addEventListener('input', e => show(Number(e.target.value)));
  const keys = { first: () => 0, back: () => ply - 1, next: () => ply + 1, last: () => Infinity };
  for (const [id, to] of Object.entries(keys)) element(id).addEventListener('click', () => show(to()));
  const named = { Home: 'first', ArrowLeft: 'back', ArrowRight: 'next', End: 'last' };
  document.addEventListener('keydown', e => {
    if (!named[e.key] || e.altKey || e.ctrlKey || e.metaKey || e.target.closest('select, input, .scroll')) return;
    e.preventDefault();
    show(keys[named[e.key]]());
  });
  onButtons('[data-row]', d => list([Number(d.row), Number(d.column)].sort((a, b) => a - b).join()));
  onButtons('[data-game]', d => list('', d.game - 1, Infinity));
  list('');
}
