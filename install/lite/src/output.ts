// Limits the output of a cell: JupyterLab draws all text of an output again with each message, so some megabytes of text
// stop the page for minutes, and an endless loop that prints stops it for ever.

/** The characters of text, and the displays, that a page shows of one cell. */
const TEXT = 1_000_000;
const DISPLAYS = 2000;

const LIMITED = /"msg_type":"(stream|display_data|clear_output)"/;

interface Shown {
  text: number;
  displays: number;
  full: boolean;
}

/** Counts what each cell has shown. */
export class OutputLimit {
  /** Returns the messages to pass to the page for a message of the kernel. */
  pass(message: string): string[] {
    // Other messages are not parsed.
    if (!LIMITED.test(message.slice(0, 2000))) {
      return [message];
    }
    const parsed = JSON.parse(message);
    const cell: string = parsed.parent_header?.msg_id ?? '';
    const shown = this.cells.get(cell) ?? { text: 0, displays: 0, full: false };
    this.cells.set(cell, shown);
    switch (parsed.header.msg_type) {
      case 'clear_output':
        this.cells.delete(cell);
        return [message];
      case 'stream':
        shown.text += parsed.content.text.length;
        break;
      case 'display_data':
        shown.displays++;
        break;
      default:
        return [message];
    }
    if (shown.full) {
      return [];
    }
    if (shown.text <= TEXT && shown.displays <= DISPLAYS) {
      return [message];
    }
    shown.full = true;
    const text = `\nThe rest of the output of this cell is not shown: a page shows ${TEXT / 1e6} MB of text and ${DISPLAYS} displays ` +
      'of a cell. The cell continues; it can write more to a file.\n';
    return [JSON.stringify({
      ...parsed, header: { ...parsed.header, msg_type: 'stream', msg_id: `${parsed.header.msg_id}-limit` },
      content: { name: 'stderr', text }
    })];
  }

  private readonly cells = new Map<string, Shown>();
}
