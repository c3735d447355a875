// Draws a position as SVG, from the picture and the look that the server sends.

const SVG = 'http://www.w3.org/2000/svg';

// el makes an SVG element.
export function el(name, attributes = {}, ...children) {
  const e = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null) e.setAttribute(key, value);
  }
  e.append(...children);
  return e;
}

const owners = ['neutral', 'first', 'second'];

const round = (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
const mane = Array.from({ length: 10 }, (_, i) => round(21 * Math.sin(i * Math.PI / 5), 2 - 21 * Math.cos(i * Math.PI / 5), 9)).join('');

// animals are shapes in turn of the colour of the animal and of that of its tile. The middle of a square of 100 is 0, 0.
const animals = {
  lion: [mane, round(0, 2, 20), `${round(-7, -2, 3)}${round(7, -2, 3)}M-5 6h10l-5 6z`],
  giraffe: ['M-27-17l12-9 1-8h4v7h5l1-7h4l-1 9 5 8 9 22 13 3 6 10v18h-6l-2-14h-14l-2 14h-6l-3-22-9-22-16 2z', `${round(-11, -19, 2)}${round(-1, -8, 3)}${round(5, 4, 3)}${round(12, 14, 4)}${round(23, 15, 3)}`],
  elephant: [`${round(-21, -6, 15)}${round(21, -6, 15)}${round(0, -2, 19)}M-8 10q-2 24 10 26 12 2 13-9h-6q-2 5-6 2-3-3-3-19z`, `${round(-25, -6, 6)}${round(25, -6, 6)}${round(-7, -5, 3)}${round(7, -5, 3)}`],
  chick: [`${round(0, 4, 25)}M-5-19l5-11 5 11zM-10 27l-6 9h11zM10 27l-5 9h11z`, `${round(-9, -3, 3)}${round(9, -3, 3)}M-6 4h12l-6 9z`],
  hen: [`${round(3, 10, 20)}${round(-15, -12, 11)}${round(-21, -25, 4)}${round(-14, -27, 5)}${round(-7, -24, 4)}${round(-23, 0, 4)}M-26-8l20-8 16 12-22 22zM12-2l22-20 2 16 6 8-18 18zM-25-15l-11 5 11 5zM-4 26h4v11h-4zM8 26h4v11h-4z`, `${round(-18, -14, 2)}M-6 6q13 12 24-3-1 19-12 20-11-1-12-17z`],
};

// tile draws an animal, or two, on a tile that points to the other player.
function tile(animal, c, { length }, x, y) {
  const paths = animals[animal].map((d, i) => el('path', { d, class: i % 2 ? c : `on-${c}`, transform: 'translate(0 6) scale(1.02)' }));
  const g = el('g', {}, el('g', { transform: `translate(${x} ${y}) rotate(${c === 'second' ? 180 : 0}) scale(.01)` }, el('path', { d: 'M-38 43v-71l38-17 38 17v71z', class: c }), ...paths));
  if (length > 1) g.append(el('circle', { cx: x + .34, cy: y + .32, r: .15, class: 'neutral' }), letter(length, x + .34, y + .32, 'on-neutral', .24));
  return g;
}

// piece draws what is on a square, centred at x, y; the square has the size 1.
function piece(shape, text, owner, x, y) {
  const c = owners[owner];
  const line = (x1, y1, x2, y2) => el('line', { x1: x + x1, y1: y + y1, x2: x + x2, y2: y + y2, class: `outline ${c}` });
  switch (shape) {
    case 'disc': return el('g', {}, el('circle', { cx: x, cy: y, r: .38, class: c }), letter(text, x, y, `on-${c}`, .36));
    case 'cross': return el('g', {}, line(-.26, -.26, .26, .26), line(-.26, .26, .26, -.26));
    case 'ring': return el('circle', { cx: x, cy: y, r: .28, class: `outline ${c}` });
    case 'across': return line(-.34, 0, .34, 0);
    case 'upright': return line(0, -.34, 0, .34);
    case 'number': return letter(text, x, y, '', .42);
    default: return animals[shape] ? tile(shape, c, text, x, y) : letter(text, x, y, owner ? c : '', .6);
  }
}

function letter(text, x, y, cls, size) {
  return el('text', { x, y, class: cls, 'font-size': size, 'text-anchor': 'middle', 'dominant-baseline': 'central' }, text);
}

const square = { hole: (x, y) => el('circle', { cx: x, cy: y, r: .42, class: 'hole' }),
  pit: (x, y) => el('circle', { cx: x, cy: y, r: .45, class: 'pit' }),
  point: (x, y) => el('circle', { cx: x, cy: y, r: .1, class: 'point' }),
  cube: (x, y) => el('g', {}, el('rect', { x: x - .47, y: y - .47, width: .94, height: .94, rx: .1, class: 'side' }), el('rect', { x: x - .43, y: y - .43, width: .8, height: .8, rx: .08, class: 'cube' })),
  cell: (x, y) => el('rect', { x: x - .5, y: y - .5, width: 1, height: 1, class: 'cell' }) };

// has reports whether a click on a square can mean a move.
export const has = (move, at) => move.squares.some(square => String(square) === at);

// meant returns the moves that clicks on squares can mean. If paths begin at the first of them, it is one of these.
export function meant(moves, clicks) {
  const begun = moves.filter(m => m.path && String(m.squares[0]) === clicks[0]);
  return (begun.length ? begun : moves).filter(m => clicks.every(at => has(m, at)));
}

// one reports whether clicks mean exactly one move. A path needs at least two clicks.
export function one(open, clicks) { return open.length === 1 && (!open[0].path || clicks.length > 1); }

// goes reports whether clicks name the square to which a piece goes in all moves that they can mean.
function goes(open, clicks) { return open.length > 0 && open.every(m => clicks.includes(String(m.at))); }

// takes reports whether the paths of these moves also name a piece that is taken.
function takes(open, clicks) { return goes(open, clicks) && open.every(m => m.path && String(m.at) !== String(m.squares.at(-1))); }

// asks says what the next click is to name; '' if the clicks before it mean a move, or there are none.
export function asks({ moves, picture, players, turn, clicks }) {
  const open = meant(moves, clicks);
  if (!clicks.length || !open.length || one(open, clicks)) return '';
  let what = 'choose another square';
  if (takes(open, clicks)) what = `choose a piece of ${players[1 - turn]} to take`;
  else if (goes(open, clicks)) what = 'choose the piece that goes there';
  else if (open.every(m => !m.path || String(m.squares[0]) === clicks[0])) what = 'choose where it goes';
  return `C${squareName(picture, ...clicks.at(-1).split(',').map(Number)).slice(1)}: ${what}.`;
}

// placed returns a view with a piece where clicks say that it goes, while the piece that it takes is chosen.
function placed(view, open) {
  const { picture, turn, clicks = [] } = view;
  if (!takes(open, clicks)) return view;
  const rows = structuredClone(picture.rows), [x, y] = open[0].at, own = s => s.owner === turn + 1 && s.kind === 0, from = clicks.map(at => at.split(',')).map(([x, y]) => rows[y][x]).find(own);
  rows[y][x] = { ...from ?? rows.flat().find(own) };
  if (from) Object.assign(from, { text: '.', owner: 0 });
  return { ...view, picture: { ...picture, rows } };
}

// draw returns the board of a view. view.marks has the values of moves, the best first; without it, only the move view.best is
// marked. chosen is called with the square of a click, "x,y", and its area. Only moves that view.clicks can mean are marked.
export function draw(view, chosen) {
  const open = meant(view.moves, view.clicks ?? []);
  view = placed(view, open);
  const { rows, Above, Below, Left, won, line, links } = view.picture;
  const look = view.look;
  const height = rows.length, width = rows[0].length;
  const left = Left ? .7 : .15;
  const labelled = view.labels ? .5 : 0; // the place for marks below the labels
  const top = Above ? .6 + labelled : .1;
  const bottom = Below ? .6 + labelled : .1;
  const svg = el('svg', { class: look.colours, viewBox: `${-left} ${-top} ${width + left + .15} ${height + top + bottom}`, role: view.moves.length ? 'group' : 'img', 'aria-label': describe(view) });
  svg.addEventListener('keydown', walk);
  const at = (x, y) => [x + .5, y + .5];
  if (look.square === 'hole') svg.append(el('rect', { x: 0, y: 0, width, height, rx: .2, class: 'frame' }));
  links?.forEach(of => {
    const [[x1, y1], [x2, y2]] = [at(...of[0]), at(...of.at(-1))];
    svg.append(el('line', { x1, y1, x2, y2, class: 'link' }));
  });
  const last = new Set(view.last.map(String)), marked = marksOf({ ...view, moves: open }, height), corners = new Set(marked.map(m => m.corner));
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const sq = rows[y][x];
      if (sq.kind === 2) continue; // a gap
      const [cx, cy] = at(x, y);
      if (sq.kind === 1) svg.append(el('rect', { x: x + .04, y: y + .04, width: .92, height: .92, rx: .15, class: `goal ${look.pieces?.['*'] === 'number' ? '' : `of-${owners[sq.owner]}`}` }));
      else svg.append((square[look.square] ?? square.cell)(cx, cy));
      if (sq.text !== '.' && sq.text !== '') {
        const p = piece(look.pieces?.[sq.text] ?? look.pieces?.['*'], sq.text, sq.owner, cx, cy);
        p.classList.add('piece');
        if (corners.has(`${x},${y}`)) p.setAttribute('transform', `translate(${.4 * cx} ${.4 * cy + .16}) scale(.6)`); // the mark is above it
        if (last.has(`${x},${y}`)) arrive(p, y, view.since);
        svg.append(p);
        if (sq.ply) ghost(svg, p, sq, look.pieces?.['*'] === 'number' ? [cx + .3, cy + .3] : [cx, cy]);
      }
      if (last.has(`${x},${y}`) && !won?.length) svg.append(el('rect', { x: x + .05, y: y + .05, width: .9, height: .9, rx: .2, class: 'last' }));
    }
  }
  if (look.sight) sights(svg, rows, look.sight);
  won?.forEach(([x, y], i) => {
    svg.append(el('rect', { x: x + .08, y: y + .08, width: .84, height: .84, rx: .25, class: 'won' }));
    if (line && i % line === 0) {
      const [[x1, y1], [x2, y2]] = [at(x, y), at(...won[i + line - 1])];
      svg.append(el('line', { x1, y1, x2, y2, class: 'won' }));
    }
  });
  const labels = (texts, y) => texts?.forEach((text, x) => svg.append(el('text', { x: x + .5, y, class: 'label', 'font-size': .34, 'text-anchor': 'middle', 'dominant-baseline': 'central' }, text)));
  labels(Above, -.3);
  labels(Below, height + .3);
  Left?.forEach((text, y) => svg.append(el('text', { x: -.35, y: y + .5, class: 'label', 'font-size': text ? .34 : .26, 'text-anchor': 'middle', 'dominant-baseline': 'central' }, text || (rows[y].some(s => s.kind === 1) ? 'hand' : ''))));
  threats(svg, view);
  for (const { attributes, text } of marked) svg.append(el('text', attributes, text));
  targets(svg, view, open, chosen);
  return svg;
}

