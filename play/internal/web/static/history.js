// Draws the value history: a row for each ply. A win is on the side of the player who wins, the sooner the
// farther from the centre, where ties, draws and unknown values are. The words for the value are beside it.
import { el } from './board.js';

const half = 110, inner = 14, right = 92, top = 36;

// draw returns the picture. go is called with the number of the ply that is clicked.
export function draw(view, go) {
  const rowHeight = matchMedia('(pointer: coarse)').matches ? 44 : 24; // for a finger
  const { plies } = view.review, longest = Math.max(...plies.map(p => p.move?.length ?? 0));
  const left = Math.max(36, 14 + 6.5 * longest), width = left + 2 * half + right; // the names of moves do not reach the points
  const most = Math.max(1, ...plies.map(p => p.worth?.remoteness ?? 0));
  const height = top + plies.length * rowHeight;
  const svg = el('svg', { viewBox: `${-half - left} 0 ${width} ${height}`, role: 'img', 'aria-label': words(view) });
  const write = (x, y, anchor, cls, text, size = 11) => svg.append(el('text', { x, y, 'font-size': size, class: cls, 'text-anchor': anchor }, text));
  write(-half, 12, 'start', 'label', `◀ ${view.players[0]} wins`);
  write(half, 12, 'end', 'label', `${view.players[1]} wins ▶`);
  for (const side of [-1, 1]) {
    write(side * half, 26, side < 0 ? 'start' : 'end', 'label', 'in 0', 9);
    write(side * inner, 26, side < 0 ? 'end' : 'start', 'label', `in ${most}`, 9);
    svg.append(el('line', { x1: side * half, x2: side * half, y1: 30, y2: height, class: 'axis' }));
  }
  svg.append(el('line', { x1: 0, x2: 0, y1: 30, y2: height, class: 'axis' }));
  const points = plies.map((p, i) => ({ ...place(p, most), y: top + (i + .5) * rowHeight, i, p }));
  svg.append(el('polyline', { class: 'path', points: points.filter(p => p.cls !== 'unknown').map(({ x, y }) => `${x},${y}`).join(' ') }));
  for (const { x, y, cls, i, p } of points) {
    const now = i === view.made, mistake = plies[i - 1]?.mistake;
    svg.append(el('circle', { cx: x, cy: y, r: now ? 7 : 5, class: `point ${cls}${now ? ' now' : ''}` }));
    if (i) write(-half - left + 2, y + 4, 'start', 'label', plies[i - 1].move);
    write(half + inner, y + 4, 'start', 'label', winner(view, p));
    if (mistake) write(half + right - 4, y + 4, 'end', 'mark lose', '!');
    const row = el('rect', { x: -half - left, y: y - rowHeight / 2, width, height: rowHeight, class: 'target' });
    row.append(el('title', {}, `after ${i} moves: ${text(view, p)}${mistake ? `; a mistake: ${mistake}` : ''}`));
    row.addEventListener('click', () => go(i));
    svg.append(row);
  }
  return svg;
}

// place returns the column of a ply, and its class.
function place({ worth: w, turn }, most) {
  if (w?.value !== 'win' && w?.value !== 'lose') return { x: 0, cls: w?.value ?? 'unknown' };
  const far = w.open ? .5 : w.remoteness / most; // it is not known when an open one ends
  const x = half - (half - inner) * far, first = (turn === 0) === (w.value === 'win');
  return { x: first ? -x : x, cls: first ? 'first' : 'second' };
}

// winner returns the player who wins, and when.
function winner(view, { worth: w, turn }) {
  if (w?.value !== 'win' && w?.value !== 'lose') return w?.value ?? 'not known';
  return `${view.players[w.value === 'win' ? turn : 1 - turn]}${w.open ? '' : ` in ${w.remoteness}`}`;
}

function text(view, { worth: w, turn }) {
  if (!w?.value) return 'not known';
  return w.value === 'draw' || w.open ? w.text : `${view.players[turn]}: ${w.text}`;
}

function words(view) {
  return 'Value history: ' + view.review.plies.map((p, i) => `${i} ${text(view, p)}`).join('; ');
}
