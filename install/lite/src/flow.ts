// Keeps the page from falling behind a cell that sends faster than JupyterLab draws: few messages are under way, and one that
// waits is dropped if a later one makes it invisible.

/** How many messages the page may not have taken yet. */
const UNDER_WAY = 64;

const OUTPUT = ['stream', 'display_data', 'clear_output'];
const REPLACEABLE = /"msg_type":"(update_display_data|comm_msg|clear_output|stream|display_data)"/;

interface Waiting {
  text: string;
  buffers: Uint8Array[];
  cell: string;
  type: string;
  replaces?: string; // what it shows the last state of: a display, or the state of a widget
}

/** Sends messages to the page in order. */
export class Flow {
  constructor(private readonly post: (text: string, buffers: Uint8Array[]) => void) {}

  /** Sends a message, or lets it wait until the page has taken others. */
  send(text: string, buffers: Uint8Array[]): void {
    if (this.underWay < UNDER_WAY) {
      this.pass(text, buffers);
      return;
    }
    this.add(describe(text, buffers));
  }

  /** The page has taken a message. */
  taken(): void {
    this.underWay--;
    const next = this.waiting.shift();
    if (next) {
      this.pass(next.text, next.buffers);
    }
  }

  private pass(text: string, buffers: Uint8Array[]): void {
    this.underWay++;
    this.post(text, buffers);
  }

  private add(message: Waiting): void {
    if (message.replaces) {
      this.drop(w => w.replaces === message.replaces);
    } else if (message.type === 'stream' || message.type === 'display_data') {
      // A clear_output, which may wait for this output, takes effect.
      const cleared = this.waiting.map(w => w.type === 'clear_output' && w.cell === message.cell).lastIndexOf(true);
      this.drop((w, i) => i < cleared && w.cell === message.cell && OUTPUT.includes(w.type));
    }
    this.waiting.push(message);
  }

  private drop(invisible: (w: Waiting, index: number) => boolean): void {
    this.waiting = this.waiting.filter((w, i) => !invisible(w, i));
  }

  private waiting: Waiting[] = [];
  private underWay = 0;
}

function describe(text: string, buffers: Uint8Array[]): Waiting {
  const other = { text, buffers, cell: '', type: '' };
  if (!REPLACEABLE.test(text.slice(0, 2000))) {
    return other;
  }
  const { header, parent_header, content } = JSON.parse(text);
  const message: Waiting = { ...other, cell: parent_header?.msg_id ?? '', type: header.msg_type };
  if (message.type === 'update_display_data') {
    message.replaces = `${message.cell} display ${content.transient?.display_id}`;
  } else if (message.type === 'comm_msg' && content.data?.method === 'update' && buffers.length === 0) {
    // The state has only what has changed.
    message.replaces = `${message.cell} widget ${content.comm_id} ${Object.keys(content.data.state).sort().join()}`;
  }
  return message;
}
