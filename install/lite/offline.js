// Part of the site's service worker: keeps the site's files for use without a network.
//
// The build writes `const SITE = {version, files, rest}` before this script, and JupyterLite's service worker after it. When a
// version is installed, all of its files are copied into one cache, so a page never mixes files of two versions. The
// kernel's program has a cache of its own, which it shares with the worker that runs it (src/program.ts).

const PREFIX = 'quern-site-';
const cacheName = PREFIX + SITE.version;
const base = new URL('./', self.location.href);
const rest = new URL(SITE.rest, base).href;
const complete = new URL('quern-complete', base).href;
const known = new Map(Object.entries(SITE.files).map(([path, hash]) => [new URL(path, base).href, hash]));

/** Fetches files of the site, or copies them from an older version that has the same. */
async function keep() {
  const cache = await caches.open(cacheName);
  if (await cache.match(complete)) {
    return; // JupyterLite has registered this service worker before
  }
  const older = [];
  for (const name of await caches.keys()) {
    if (name.startsWith(PREFIX) && name !== cacheName) {
      older.push(await caches.open(name));
    }
  }
  const waiting = [...known];
  const next = async () => {
    for (let entry = waiting.pop(); entry; entry = waiting.pop()) {
      const [url, hash] = entry;
      let response;
      for (const from of older) {
        const found = await from.match(url);
        if (found?.headers.get('x-quern-hash') === hash) {
          response = found;
        }
      }
      if (!response) {
        const fresh = await fetch(url, { cache: 'no-cache' });
        if (!fresh.ok) {
          throw new Error(`${url}: the server answered ${fresh.status}`);
        }
        const headers = new Headers(fresh.headers);
        headers.set('x-quern-hash', hash);
        response = new Response(await fresh.blob(), { headers });
      }
      await cache.put(url, response);
    }
  };
  await Promise.all(Array.from({ length: 6 }, next));
  // Says that the copy is complete; a partial one is never used.
  await cache.put(complete, new Response(''));
}

/** Fetches the program for a page that has started no kernel yet. */
function keepProgram() {
  return navigator.locks.request('quern-program', async () => {
    const cache = await caches.open('quern');
    for (const url of [new URL('quern/quern.wasm.gz', base).href, rest]) {
      if (!(await cache.match(url))) {
        await cache.add(url);
      }
    }
  });
}

/** Returns the kept file of a request, or undefined. */
async function find(request) {
  const url = new URL(request.url);
  url.search = url.hash = '';
  if (url.pathname.endsWith('/')) {
    url.pathname += 'index.html';
  }
  if (!known.has(url.href) || !(await caches.match(complete, { cacheName }))) {
    return undefined;
  }
  return caches.match(url.href, { cacheName });
}

async function answer(request) {
  const kept = await find(request).catch(error => console.warn('quern: cannot read the copy of the site:', error));
  return kept ?? fetch(request);
}

self.addEventListener('install', event => {
  event.waitUntil(keep().then(keepProgram).catch(async error => {
    // The site works without a copy, so the service worker starts all the same.
    console.warn('quern: cannot keep the site for use without a network:', error);
    await caches.delete(cacheName);
  }));
});

self.addEventListener('activate', event => {
  event.waitUntil((async () => {
    for (const name of await caches.keys()) {
      if (name.startsWith(PREFIX) && name !== cacheName) {
        await caches.delete(name);
      }
    }
  })());
});

self.addEventListener('fetch', event => {
  const url = new URL(event.request.url);
  if (event.request.method !== 'GET' || url.origin !== base.origin || !url.pathname.startsWith(base.pathname)) {
    return;
  }
  url.search = url.hash = '';
  // The name of the rest of a program says what is in it. A kernel that cannot wait for the cache asks for it.
  if (/\/rest-\w+\.wasm\.gz$/.test(url.pathname)) {
    event.respondWith(caches.match(url.href, { cacheName: 'quern' }).then(kept => kept ?? fetch(event.request)));
    event.stopImmediatePropagation();
    return;
  }
  if (known.has(url.href) || known.has(url.href + 'index.html')) {
    event.respondWith(answer(event.request));
    event.stopImmediatePropagation();
  }
});
