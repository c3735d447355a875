// Begins the site: a service worker answers the requests of its pages after this one.
const say = text => { document.getElementById('message').textContent = text; };

const root = new URL('.', import.meta.url).pathname;

if (!/PAGES/.test(location.pathname.slice(root.length))) { // the server shows 404.html for any address
  say('There is no such page. ');
  document.getElementById('message').append(Object.assign(document.createElement('a'), { href: root, textContent: 'All games' }));
} else if (!navigator.serviceWorker) {
  say(isSecureContext ? 'This browser has no service workers, which this site needs. A private window may lack them.'
    : 'This site needs an address that begins with https: or with http://localhost.');
} else {
  try {
    const registration = await navigator.serviceWorker.register(new URL('sw.js', import.meta.url));
    const worker = registration.installing;
    worker?.addEventListener('statechange', () => {
      if (worker.state === 'redundant') say('The program of this site cannot be loaded. Load the page again.');
    });
    await navigator.serviceWorker.ready;
    location.reload();
  } catch (error) {
    say(`The program of this site cannot be loaded: ${error.message}`);
  }
}