// threats marks the squares on which a player would complete a line with the name of the player.
function threats(svg, { threats: squares, players }) {
  squares?.forEach((of, side) => of?.forEach(([x, y]) => {
    const [cx, cy] = [x + .5 + (side ? .3 : -.3), y + .82], c = owners[side + 1];
    svg.append(el('g', { class: 'threat' }, el('circle', { cx, cy, r: .15, class: c }), letter(players[side].slice(0, 1), cx, cy, `on-${c}`, .24)));
  }));
}

// ghost shows that a piece is not there yet: it has the number of the move of a line that puts it there.
function ghost(svg, p, sq, [x, y]) {
  p.classList.add('ghost');
  p.querySelector('text')?.remove();
  svg.append(letter(sq.ply, x, y, 'number', .36));
}

// arrive moves a piece in, from above the board if it falls. The position was shown at the time since:
// a board that is drawn again continues the movement.
function arrive(p, y, since) {
  p.classList.add('new');
  p.style.setProperty('--height', y + 1);
  if (since) p.style.animationDelay = `${since - performance.now()}ms`;
}

// marksOf returns the marks that tell what each move leads to, at its place: in a corner of a square that is not empty.
// Where several moves share a place, the best one is shown.
function marksOf({ moves, marks, best, picture }, height) {
  const shown = new Map();
  for (const { name, value, text } of marks ?? (best ? [{ name: best, text: '' }] : [])) {
    const m = moves.find(move => move.name === name), key = String(m?.at);
    if (!m?.known || shown.has(key) || picture.links && text === '·' && name !== best) continue; // a point stays visible
    let [x, y] = [m.at[0] + .5, m.at[1] + .5];
    if (m.label) y = m.at[1] < 0 ? -.85 : height + .85;
    const corner = !m.label && picture.rows[m.at[1]][m.at[0]].text !== '.', mark = (name === best ? '★' : '') + text;
    if (corner) [x, y] = [x + .46, y - .34];
    const size = marks || corner ? Math.min(.32, .94 / (.78 * mark.length)) : .6; // it stays within its square
    shown.set(key, { text: mark, corner: corner && key, attributes: { x, y, class: `mark ${value || 'unknown'}`, 'font-size': size, 'text-anchor': corner ? 'end' : 'middle', 'dominant-baseline': 'central' } });
  }
  return [...shown.values()];
}

