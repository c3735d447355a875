// Draws the value history: a row for each ply, with the remoteness to the side of the player who
// wins. A tie is on both sides, a draw in the centre, and an unknown value at the edge.
import { el } from './board.js';

const rowHeight = 24, half = 140, margin = 26;

// draw returns the picture. go is called with the number of the ply that is clicked.
export function draw(view, go) {
  const plies = view.plies;
  const most = Math.max(1, ...plies.map(p => p.worth?.remoteness ?? 0));
  const height = (plies.length + 1) * rowHeight;
  const svg = el('svg', { viewBox: `${-half - margin} 0 ${2 * (half + margin)} ${height}`, role: 'img', 'aria-label': words(view) });
  svg.append(
    el('text', { x: -half, y: 14, 'font-size': 11, class: 'label' }, `◀ ${view.players[0]} wins`),
    el('text', { x: half, y: 14, 'font-size': 11, class: 'label', 'text-anchor': 'end' }, `${view.players[1]} wins ▶`),
    el('line', { x1: 0, x2: 0, y1: 20, y2: height, class: 'axis' }));
  const points = plies.map((p, i) => ({ ...place(p, most), y: (i + 1.5) * rowHeight - 4, i, p }));
  const known = points.filter(p => p.cls !== 'unknown');
  svg.append(el('polyline', { class: 'path', points: known.map(p => `${p.xs.length > 1 ? 0 : p.xs[0]},${p.y}`).join(' ') }));
  for (const { xs, y, cls, i, p } of points) {
    const now = i === view.ply;
    if (xs.length > 1) svg.append(el('line', { x1: xs[0], x2: xs[1], y1: y, y2: y, class: 'path' }));
    for (const x of xs) svg.append(el('circle', { cx: x, cy: y, r: now ? 7 : 5, class: `point ${cls}${now ? ' now' : ''}` }));
    const label = (x, anchor, cls, text) => svg.append(el('text', { x, y: y + 4, 'font-size': 11, class: cls, 'text-anchor': anchor }, text));
    if (i) label(-half - margin + 2, 'start', 'label', plies[i - 1].move);
    if (plies[i - 1]?.mistake) label(half + margin - 4, 'end', 'mark lose', '!');
    const row = el('rect', { x: -half - margin, y: y - rowHeight / 2, width: 2 * (half + margin), height: rowHeight, class: 'target' });
    row.append(el('title', {}, `after ${i} moves: ${text(view, p)}${plies[i - 1]?.mistake ? `; a mistake: ${plies[i - 1].mistake}` : ''}`));
    row.addEventListener('click', () => go(i));
    svg.append(row);
  }
  return svg;
}

// place returns the columns of a ply, and its class.
function place({ worth: w, turn }, most) {
  if (!w?.value) return { xs: [half + margin / 2], cls: 'unknown' };
  if (w.value === 'draw') return { xs: [0], cls: 'draw' };
  const x = 14 + (half - 14) * w.remoteness / most;
  if (w.value === 'tie') return { xs: [-x, x], cls: 'tie' };
  const first = (turn === 0) === (w.value === 'win');
  return { xs: [first ? -x : x], cls: first ? 'first' : 'second' };
}

function text(view, { worth: w, turn }) {
  if (!w?.value) return 'not known';
  return w.value === 'draw' || w.open ? w.value : `${view.players[turn]}: ${w.value} in ${w.remoteness}`;
}

function words(view) {
  return 'Value history: ' + view.plies.map((p, i) => `${i} ${text(view, p)}`).join('; ');
}
