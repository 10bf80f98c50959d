// The Web Worker that runs Go.

import { fileSystem } from './filesystem';
import { Flow } from './flow';
import { OutputLimit } from './output';
import { load, Rest } from './program';
import { addVectorFunctions } from './simd.mjs';
import type { FromWorker, ToWorker } from './protocol';

declare function importScripts(...urls: string[]): void;

// How long the first cell has the network and the processor for itself before the rest of the program is loaded.
const PAUSE = 2000;

const scope = globalThis as any;

// Messages that wait for a kernel: the page loads Go before JupyterLab asks for one.
let held: Array<[FromWorker, Transferable[]]> | undefined = [];
const post = (message: FromWorker, transfer: Transferable[] = []): void => {
  if (held) {
    held.push([message, transfer]);
  } else {
    scope.postMessage(message, transfer);
  }
};

scope.onmessage = (event: MessageEvent<ToWorker>): void => {
  const message = event.data;
  switch (message.type) {
    case 'load':
      run(message.program).then(
        code => post({ type: 'ended', reason: code === 0 ? 'it was shut down' : explain(files?.fatal() ?? `Go ended with exit code ${code}`) }),
        error => post({ type: 'ended', reason: explain(error) })
      );
      break;
    case 'start':
      files?.process.chdir(`/${message.directory}`);
      held?.forEach(([m, transfer]) => scope.postMessage(m, transfer));
      held = undefined;
      break;
    case 'message':
      scope.quernKernel.receive(message.text, message.buffers);
      break;
    case 'taken':
      flow.taken();
      break;
    case 'file':
      files?.answer(message.id, message.result, message.code);
      break;
  }
};

const flow = new Flow((text, buffers) => post({ type: 'message', text, buffers }, buffers.map(b => b.buffer)));

let files: ReturnType<typeof fileSystem> | undefined;

async function run(program: string): Promise<number> {
  if (typeof WebAssembly !== 'object' || typeof DecompressionStream !== 'function') {
    throw new Error('this browser lacks WebAssembly or DecompressionStream: use Chromium 91, Firefox 113, Safari 16.4 or newer');
  }
  files = fileSystem((id, request) => post({ type: 'file', id, request }));
  scope.fs = files.fs;
  scope.process = files.process;
  scope.path = files.path;
  importScripts(`${program}/wasm_exec.js`);
  const limit = new OutputLimit();
  scope.quernHost = {
    send: (message: string, buffers: Uint8Array[]) => {
      for (const text of limit.pass(message)) {
        flow.send(text, buffers);
      }
    },
    ready: () => {
      post({ type: 'ready' });
      setTimeout(() => rest.prepare().catch(error => console.warn('quern: cannot load the rest of the program yet:', error)), PAUSE);
    }
  };
  const go = new scope.Go();
  let code = 0;
  go.exit = (c: number): void => { code = c; };
  go.env = { HOME: '/', TMPDIR: '/tmp', USER: 'user' };
  const connect = addVectorFunctions(go.importObject);
  const module = await WebAssembly.compileStreaming(await load(`${program}/quern.wasm.gz`));
  const rest = new Rest(module, program);
  go.importObject.rest = rest.imports(() => instance.exports);
  const instance = await WebAssembly.instantiate(module, go.importObject);
  connect(instance.exports.mem as WebAssembly.Memory);
  return new Promise((resolve, reject) => {
    // Go also continues in callbacks of promises, where nobody else notices that it fails.
    const resume = go._resume.bind(go);
    go._resume = (): void => {
      try {
        resume();
      } catch (error) {
        reject(error);
      }
    };
    go.run(instance).then(() => resolve(code), reject);
  });
}

function explain(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return /memory|allocat/i.test(text) ? `it has used all the memory that a browser gives a program, at most 4 GB (${text})` : text;
}
