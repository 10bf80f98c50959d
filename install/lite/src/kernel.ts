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

/** Returns a Web Worker that loads Go, whose messages wait until a kernel starts it. */
export function loadWorker(program: string): Worker {
  const worker = new Worker(new URL('./worker.js', import.meta.url));
  const message: ToWorker = { type: 'load', program };
  worker.postMessage(message);
  return worker;
}

/** Passes messages between JupyterLab and Go in a Web Worker, and starts the worker again when Go ends. */
export class QuernKernel implements IKernel {
  readonly id: string;
  readonly name: string;
  readonly location: string;

  constructor(
    options: IKernel.IOptions,
    private readonly program: string,
    private readonly contents: Contents.IManager,
    prepared?: Worker
  ) {
    this.id = options.id;
    this.name = options.name;
    this.location = options.location;
    this.pass = options.sendMessage;
    this.start(prepared);
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
    await this.started.promise;
    if (this.broken) {
      this.decline(msg, this.broken);
      return;
    }
    if (msg.header.msg_type === 'execute_request') {
      this.pending.set(msg.header.msg_id, msg);
    }
    const { buffers, ...rest } = msg;
    this.post({ type: 'message', text: JSON.stringify(rest), buffers: (buffers ?? []).map(view) });
  }

  async interrupt(): Promise<void> {
    await this.started.promise;
    if (this.broken) {
      return;
    }
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

  private start(worker = loadWorker(this.program)): void {
    this.worker = worker;
    worker.onmessage = event => this.receive(worker, event.data as FromWorker);
    worker.onerror = event => this.restart(worker, event.message || 'its Web Worker cannot start');
    this.post({ type: 'start', directory: directory(this.location) });
  }

  private receive(worker: Worker, message: FromWorker): void {
    if (worker !== this.worker || this.ended) {
      return;
    }
    switch (message.type) {
      case 'ready':
        this.running = true;
        this.started.resolve();
        break;
      case 'message':
        this.send(JSON.parse(message.text), message.buffers);
        this.post({ type: 'taken' });
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

  /** Replaces a worker that has ended, and says why; gives up when it ends twice before it is ready. */
  private restart(worker: Worker, reason: string): void {
    if (worker !== this.worker || this.ended) {
      return;
    }
    worker.terminate();
    clearTimeout(this.patience);
    console.error('quern: the kernel ended:', reason);
    if (this.running) {
      this.running = false;
      this.failures = 0;
      this.started = new PromiseDelegate<void>();
      for (const cell of this.pending.values()) {
        this.fail(cell, `the kernel ended: ${reason}; variables are lost; the kernel starts again`);
      }
      this.pending.clear();
      this.reply(undefined, 'iopub', 'status', { execution_state: 'restarting' });
    } else if (++this.failures === 2) {
      // The messages that wait in handleMessage, and later ones, are answered with the reason.
      this.broken = reason;
      this.started.resolve();
      return;
    }
    this.start();
  }

  /** Ends a cell with an error. */
  private fail(cell: Message, text: string): void {
    const content = { ename: 'KernelEnded', evalue: text, traceback: [text] };
    this.reply(cell, 'iopub', 'error', content);
    this.reply(cell, 'shell', 'execute_reply', { status: 'error', execution_count: 0, ...content });
    this.reply(cell, 'iopub', 'status', { execution_state: 'idle' });
  }

  /** Answers a message when Go cannot start, so that each cell says why. JupyterLab sends none before it knows the kernel. */
  private decline(msg: Message, reason: string): void {
    const text = `the kernel cannot start: ${reason}. When that is solved, restart the kernel; the notebook is not lost.`;
    const type = msg.header.msg_type;
    this.reply(msg, 'iopub', 'status', { execution_state: 'busy' });
    if (type === 'execute_request') {
      this.fail(msg, text);
      return;
    }
    const content = type === 'kernel_info_request'
      ? {
        status: 'ok', protocol_version: '5.3', implementation: 'quern', implementation_version: '', banner: text, help_links: [],
        language_info: { name: 'go', version: '', mimetype: 'text/x-go', file_extension: '.go' }
      }
      : { status: 'error', ename: 'KernelEnded', evalue: text, traceback: [] };
    this.reply(msg, msg.channel, type.replace('_request', '_reply'), content);
    this.reply(msg, 'iopub', 'status', { execution_state: 'idle' });
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
  private running = false;
  private failures = 0;
  private broken?: string;
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
