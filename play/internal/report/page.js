
// The page of a tournament: shows the section of a player, or a game and its moves. The fragment of the
// address names what is shown: #player-3, #pair-1-2, #game-17, #game-17-5 (after 5 moves) or #game-17-end.

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

const nameOf = turn => data.Names[game.Players[turn]];
const side = turn => `${data.Players[turn]} (${nameOf(turn)})`;

// item returns a list item with a text or an element.
function item(content, cls = '') {
  const li = document.createElement('li');
  li.append(content);
  li.className = cls;
  return li;
}

// show shows the position after some moves of the game.
function show(n) {
  ply = Math.max(0, Math.min(n, game.Moves.length));
  const board = game.Boards[ply], now = rows(board), ended = ply === game.Moves.length;
  let text = ended ? game.Text : ply ? `${ply}. ${side(game.Turns[ply - 1])}: ${game.Moves[ply - 1]}` : 'Initial position';
  const value = game.Values[ply];
  if (value && !ended) text += `\n${side(game.Turns[ply])}: ${value}`;
  element('board').replaceChildren(draw({
    picture: { rows: now, Above: data.Above, Below: data.Below, Left: data.Left, won: data.Won[board] },
    look: data.Look, moves: [], last: ply ? changes(rows(game.Boards[ply - 1]), now) : [],
    players: data.Players, turn: game.Turns[ply] ?? 0, over: ended ? game.Text : null,
  }, () => {}));
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
  element('who').textContent = `Game ${number + 1}: ${data.Players[0]} is ${nameOf(0)}, ${data.Players[1]} is ${nameOf(1)}`;
  const mistakes = new Set(game.Mistakes.map(m => m.Move - 1));
  element('moves').replaceChildren(...game.Moves.map((move, i) => item(
    `${data.Players[game.Turns[i]]}: ${move}${i < game.Opening ? ' (opening)' : ''}${mistakes.has(i) ? ' (mistake)' : ''}`, mistakes.has(i) ? 'mistake' : '')));
  element('judged').hidden = !game.Turning;
  element('mistakes').replaceChildren(...game.Mistakes.map(m => {
    const link = document.createElement('a');
    link.href = `#game-${number + 1}-${m.Move}`;
    link.textContent = `${m.Move}. ${side(game.Turns[m.Move - 1])}, ${m.Text}`;
    return item(link);
  }));
  element('mistakes').append(item(game.Turning));
  show(n);
}

// list lists the games of two players, or all, and shows the first, or another one. It does nothing if there
// are none.
function list(pair, number, n) {
  const options = data.Games.flatMap((g, i) => {
    if (pair && [...g.Players].sort((a, b) => a - b).join() !== pair) return [];
    return [new Option(`${i + 1}: ${data.Names[g.Players[0]]} - ${data.Names[g.Players[1]]}`, i)];
  });
  if (!options.length) return;
  element('pair').value = pair;
  element('game').replaceChildren(...options);
  choose(number ?? Number(options[0].value), n);
}

// select shows the section of a player, given by its rank, and no other.
function select(rank) {
  element('player').value = rank;
  document.querySelectorAll('.player').forEach(p => { p.hidden = p.id !== `player-${rank}`; });
}

// route shows what the fragment of the address names.
function route() {
  const [, kind, number, more] = location.hash.match(/^#(player|pair|game)-(\d+)(?:-(\d+|end))?$/) ?? [];
  if (kind === 'player' && element(`player-${number}`)) {
    select(number);
    element('players').scrollIntoView();
  } else if (kind === 'pair' && data.Names[number - 1] && data.Names[more - 1]) {
    list([number - 1, more - 1].sort((a, b) => a - b).join());
    element('games').scrollIntoView();
  } else if (kind === 'game' && data.Games[number - 1]) {
    list('', number - 1, more === 'end' ? Infinity : Number(more ?? 0));
    element('games').scrollIntoView();
  }
}

select('');
if (data.Games.length) {
  const pairs = [...new Set(data.Games.map(g => [...g.Players].sort((a, b) => a - b).join()))];
  element('pair').append(...pairs.map(p => new Option(p.split(',').map(i => data.Names[i]).join(' - '), p)));
  element('player').addEventListener('change', e => { location.hash = e.target.value && `player-${e.target.value}`; select(e.target.value); });
  element('pair').addEventListener('change', e => list(e.target.value));
  element('game').addEventListener('change', e => choose(Number(e.target.value)));
  element('ply').addEventListener('input', e => show(Number(e.target.value)));
  const keys = { first: () => 0, back: () => ply - 1, next: () => ply + 1, last: () => Infinity };
  for (const [id, to] of Object.entries(keys)) element(id).addEventListener('click', () => show(to()));
  const named = { Home: 'first', ArrowLeft: 'back', ArrowRight: 'next', End: 'last' };
  document.addEventListener('keydown', e => {
    if (!named[e.key] || e.altKey || e.ctrlKey || e.metaKey || e.target.closest('select, input, .scroll, pre')) return;
    e.preventDefault();
    show(keys[named[e.key]]());
  });
  list('');
  addEventListener('hashchange', route);
  // A click on a link to what is shown already changes no fragment.
  document.addEventListener('click', e => { if (e.target.closest('a')?.hash === location.hash) route(); });
  route();
}
