// The thinking times of the two players, in milliseconds.
const used = [0, 0];
let side = -1, since = 0; // whose clock runs (-1: none), and since when

// run starts the clock of a side and stops the other; -1 stops both.
export function run(next) {
  const now = performance.now();
  if (side >= 0) used[side] += now - since;
  [side, since] = [next, now];
}

// set sets both times.
export function set(times) {
  times.forEach((ms, i) => { used[i] = ms; });
  since = performance.now();
}

export function spent(of) { return used[of] + (of === side ? performance.now() - since : 0); }

// show shows both times.
export function show(players) {
  players.forEach((name, i) => Object.assign(document.getElementById(`clock${i}`), { textContent: text(spent(i)), ariaLabel: `Thinking time of ${name}` }));
}

// text returns a time in minutes and seconds.
function text(ms) {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
