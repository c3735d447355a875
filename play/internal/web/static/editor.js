// The board editor: a click on a square puts the chosen piece there. The server finds the
// position with these squares.
import { area, draw, replace, squareName } from './board.js';

// names of pieces that a screen reader would not read well.
const names = { '.': 'empty', '-': 'across', '|': 'upright', '+1': 'one more', '-1': 'one less' };
const nameOf = text => names[text] ?? text;

// edit shows the squares of a view in board, and buttons for what can be placed in tools. It
// returns a function that returns the squares as text.
export function edit(view, board, tools) {
  const picture = structuredClone(view.picture);
  picture.won = null;
  let chosen = view.look.place[0].text === '.' ? 1 : 0; // a piece first, not the empty square

  const put = square => {
    const { text, owner } = view.look.place[chosen];
    if (text === '+1' || text === '-1') square.text = String(Math.max(0, Number(square.text) + Number(text)));
    else [square.text, square.owner] = [text, owner || square.owner];
  };
  const show = () => {
    const svg = draw({ ...view, picture, moves: [], last: [], over: null, marks: null, best: null });
    svg.setAttribute('role', 'group');
    svg.setAttribute('aria-label', 'Board editor');
    picture.rows.forEach((row, y) => row.forEach((square, x) => {
      if (square.kind === 2) return;
      svg.append(area(x, y, `${squareName(picture, x, y)}: ${nameOf(square.text)}`, () => { put(square); show(); }));
    }));
    replace(board, svg);
  };
  const buttons = view.look.place.map(({ text }, i) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = nameOf(text);
    button.addEventListener('click', () => {
      chosen = i;
      mark();
    });
    return button;
  });
  const mark = () => buttons.forEach((b, i) => b.setAttribute('aria-pressed', i === chosen));
  mark();
  tools.replaceChildren(...buttons);
  show();
  return () => picture.rows.map(row => row.map(square => square.text).join(',')).join('\n');
}
