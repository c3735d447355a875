// Answers the requests of the pages with the program, which runs here and not on a server.
importScripts('wasm_exec.js');

const program = 'program.bin?VERSION', tables = 'tables.bin?VERSION';
const cacheName = `${registration.scope} VERSION`; // all sites of a host share the caches
const base = new URL(registration.scope).pathname;
const page = /PAGES/, part = /^(static|view|puzzle)\//; // paths from base that the program answers
const pathOf = address => new URL(address).pathname.slice(base.length);
let running = null; // a promise of the function that answers a request

addEventListener('install', e => e.waitUntil((async () => {
  await (await caches.open(cacheName)).addAll([program, tables]);
  await skipWaiting();
})()));

addEventListener('activate', e => e.waitUntil((async () => {
  for (const name of await caches.keys()) {
    if (name.startsWith(`${registration.scope} `) && name !== cacheName) await caches.delete(name);
  }
  await clients.claim();
})()));

// All other requests go to the server, which may have more than this site.
addEventListener('fetch', e => {
  if (!e.request.url.startsWith(registration.scope)) return;
  if (e.request.mode === 'navigate' ? page.test(pathOf(e.request.url)) : part.test(pathOf(e.request.url))) e.respondWith(answer(e));
});

// gone reports whether the server has this script no longer: another site has taken its place. Then the worker
// ends, and the browser loads the page again without it.
async function gone({ url }) {
  try {
    const { status } = await fetch('sw.js', { method: 'HEAD', cache: 'no-store', signal: AbortSignal.timeout(1000) });
    if (status !== 404 && status !== 410) return false;
    await fetch(url, { cache: 'reload' }); // the browser may have kept a page of this site
  } catch { return false; } // there is no connection
  await caches.delete(cacheName);
  return registration.unregister();
}

// unpacked returns a file that is stored compressed.
async function unpacked(name, type) {
  const stored = await (await caches.open(cacheName)).match(name) ?? await fetch(name);
  return new Response(stored.body.pipeThrough(new DecompressionStream('gzip')), { headers: { 'Content-Type': type } });
}

const patience = 10_000; // milliseconds until the server must have answered, and until it is asked again after a failure
let trouble = '', failed = -Infinity; // the last failure and its time

// fetchPart passes what partOf returns to a function of the program, or the text of its error.
self.fetchPart = (name, from, to, size, take) => partOf(name, from, to, size).then(take, error => take(error.message));

// partOf fetches the bytes from offset from to offset to of a file of a table, and keeps them for a time without the server.
// It reads nothing else that a server sends.
async function partOf(name, from, to, size) {
  const part = `${from}-${to - 1}`, kept = await caches.open(cacheName), key = `${name}?VERSION&${part}`;
  const known = await kept.match(key);
  if (known) return new Uint8Array(await known.arrayBuffer());
  if (Date.now() - failed < patience) throw new Error(trouble);
  try {
    const response = await fetch(`${name}?VERSION`, { headers: { Range: `bytes=${part}` }, signal: AbortSignal.timeout(patience) });
    if (response.headers.get('Content-Range') === `bytes ${part}/${size}`) {
      const bytes = await response.arrayBuffer();
      await kept.put(key, new Response(bytes)).catch(() => {}); // there is no place for it
      return new Uint8Array(bytes);
    }
    trouble = response.status === 200 ? 'this server sends only complete files, not parts of them'
      : `the server does not have the part that was asked for (status ${response.status})`;
    await response.body?.cancel();
  } catch {
    trouble = 'the server does not answer';
  }
  failed = Date.now();
  throw new Error(trouble);
}

// start starts the program. If it ends, the next request starts it again.
async function start() {
  const code = await unpacked(program, 'application/wasm');
  self.siteTables = await (await unpacked(tables, 'application/json')).text();
  const go = new Go();
  const { instance } = await WebAssembly.instantiateStreaming(code, go.importObject);
  return new Promise(resolve => {
    self.programReady = resolve;
    go.run(instance).finally(() => { running = null; });
  });
}

async function answer({ request, clientId }) {
  const { search } = new URL(request.url), path = `/${pathOf(request.url)}`;
  if (request.mode === 'navigate') {
    if (await gone(request)) return Response.redirect(request.url);
    const clean = path.replace(/\/(index\.html)?$/, ''); // a server of files adds these
    if (clean !== path && path !== '/') return Response.redirect(base + clean.slice(1) + search);
  } else {
    const client = await clients.get(clientId);
    if (client && !page.test(pathOf(client.url))) return fetch(request); // a page beside the site
  }
  let serve;
  try {
    serve = await (running ??= start());
  } catch (error) {
    running = null;
    return new Response(`The program of this site does not start: ${error.message}. Load the page again.`, { status: 500, headers: { 'Content-Type': 'text/plain; charset=utf-8' } });
  }
  return exchange(serve, path + search, request);
}

// exchange has the program answer a request.
function exchange(serve, path, request) {
  return new Promise(resolve => {
    let out, cancel, open = true;
    const leave = () => {
      if (open) cancel();
      open = false;
    };
    const body = new ReadableStream({ start(controller) { out = controller; }, cancel: leave });
    request.signal.addEventListener('abort', leave);
    cancel = serve({
      path,
      accept: request.headers.get('Accept') ?? '',
      begin(status, headers) {
        headers['Cache-Control'] = 'no-cache'; // a page beside the site may use the same address
        resolve(headers.Location ? Response.redirect(new URL(headers.Location, request.url), status) : new Response(body, { status, headers }));
      },
      send(bytes) {
        if (open) out.enqueue(bytes);
        return open;
      },
      end() {
        if (open) out.close();
        open = false;
      },
    });
  });
}