// targets lays areas over the squares that answer to the mouse and to touch. The keyboard reaches one of those
// that mean the same move.
function targets(svg, view, open, chosen) {
  const areas = new Map(view.moves.flatMap(m => m.squares.map(([x, y]) => [`${x},${y}`, { x, y, quiet: m.label && y !== m.at[1] }])));
  for (const [key, { x, y, quiet }] of areas) {
    const now = [[...view.clicks ?? [], key], [key]].map(clicks => meant(view.moves, clicks)).find(moves => moves.length).map(m => m.name);
    const what = view.picture.rows[y]?.[x] && contentOf(view.picture.rows[y][x], view), does = now.length === 1 ? `move ${now[0]}` : `${now.length} moves`;
    const label = what === undefined ? does : `${squareName(view.picture, x, y)}${what ? `, ${what}` : ''}: ${does}`;
    const target = area(x, y, quiet ? null : label, () => chosen(key, target));
    if (view.clicks?.includes(key)) {
      target.classList.add('picked');
      target.setAttribute('aria-pressed', true);
    } else if (view.clicks?.length && open.some(m => has(m, key))) target.classList.add('open');
    target.dataset.moves = view.moves.filter(m => has(m, key)).map(m => m.name).join(' ');
    svg.append(target);
  }
}

