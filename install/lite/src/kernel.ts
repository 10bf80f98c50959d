// The kernel on the page: it owns the Web Worker that runs Go.

import type { Contents, KernelMessage } from '@jupyterlab/services';
import type { IKernel } from '@jupyterlite/services';
import { PromiseDelegate, UUID } from '@lumino/coreutils';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import { answer, FileError } from './files';
import type { FileRequest } from './files';
import type { FromWorker, ToWorker } from './protocol';

// How long a cell has to end after an interrupt before its user is told to restart.
const PATIENCE = 5000;

type Message = KernelMessage.IMessage;

/** Passes messages between JupyterLab and Go in a Web Worker, and starts the worker again when Go ends. */
export class QuernKernel implements IKernel {
  readonly id: string;
  readonly name: string;
  readonly location: string;

  constructor(
    options: IKernel.IOptions,
    private readonly program: string,
    private readonly contents: Contents.IManager
  ) {
    this.id = options.id;
    this.name = options.name;
    this.location = options.location;
    this.pass = options.sendMessage;
    this.start();
  }

  /** Messages that arrive before Go is ready wait in handleMessage, so that a kernel that cannot start can say why. */
  get ready(): Promise<void> {
    return Promise.resolve();
  }

  get isDisposed(): boolean {
    return this.ended;
  }

  get disposed(): ISignal<this, void> {
    return this.onDisposed;
  }

  dispose(): void {
    if (this.ended) {
      return;
    }
    this.ended = true;
    clearTimeout(this.patience);
    this.worker?.terminate();
    this.onDisposed.emit();
    Signal.clearData(this);
  }

  /** Returns when Go has the message, not when it has answered: Go has a queue, and interrupts must pass a running cell. */
  async handleMessage(msg: Message): Promise<void> {
    this.session = msg.header.session;
    if (msg.header.msg_type === 'execute_request') {
      this.pending.set(msg.header.msg_id, msg);
    }
    await this.started.promise;
    const { buffers, ...rest } = msg;
    this.post({ type: 'message', text: JSON.stringify(rest), buffers: (buffers ?? []).map(view) });
  }

  async interrupt(): Promise<void> {
    await this.started.promise;
    const header = {
      msg_id: UUID.uuid4(), msg_type: 'interrupt_request', session: this.session, username: '', version: '5.3',
      date: new Date().toISOString()
    };
    this.post({
      type: 'message', buffers: [],
      text: JSON.stringify({ channel: 'control', header, parent_header: {}, metadata: {}, content: {} })
    });
    clearTimeout(this.patience);
    const cell = [...this.pending.values()][0];
    if (cell) {
      this.patience = setTimeout(() => {
        if (this.pending.has(cell.header.msg_id)) {
          this.print(cell, 'the cell has not stopped yet: compiled Go code that does not return cannot be interrupted ' +
            'in a browser. Restart the kernel to end it; variables are lost, the notebook is not.\n');
        }
      }, PATIENCE);
    }
  }

  private start(): void {
    this.started = new PromiseDelegate<void>();
    const worker = new Worker(new URL('./worker.js', import.meta.url));
    this.worker = worker;
    worker.onmessage = event => this.receive(worker, event.data as FromWorker);
    worker.onerror = event => this.restart(worker, event.message || 'its Web Worker cannot start');
    this.post({ type: 'start', program: this.program, directory: directory(this.location) });
  }

  private receive(worker: Worker, message: FromWorker): void {
    if (worker !== this.worker || this.ended) {
      return;
    }
    switch (message.type) {
      case 'ready':
        this.failures = 0;
        this.started.resolve();
        break;
      case 'message':
        this.send(JSON.parse(message.text), message.buffers);
        break;
      case 'file':
        void this.file(worker, message.id, message.request);
        break;
      case 'ended':
        this.restart(worker, message.reason);
        break;
    }
  }

  private send(msg: any, buffers: Uint8Array[]): void {
    if (msg.header.msg_type === 'execute_reply') {
      this.pending.delete(msg.parent_header.msg_id);
    }
    // JupyterLite finds the connection to a client by the session in the header, which is that of the request.
    msg.header.session = msg.parent_header?.session ?? this.session;
    if (msg.header.session) {
      this.pass({ ...msg, buffers: buffers.map(b => b.buffer) });
    }
  }

  private async file(worker: Worker, id: number, request: FileRequest): Promise<void> {
    let reply: ToWorker;
    try {
      reply = { type: 'file', id, result: await answer(this.contents, request) };
    } catch (error) {
      reply = { type: 'file', id, code: error instanceof FileError ? error.code : 'EIO' };
    }
    worker.postMessage(reply);
  }

  /** Replaces a worker that has ended, and says why; gives up when it fails twice without having started. */
  private restart(worker: Worker, reason: string): void {
    if (worker !== this.worker || this.ended) {
      return;
    }
    worker.terminate();
    clearTimeout(this.patience);
    const again = ++this.failures < 2;
    const consequence = again ? 'variables are lost; the kernel starts again' : 'the kernel does not start again: reload the page';
    for (const cell of this.pending.values()) {
      const content = { ename: 'KernelEnded', evalue: reason, traceback: [`the kernel ended: ${reason}; ${consequence}`] };
      this.reply(cell, 'iopub', 'error', content);
      this.reply(cell, 'shell', 'execute_reply', { status: 'error', execution_count: 0, ...content });
      this.reply(cell, 'iopub', 'status', { execution_state: 'idle' });
    }
    this.pending.clear();
    console.error('quern: the kernel ended:', reason);
    this.reply(undefined, 'iopub', 'status', { execution_state: again ? 'restarting' : 'dead' });
    if (again) {
      this.start();
    }
  }

  private print(cell: Message, text: string): void {
    this.reply(cell, 'iopub', 'stream', { name: 'stderr', text });
  }

  private reply(parent: Message | undefined, channel: string, type: string, content: any): void {
    const header = {
      msg_id: UUID.uuid4(), msg_type: type, session: this.session, username: '', version: '5.3', date: new Date().toISOString()
    };
    this.send({ channel, header, parent_header: parent?.header ?? {}, metadata: {}, content }, []);
  }

  private post(message: ToWorker): void {
    this.worker?.postMessage(message);
  }

  private readonly pass: IKernel.SendMessage;
  private readonly onDisposed = new Signal<this, void>(this);
  private readonly pending = new Map<string, Message>();
  private worker?: Worker;
  private started = new PromiseDelegate<void>();
  private session = '';
  private failures = 0;
  private ended = false;
  private patience?: ReturnType<typeof setTimeout>;
}

function view(buffer: ArrayBuffer | ArrayBufferView): Uint8Array {
  return buffer instanceof ArrayBuffer ? new Uint8Array(buffer) : new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
}

/** The folder of a notebook; JupyterLite's location is a folder or the path of the notebook. */
function directory(location: string): string {
  const path = location.replace(/^[^/]*:/, '');
  return path.endsWith('.ipynb') ? path.split('/').slice(0, -1).join('/') : path;
}
