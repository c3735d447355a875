import { draw } from './board.js';

for (const place of document.querySelectorAll('[data-board]')) {
  place.append(draw(JSON.parse(place.dataset.board), () => {}));
}

// The game of the day depends on the visitor's date alone, whatever the time zone. The factor is prime, so in as many days as
// there are solved games, each has its day. Its remainder by a number from 7 to 32 is between a seventh and six sevenths of that
// number: two days do not have neighbours in the list, which are similar.
const solved = document.querySelectorAll('[data-solved]'), now = new Date();
if (solved.length) {
  const today = document.getElementById('today'), days = Date.UTC(now.getFullYear(), now.getMonth(), now.getDate()) / 864e5;
  today.querySelector('ul').append(solved[days * 11093 % solved.length].cloneNode(true));
  const play = today.querySelector('li a'), puzzle = today.querySelector('p a');
  puzzle.href = play.getAttribute('href').replace('play', 'puzzles').split('#')[0];
  puzzle.textContent += `: ${play.childNodes[1].textContent.trim()}`;
  today.hidden = false;
}

// The games of the person are on the page of the last one.
try {
  const last = JSON.parse(localStorage.getItem('treereduce'))?.games.at(-1), mine = document.getElementById('mine');
  if (last) mine.firstChild.href = `./puzzles/${last.game}`;
  mine.hidden = !last;
} catch { /* none can be read */ }
