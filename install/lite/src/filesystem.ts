// The functions of Node's fs that Go's wasm_exec.js uses, for files that the page keeps, and temporary files.

import type { FileInfo, FileRequest } from './files';
import { isTemporary, TemporaryFiles } from './memory';

type Callback = (error: any, result?: any) => void;

interface Open {
  path: string;
  data: Uint8Array;
  append: boolean;
  position: number;
  changed: boolean;
  directory: boolean;
}

const O = { O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64, O_EXCL: 128, O_TRUNC: 512, O_APPEND: 1024, O_DIRECTORY: 65536 };

/** The device that Go opens for files that nobody reads. */
const NULL = 'dev/null';

/** The number of the user and of its group; package os/user rejects Go's default, -1. */
const USER = 1000;

/** Returns fs, process and path of Node for files that ask sends to the page, which replies through answer. */
export function fileSystem(ask: (id: number, request: FileRequest) => void) {
  const waiting = new Map<number, { resolve: (result: any) => void; reject: (error: Error) => void }>();
  const open = new Map<number, Open>();
  const logs = ['', '', ''];
  const decoders = [new TextDecoder(), new TextDecoder(), new TextDecoder()];
  let fatal: string | undefined;
  let lastID = 0;
  let lastFD = 2;
  let directory = '/';

  const temporary = new TemporaryFiles();
  const request = async (r: FileRequest): Promise<any> => {
    const inMemory = isTemporary(r.path);
    if (r.op === 'rename' && isTemporary(r.to) !== inMemory) {
      throw fail('EXDEV');
    }
    return inMemory ? temporary.answer(r) : new Promise((resolve, reject) => {
      waiting.set(++lastID, { resolve, reject });
      ask(lastID, r);
    });
  };

  const resolve = (path: string): string => {
    const parts: string[] = [];
    for (const part of (path.startsWith('/') ? path : `${directory}/${path}`).split('/')) {
      if (part === '..') {
        parts.pop();
      } else if (part && part !== '.') {
        parts.push(part);
      }
    }
    return parts.join('/');
  };

  const fail = (code: string): Error => Object.assign(new Error(code), { code });
  const settle = (promise: Promise<any>, done: Callback): void => {
    promise.then(result => done(null, result), error => done(error));
  };
  const refuse = (code: string) => (...args: any[]): void => args[args.length - 1](fail(code));
  const file = (fd: number): Open => {
    const f = open.get(fd);
    if (!f) {
      throw fail('EBADF');
    }
    return f;
  };

  const stats = (i: FileInfo) => ({
    dev: 0, ino: 0, nlink: 1, uid: USER, gid: USER, rdev: 0, blksize: 4096, blocks: Math.ceil(i.size / 512), size: i.size,
    mode: i.directory ? 0o40755 : 0o100644, atimeMs: i.modified, mtimeMs: i.modified, ctimeMs: i.modified,
    isDirectory: () => i.directory
  });
  const stat = async (path: string): Promise<FileInfo> => {
    const p = resolve(path);
    if (p === '' || p === NULL) {
      return { directory: p === '', size: 0, modified: 0 };
    }
    return request({ op: 'stat', path: p });
  };
  const save = async (f: Open): Promise<void> => {
    if (f.changed && f.path !== NULL) {
      f.changed = false;
      await request({ op: 'write', path: f.path, data: f.data });
    }
  };
  const resize = (f: Open, length: number): void => {
    const data = new Uint8Array(length);
    data.set(f.data.subarray(0, length));
    f.data = data;
    f.changed = true;
  };

  async function openFile(path: string, flags: number): Promise<number> {
    const p = resolve(path);
    let info: FileInfo | undefined;
    try {
      info = await stat(path);
    } catch (error: any) {
      if (error.code !== 'ENOENT' || !(flags & O.O_CREAT)) {
        throw error;
      }
    }
    const parent = p.slice(0, Math.max(p.lastIndexOf('/'), 0));
    if (!info && !(await stat('/' + parent)).directory) {
      throw fail('ENOTDIR');
    }
    if (info && flags & O.O_CREAT && flags & O.O_EXCL) {
      throw fail('EEXIST');
    }
    if (info?.directory && flags & (O.O_WRONLY | O.O_RDWR)) {
      throw fail('EISDIR');
    }
    if (flags & O.O_DIRECTORY && !info?.directory) {
      throw fail('ENOTDIR');
    }
    const empty = !info || p === NULL || info.directory || (flags & O.O_TRUNC) !== 0;
    const data: Uint8Array = empty ? new Uint8Array() : await request({ op: 'read', path: p });
    const f: Open = {
      path: p, data, position: 0, append: (flags & O.O_APPEND) !== 0, changed: !info || (flags & O.O_TRUNC) !== 0,
      directory: info?.directory ?? false
    };
    // A new file is visible at once.
    await save(f);
    open.set(++lastFD, f);
    return lastFD;
  }

  function write(fd: number, data: Uint8Array, position: number | null): number {
    if (fd <= 2) {
      logs[fd] += decoders[fd].decode(data, { stream: true });
      const end = logs[fd].lastIndexOf('\n');
      if (end >= 0) {
        fatal ??= /^(fatal error|panic|runtime): .*/m.exec(logs[fd].slice(0, end))?.[0];
        (fd === 1 ? console.log : console.error)(logs[fd].slice(0, end));
        logs[fd] = logs[fd].slice(end + 1);
      }
      return data.length;
    }
    const f = file(fd);
    if (f.path === NULL) {
      return data.length;
    }
    const at = f.append ? f.data.length : position ?? f.position;
    if (at + data.length > f.data.length) {
      resize(f, at + data.length);
    }
    f.data.set(data, at);
    f.changed = true;
    if (position === null) {
      f.position = at + data.length;
    }
    return data.length;
  }

  function read(fd: number, to: Uint8Array, position: number | null): number {
    if (fd <= 2) {
      return 0;
    }
    const f = file(fd);
    if (f.directory) {
      throw fail('EISDIR');
    }
    const at = position ?? f.position;
    const data = f.data.subarray(at, at + to.length);
    to.set(data);
    if (position === null) {
      f.position = at + data.length;
    }
    return data.length;
  }

  const sync = (fd: number): Promise<void> => (fd <= 2 ? Promise.resolve() : (async () => save(file(fd)))());

  const fs = {
    constants: O,
    writeSync: (fd: number, data: Uint8Array) => write(fd, data, null),
    write: (fd: number, data: Uint8Array, offset: number, length: number, position: number | null, done: Callback) =>
      settle((async () => write(fd, data.subarray(offset, offset + length), position))(), done),
    read: (fd: number, data: Uint8Array, offset: number, length: number, position: number | null, done: Callback) =>
      settle((async () => read(fd, data.subarray(offset, offset + length), position))(), done),
    open: (path: string, flags: number, _mode: number, done: Callback) => settle(openFile(path, flags), done),
    close: (fd: number, done: Callback) => settle(sync(fd).finally(() => open.delete(fd)), done),
    fsync: (fd: number, done: Callback) => settle(sync(fd), done),
    stat: (path: string, done: Callback) => settle(stat(path).then(stats), done),
    lstat: (path: string, done: Callback) => settle(stat(path).then(stats), done),
    fstat: (fd: number, done: Callback) =>
      settle((async () => {
        const f = fd <= 2 ? undefined : file(fd);
        return stats({ directory: f?.directory ?? false, size: f?.data.length ?? 0, modified: Date.now() });
      })(), done),
    ftruncate: (fd: number, length: number, done: Callback) => settle((async () => resize(file(fd), length))(), done),
    truncate: (path: string, length: number, done: Callback) =>
      settle((async () => {
        const fd = await openFile(path, O.O_RDWR);
        resize(file(fd), length);
        await sync(fd).finally(() => open.delete(fd));
      })(), done),
    readdir: (path: string, done: Callback) => settle(request({ op: 'list', path: resolve(path) }), done),
    mkdir: (path: string, _mode: number, done: Callback) =>
      settle(stat(path).then(
        () => { throw fail('EEXIST'); },
        () => request({ op: 'mkdir', path: resolve(path) })), done),
    unlink: (path: string, done: Callback) => settle(remove(path, false), done),
    rmdir: (path: string, done: Callback) => settle(remove(path, true), done),
    rename: (from: string, to: string, done: Callback) => settle(rename(from, to), done),
    chmod: (_path: string, _mode: number, done: Callback) => done(null),
    fchmod: (_fd: number, _mode: number, done: Callback) => done(null),
    utimes: (_path: string, _atime: number, _mtime: number, done: Callback) => done(null),
    chown: refuse('ENOSYS'), fchown: refuse('ENOSYS'), lchown: refuse('ENOSYS'), link: refuse('ENOSYS'),
    symlink: refuse('ENOSYS'), readlink: refuse('EINVAL')
  };

  async function remove(path: string, directory: boolean): Promise<void> {
    if ((await stat(path)).directory !== directory) {
      throw fail(directory ? 'ENOTDIR' : 'EISDIR');
    }
    if (directory && (await request({ op: 'list', path: resolve(path) })).length > 0) {
      throw fail('ENOTEMPTY');
    }
    await request({ op: 'remove', path: resolve(path) });
  }

  async function rename(from: string, to: string): Promise<void> {
    const existing = await stat(to).catch(() => undefined);
    if (existing && resolve(from) !== resolve(to)) {
      await remove(to, existing.directory);
    }
    await request({ op: 'rename', path: resolve(from), to: resolve(to) });
  }

  return {
    /** Returns the line with which the Go runtime has said why it ends the program. */
    fatal: () => fatal,
    fs,
    path: { resolve: (...parts: string[]) => '/' + resolve(parts.join('/')) },
    process: {
      getuid: () => USER, getgid: () => USER, geteuid: () => USER, getegid: () => USER,
      getgroups: () => { throw fail('ENOSYS'); },
      pid: -1, ppid: -1,
      umask: () => { throw fail('ENOSYS'); },
      cwd: () => directory,
      chdir: (path: string) => { directory = '/' + resolve(path); }
    },
    answer(id: number, result: any, code?: string): void {
      const w = waiting.get(id);
      waiting.delete(id);
      if (code) {
        w?.reject(fail(code));
      } else {
        w?.resolve(result);
      }
    }
  };
}
