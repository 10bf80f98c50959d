// The compressed program that the worker runs.

/** Fetches a compressed program, or takes it from the cache if there is no network or the server has no newer one. */
export async function load(url: string): Promise<Response> {
  // One at a time, so that two notebooks that open together, or the service worker, download it once.
  return 'locks' in navigator ? await navigator.locks.request('quern-program', () => get(url)) : get(url);
}

async function get(url: string): Promise<Response> {
  const cache = 'caches' in globalThis ? await caches.open('quern').catch(() => undefined) : undefined;
  const kept = await cache?.match(url);
  const tag = kept?.headers.get('etag') ?? kept?.headers.get('last-modified');
  let fresh: Response | undefined;
  try {
    const head = kept && tag ? await fetch(url, { method: 'HEAD', cache: 'no-cache' }) : undefined;
    if (!head?.ok || (head.headers.get('etag') ?? head.headers.get('last-modified')) !== tag) {
      fresh = await fetch(url);
    }
  } catch (error) {
    if (!kept) {
      throw new Error(`cannot load ${url}: ${error}`);
    }
  }
  if (fresh && !fresh.ok) {
    if (!kept) {
      throw new Error(`cannot load ${url}: the server answered ${fresh.status} ${fresh.statusText}`);
    }
    fresh = undefined;
  }
  if (fresh && cache) {
    // A full disk only costs the copy for offline use.
    await cache.put(url, fresh.clone()).catch(error => console.warn('quern: cannot keep the program for offline use:', error));
  }
  const data = await (fresh ?? kept!).arrayBuffer();
  // Some servers declare files that end in .gz as encoded, so that the browser has already decompressed them.
  const magic = new Uint8Array(data, 0, 2);
  const body = magic[0] === 0x1f && magic[1] === 0x8b
    ? new Blob([data]).stream().pipeThrough(new DecompressionStream('gzip'))
    : data;
  return new Response(body, { headers: { 'Content-Type': 'application/wasm' } });
}