// area returns an area over a square that can be pressed: with the keyboard, too, if it has a label.
export function area(x, y, label, press) {
  const rect = el('rect', { x, y, width: 1, height: 1, class: 'target', ...label && { role: 'button', tabindex: -1, 'aria-label': label } });
  rect.addEventListener('click', press);
  rect.addEventListener('mousedown', e => { // the focus is for the keyboard
    e.preventDefault();
    document.activeElement?.blur();
  });
  for (const kind of ['keydown', 'keyup']) { // a key that is pressed once, or held down, presses once
    rect.addEventListener(kind, e => {
      if (e.key !== 'Enter' && e.key !== ' ') return;
      e.preventDefault();
      if (kind === 'keyup') press();
    });
  }
  return rect;
}

// replace shows a drawing in place of another one. The tabulator key reaches one square of the board: of those that can be
// pressed, the nearest to the one that it reached before. If there is none, the board keeps the focus.
export function replace(board, svg) {
  const focused = board.contains(document.activeElement), old = focused ? document.activeElement : board.querySelector('[tabindex="0"]');
  const distance = s => Math.hypot(...['x', 'y'].map(at => s.getAttribute(at) - (old ?? s).getAttribute(at)));
  const square = [...svg.querySelectorAll('[role=button]')].sort((a, b) => distance(a) - distance(b))[0];
  (square ?? svg).setAttribute('tabindex', square ? 0 : -1);
  board.replaceChildren(svg);
  if (focused) (square ?? svg).focus();
}

