// The Web Worker that runs Go.

import { fileSystem } from './filesystem';
import type { FromWorker, ToWorker } from './protocol';

declare function importScripts(...urls: string[]): void;

const scope = globalThis as any;
const post = (message: FromWorker, transfer: Transferable[] = []): void => scope.postMessage(message, transfer);

scope.onmessage = (event: MessageEvent<ToWorker>): void => {
  const message = event.data;
  switch (message.type) {
    case 'start':
      run(message.program, message.directory).then(
        code => post({ type: 'ended', reason: code === 0 ? 'it was shut down' : `Go ended with exit code ${code}` }),
        error => post({ type: 'ended', reason: explain(error) })
      );
      break;
    case 'message':
      scope.quernKernel.receive(message.text, message.buffers);
      break;
    case 'file':
      files?.answer(message.id, message.result, message.code);
      break;
  }
};

let files: ReturnType<typeof fileSystem> | undefined;

async function run(program: string, directory: string): Promise<number> {
  if (typeof WebAssembly !== 'object' || typeof DecompressionStream !== 'function') {
    throw new Error('this browser lacks WebAssembly or DecompressionStream: use Chromium 80, Firefox 113, Safari 16.4 or newer');
  }
  files = fileSystem(directory, (id, request) => post({ type: 'file', id, request }));
  scope.fs = files.fs;
  scope.process = files.process;
  scope.path = files.path;
  importScripts(`${program}/wasm_exec.js`);
  scope.quernHost = {
    send: (text: string, buffers: Uint8Array[]) => post({ type: 'message', text, buffers }, buffers.map(b => b.buffer)),
    ready: () => post({ type: 'ready' })
  };
  const go = new scope.Go();
  let code = 0;
  go.exit = (c: number): void => { code = c; };
  go.env = { HOME: '/', PWD: files.process.cwd(), TMPDIR: '/tmp' };
  const { instance } = await WebAssembly.instantiateStreaming(await load(`${program}/quern.wasm.gz`), go.importObject);
  await go.run(instance);
  return code;
}

/** Fetches a compressed program, or takes it from the cache if there is no network or the server has no newer one. */
async function load(url: string): Promise<Response> {
  const cache = 'caches' in scope ? await caches.open('quern').catch(() => undefined) : undefined;
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
    throw new Error(`cannot load ${url}: the server answered ${fresh.status} ${fresh.statusText}`);
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

function explain(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return /memory|allocat/i.test(text) ? `the browser gave Go no more memory (${text})` : text;
}
