// Draws the value history: a row for each ply, with the remoteness to the side of the player who
// wins. Ties are in the columns beside the centre, draws in the centre, and unknown values at
// the edge.
import { el, glyph } from './board.js';

const rowHeight = 18, half = 140, margin = 26;

// draw returns the picture. go is called with the number of the ply that is clicked.
export function draw(view, current, go) {
  const plies = view.plies;
  const most = Math.max(1, ...plies.map(p => p.worth?.value === 'win' || p.worth?.value === 'lose' ? p.worth.remoteness : 0));
  const height = plies.length * rowHeight + 24;
  const svg = el('svg', { viewBox: `${-half - margin} 0 ${2 * (half + margin)} ${height}`, role: 'img', 'aria-label': words(view) });
  svg.append(
    el('text', { x: -half, y: 12, 'font-size': 11, class: 'label' }, `◀ ${view.players[0]} wins`),
    el('text', { x: half, y: 12, 'font-size': 11, class: 'label', 'text-anchor': 'end' }, `${view.players[1]} wins ▶`),
    el('line', { x1: 0, x2: 0, y1: 18, y2: height, class: 'axis' }));
  const points = plies.map((p, i) => ({ ...place(p, most), y: 24 + i * rowHeight + rowHeight / 2 - 6, i, p }));
  const known = points.filter(p => p.cls !== 'unknown');
  svg.append(el('polyline', { class: 'path', points: known.map(p => `${p.x},${p.y}`).join(' ') }));
  for (const point of points) {
    const c = el('circle', { cx: point.x, cy: point.y, r: point.i === current ? 7 : 5, class: `point ${point.cls}${point.i === current ? ' now' : ''}` });
    c.append(el('title', {}, `after ${point.i} moves: ${text(view, point.p)}`));
    c.addEventListener('click', () => go(point.i));
    svg.append(c);
    svg.append(el('text', { x: -half - margin + 2, y: point.y + 4, 'font-size': 10, class: 'label' }, point.i ? plies[point.i - 1].move : ''));
    if (plies[point.i - 1]?.lost) svg.append(el('text', { x: half + margin - 4, y: point.y + 4, 'font-size': 12, 'text-anchor': 'end', class: 'mark lose' }, '!'));
  }
  return svg;
}

// place returns the column of a ply, and its class.
function place(ply, most) {
  const w = ply.worth;
  if (!w?.value) return { x: half + margin / 2, cls: 'unknown' };
  if (w.value === 'draw') return { x: 0, cls: 'draw' };
  if (w.value === 'tie') return { x: 0, cls: 'tie' };
  const first = (ply.turn === 0) === (w.value === 'win');
  const x = 14 + (half - 14) * w.remoteness / most;
  return { x: first ? -x : x, cls: first ? 'first' : 'second' };
}

function text(view, ply) {
  const w = ply.worth;
  if (!w?.value) return 'not known';
  return w.value === 'draw' ? 'draw' : `${view.players[ply.turn]}: ${w.value} in ${w.remoteness}`;
}

function words(view) {
  return 'Value history: ' + view.plies.map((p, i) => `${i} ${glyph[p.worth?.value] ? text(view, p) : 'not known'}`).join('; ');
}