const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// walk moves the focus to the nearest square in the direction of an arrow key.
function walk(e) {
  if (!arrows[e.key] || e.altKey || e.ctrlKey || e.metaKey || e.target.getAttribute('role') !== 'button') return;
  e.preventDefault();
  e.stopPropagation();
  const [dx, dy] = arrows[e.key], distance = s => {
    const [x, y] = ['x', 'y'].map(at => s.getAttribute(at) - e.target.getAttribute(at)), ahead = x * dx + y * dy;
    return ahead > 0 ? ahead + 2 * Math.abs(x * dy + y * dx) : Infinity;
  };
  const next = [...e.currentTarget.querySelectorAll('[role=button]')].reduce((a, b) => distance(b) < distance(a) ? b : a);
  if (distance(next) === Infinity) return;
  e.target.setAttribute('tabindex', -1);
  next.setAttribute('tabindex', 0);
  next.focus();
}

// contentOf names what is on a square; "" if that is nothing.
function contentOf({ kind, text, owner }, { look: { pieces }, players }) {
  const shape = pieces?.[text];
  if (animals[shape] && owner) return `${text.length > 1 ? `${text.length} times ` : ''}${shape} of the ${owners[owner]} player`;
  if (text === '.') return '';
  if (kind === 1 && /^\d/.test(text)) return `${text} of ${players[owner - 1]}`;
  return /\w/.test(text) ? text : shape ?? text;
}

// squareName names a square by the labels of the board, or else by numbers from 1.
export function squareName(picture, x, y) { return `column ${columnName(picture, x, y)}, ${rowName(picture, y)}`; }

function columnName({ rows, Above, Below }, x, y) { return String((y < rows.length / 2 ? Above ?? Below : Below ?? Above)?.[x] || x + 1).replaceAll('_', ''); }

function rowName({ Left }, y) { return Left && !Left[y] ? 'hand' : `row ${Left?.[y] || y + 1}`.replaceAll('_', ''); }

// sights draws the lines along which pieces see one another.
function sights(svg, rows, texts) {
  const lines = el('g');
  const seen = square => square.text !== '' && texts.includes(square.text);
  for (let y = 0; y < rows.length; y++) {
    for (let x = 0; x < rows[0].length; x++) {
      if (!seen(rows[y][x])) continue;
      for (const [dx, dy] of [[1, 0], [0, 1], [1, 1], [1, -1]]) {
        let [u, v] = [x + dx, y + dy];
        while (rows[v]?.[u] && !seen(rows[v][u])) [u, v] = [u + dx, v + dy];
        if (rows[v]?.[u]?.text === rows[y][x].text) lines.append(el('line', { x1: x + .5, y1: y + .5, x2: u + .5, y2: v + .5, class: 'sight' }));
      }
    }
  }
  svg.insertBefore(lines, svg.querySelector('.piece'));
}

// describe returns the board as text, for those who do not see it.
function describe(view) {
  const side = view.players[view.turn];
  const rows = view.picture.rows.map((row, y) => {
    const pieces = row.map((s, x) => contentOf(s, view) && `${columnName(view.picture, x, y)} ${contentOf(s, view)}`).filter(Boolean);
    return pieces.length ? `; ${rowName(view.picture, y)}: ${pieces.join(', ')}` : '';
  }).join('');
  const threats = view.threats?.map((of, i) => of?.length ? `. ${view.players[i]} threatens ${of.map(([x, y]) => squareName(view.picture, x, y)).join(' and ')}` : '').join('') ?? '';
  return `Board, ${view.over || `${side} to move`}${rows}${threats}`;
}
