// The compressed program that the worker runs, and its rest: functions that notebooks seldom need.

import { gunzipSync } from 'fflate';

/**
 * Fetches a compressed program, or takes it from the cache if there is no network or the server has no newer one.
 * fixed says that the server never changes the file.
 */
export async function load(url: string, fixed = false): Promise<Response> {
  // One at a time, so that two notebooks that open together, or the service worker, download it once.
  if (!('locks' in navigator)) {
    return get(url, fixed);
  }
  let locked = false;
  try {
    return await navigator.locks.request('quern-program', () => {
      locked = true;
      return get(url, fixed);
    });
  } catch (error) {
    if (locked) {
      throw error;
    }
    return get(url, fixed); // browsers that keep nothing for the site deny locks too
  }
}

async function get(url: string, fixed: boolean): Promise<Response> {
  const cache = 'caches' in globalThis ? await caches.open('quern').catch(() => undefined) : undefined;
  const kept = await cache?.match(url);
  const tag = kept?.headers.get('etag') ?? kept?.headers.get('last-modified');
  let fresh: Response | undefined;
  try {
    const head = kept && tag && !fixed ? await fetch(url, { method: 'HEAD', cache: 'no-cache' }) : undefined;
    if (kept && fixed) {
      // It is the file.
    } else if (!head?.ok || (head.headers.get('etag') ?? head.headers.get('last-modified')) !== tag) {
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

/** The rest of a program: instances get it when they call the first of its functions. */
export class Rest {
  /** The name of the rest is the name of the function that the program imports to load it. */
  constructor(program: WebAssembly.Module, private readonly folder: string) {
    this.name = WebAssembly.Module.imports(program).find(i => i.module === 'rest')!.name;
  }

  /** What the program imports. */
  imports(exports: () => WebAssembly.Exports): WebAssembly.ModuleImports {
    return {
      [this.name]: () => {
        const first = exports();
        // Go waits, so the worker cannot.
        this.module ??= new WebAssembly.Module(this.now());
        new WebAssembly.Instance(this.module, { first });
        (first.loaded as WebAssembly.Global).value = 1;
      }
    };
  }

  /** Loads and compiles the rest before it is needed. */
  async prepare(): Promise<void> {
    const response = await load(this.url, true);
    if (!this.module) {
      this.module = await WebAssembly.compileStreaming(response);
    }
    const cache = await caches.open('quern');
    for (const { url } of await cache.keys()) {
      if (/\/rest-\w+\.wasm\.gz$/.test(url) && url !== new URL(this.url, location.href).href) {
        await cache.delete(url); // of an older program
      }
    }
  }

  private now(): BufferSource {
    const request = new XMLHttpRequest();
    request.open('GET', this.url, false);
    request.responseType = 'arraybuffer';
    request.send();
    if (request.status !== 200) {
      throw new Error(`cannot load ${this.url}: the server answered ${request.status}`);
    }
    const data = new Uint8Array(request.response as ArrayBuffer);
    return data[0] === 0x1f && data[1] === 0x8b ? gunzipSync(data) as BufferSource : data;
  }

  private get url(): string {
    return `${this.folder}/rest-${this.name}.wasm.gz`;
  }

  private readonly name: string;
  private module?: WebAssembly.Module;
}
