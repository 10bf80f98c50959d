// Messages between the page and the Web Worker.

import type { FileRequest } from './files';

/** To the worker. */
export type ToWorker =
  | { type: 'load'; program: string }
  | { type: 'start'; directory: string }
  | { type: 'message'; text: string; buffers: Uint8Array[] }
  | { type: 'taken' } // a message of the worker
  | { type: 'file'; id: number; result?: any; code?: string };

/** From the worker. */
export type FromWorker =
  | { type: 'ready' }
  | { type: 'message'; text: string; buffers: Uint8Array[] }
  | { type: 'ended'; reason: string }
  | { type: 'file'; id: number; request: FileRequest };
