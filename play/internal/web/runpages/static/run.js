// The page of a run: shows the state that the server sends whenever it changes.
const message = document.getElementById('message');
const source = new EventSource(document.body.dataset.events);

// morph makes an element equal to another one. What is equal already stays, so that the focus,
// the selection and the place of scrolling stay, and a screen reader reads only what has changed.
function morph(old, next) {
  for (const { name } of [...old.attributes]) {
    if (!next.hasAttribute(name)) old.removeAttribute(name);
  }
  for (const { name, value } of next.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  const [before, after] = [[...old.childNodes], [...next.childNodes]];
  after.forEach((node, i) => {
    const was = before[i];
    if (!was) old.append(node);
    else if (was.nodeName !== node.nodeName) was.replaceWith(node);
    else if (node.nodeType === Node.ELEMENT_NODE) morph(was, node);
    else if (was.nodeValue !== node.nodeValue) was.nodeValue = node.nodeValue;
  });
  before.slice(after.length).forEach(node => node.remove());
}

source.addEventListener('state', e => {
  const next = document.createElement('div');
  next.id = 'run';
  next.innerHTML = JSON.parse(e.data);
  morph(document.getElementById('run'), next);
  message.textContent = '';
});
source.addEventListener('end', () => source.close());
source.addEventListener('error', () => {
  message.textContent = source.readyState === EventSource.CLOSED
    ? 'The server does not send the state of the run. Reload the page later.'
    : 'No connection to the server. The page shows the state that it sent last.';
});
