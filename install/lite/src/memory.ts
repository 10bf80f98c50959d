// Temporary files: they live in the memory of the worker and end with it.

import { FileError } from './files';
import type { FileRequest } from './files';

/** The folder whose files are kept in memory. */
export const TEMPORARY = 'tmp';

/** Says whether a path is that of a temporary file. */
export function isTemporary(path: string): boolean {
  return path === TEMPORARY || path.startsWith(TEMPORARY + '/');
}

interface Entry {
  data?: Uint8Array; // undefined for a folder
  modified: number;
}

/** Answers requests for temporary files; throws a FileError. */
export class TemporaryFiles {
  private readonly entries = new Map<string, Entry>([[TEMPORARY, { modified: Date.now() }]]);

  answer(request: FileRequest): any {
    const { path } = request;
    switch (request.op) {
      case 'stat': {
        const entry = this.find(path);
        return { directory: !entry.data, size: entry.data?.length ?? 0, modified: entry.modified };
      }
      case 'list':
        if (this.find(path).data) {
          throw new FileError('ENOTDIR');
        }
        return this.below(path).map(p => p.slice(path.length + 1)).filter(name => !name.includes('/'));
      case 'read':
        return this.find(path).data?.slice();
      case 'write':
        this.add(path, { data: request.data.slice(), modified: Date.now() });
        return null;
      case 'mkdir':
        this.add(path, { modified: Date.now() });
        return null;
      case 'remove':
        if (path === TEMPORARY) {
          throw new FileError('EPERM');
        }
        this.entries.delete(path);
        return null;
      case 'rename':
        for (const from of [path, ...this.below(path)]) {
          const entry = this.find(from);
          this.entries.delete(from);
          this.add(request.to + from.slice(path.length), entry);
        }
        return null;
    }
  }

  private find(path: string): Entry {
    const entry = this.entries.get(path);
    if (!entry) {
      throw new FileError('ENOENT');
    }
    return entry;
  }

  private add(path: string, entry: Entry): void {
    if (this.find(path.slice(0, path.lastIndexOf('/'))).data) {
      throw new FileError('ENOTDIR');
    }
    this.entries.set(path, entry);
  }

  private below(path: string): string[] {
    return [...this.entries.keys()].filter(p => p.startsWith(path + '/'));
  }
}
