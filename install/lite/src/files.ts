// The user's files: the worker asks for them, and the page answers from JupyterLite's contents.

import type { Contents } from '@jupyterlab/services';

/** What the worker asks for; paths are relative to the root of JupyterLite's files. */
export type FileRequest =
  | { op: 'stat'; path: string }
  | { op: 'list'; path: string }
  | { op: 'read'; path: string }
  | { op: 'write'; path: string; data: Uint8Array }
  | { op: 'mkdir'; path: string }
  | { op: 'remove'; path: string }
  | { op: 'rename'; path: string; to: string };

export interface FileInfo {
  directory: boolean;
  size: number;
  modified: number;
}

/** FileError has a code of POSIX, as Go expects. */
export class FileError extends Error {
  constructor(readonly code: string) {
    super(code);
  }
}

/** Answers a request of the worker; throws a FileError. */
export async function answer(contents: Contents.IManager, request: FileRequest): Promise<any> {
  try {
    return await perform(contents, request);
  } catch (error) {
    if (error instanceof FileError) {
      throw error;
    }
    const status = (error as any)?.response?.status;
    const quota = (error as any)?.name === 'QuotaExceededError';
    if (request.op !== 'write' && (status === undefined || status === 404)) {
      throw new FileError('ENOENT');
    }
    console.error(`quern: cannot ${request.op} ${request.path}:`, error);
    throw new FileError(quota ? 'ENOSPC' : status === 404 ? 'ENOENT' : 'EIO');
  }
}

async function perform(contents: Contents.IManager, request: FileRequest): Promise<any> {
  switch (request.op) {
    case 'stat':
      return info(await contents.get(request.path, { content: false }));
    case 'list': {
      const model = await contents.get(request.path, { content: true });
      if (model.type !== 'directory') {
        throw new FileError('ENOTDIR');
      }
      return (model.content as Contents.IModel[]).map(entry => entry.name);
    }
    case 'read': {
      const model = await contents.get(request.path, { content: true });
      return bytes(model);
    }
    case 'write':
      await contents.save(request.path, await model(request.path, request.data));
      return null;
    case 'mkdir':
      await contents.save(request.path, { type: 'directory' });
      return null;
    case 'remove':
      await contents.delete(request.path);
      return null;
    case 'rename':
      await contents.rename(request.path, request.to);
      return null;
  }
}

function info(model: Contents.IModel): FileInfo {
  return {
    directory: model.type === 'directory',
    size: model.size ?? 0,
    modified: Date.parse(model.last_modified) || 0
  };
}

function bytes(model: Contents.IModel): Uint8Array {
  if (model.type === 'directory') {
    throw new FileError('EISDIR');
  }
  if (model.format === 'base64') {
    return Uint8Array.from(atob(model.content), c => c.charCodeAt(0));
  }
  const text = typeof model.content === 'string' ? model.content : JSON.stringify(model.content, null, 1);
  return new TextEncoder().encode(text);
}

/** Notebooks stay notebooks, so that JupyterLab opens what Go wrote; other text is text. */
async function model(path: string, data: Uint8Array): Promise<Partial<Contents.IModel>> {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    let binary = '';
    for (let i = 0; i < data.length; i += 8192) {
      binary += String.fromCharCode(...data.subarray(i, i + 8192));
    }
    return { type: 'file', format: 'base64', content: btoa(binary), size: data.length };
  }
  if (path.endsWith('.ipynb')) {
    try {
      return { type: 'notebook', format: 'json', content: JSON.parse(text) };
    } catch {
      // Not a notebook.
    }
  }
  return { type: 'file', format: 'text', content: text, size: data.length };
}
