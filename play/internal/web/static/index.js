import { draw } from './board.js';

for (const place of document.querySelectorAll('[data-board]')) {
  place.append(draw(JSON.parse(place.dataset.board), null, null, () => {}));
}
