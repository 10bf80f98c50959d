// Matrix multiplication with 128-bit vectors, for which Go's compiler has no instructions: a WebAssembly module beside
// Go's that works in Go's memory. It is assembled here, since its twelve functions differ only in their loops.
//
// A tile computes up to 6 rows and 8 columns of c (+)= a·b in registers, as the functions `tile` of Go's package
// accel/internal/cpu, whose file simd.go calls it. Products and sums are rounded as in Go, in the same order.

const ROWS = 6;
const VECTORS = 2; // of four elements

const I32 = 0x7f;
const V128 = 0x7b;
// The parameters of a tile, all i32. Distances are in bytes.
const [K, A, ROW, STEP, B, NEXT, C, LDC, MODE, BIAS] = Array(10).keys();
const PARAMETERS = 10;

/** @param {number} n */
function leb(n) {
  const bytes = [];
  for (;;) {
    if (n < 0x80) {
      return [...bytes, n];
    }
    bytes.push((n & 0x7f) | 0x80);
    n >>>= 7;
  }
}
/** @param {number[][]} items */
const vector = items => [...leb(items.length), ...items.flat()];
/** @param {number} id @param {number[]} content */
const section = (id, content) => [id, ...leb(content.length), ...content];
/** @param {string} text */
const name = text => vector([...new TextEncoder().encode(text)].map(b => [b]));

/** @param {number} i */
const get = i => [0x20, ...leb(i)];
/** @param {number} i */
const set = i => [0x21, ...leb(i)];
/** @param {number} i */
const tee = i => [0x22, ...leb(i)];
/** @param {number} n less than 64 */
const constant = n => [0x41, n];
const ADD = [0x6a];
const AND = [0x71];
const END = [0x0b];
const IF = [0x04, 0x40];
/** @param {number} offset */
const load = offset => [0xfd, 0x00, 0x02, ...leb(offset)];
/** @param {number} offset */
const store = offset => [0xfd, 0x0b, 0x02, ...leb(offset)];
const SPLAT = [0xfd, 0x09, 0x02, 0x00]; // loads an element into all lanes
const VADD = [0xfd, 0xe4, 0x01];
const VMUL = [0xfd, 0xe6, 0x01];
const VMAX = [0xfd, 0xe9, 0x01];

/** The body of a tile with a number of rows and vectors. @param {number} rows @param {number} vectors */
function tile(rows, vectors) {
  /** The pointer into a row of a; later into a row of c. @param {number} i */
  const pointer = i => PARAMETERS + i;
  /** @param {number} i @param {number} v */
  const sum = (i, v) => PARAMETERS + rows + i * vectors + v;
  /** @param {number} v */
  const right = v => PARAMETERS + rows + rows * vectors + v;
  const left = right(vectors);
  /** @param {(i: number, v: number) => number[]} f */
  const each = f => Array.from({ length: rows * vectors }, (_, n) => f(Math.floor(n / vectors), n % vectors)).flat();
  /** @param {(i: number) => number[]} f @param {number} n */
  const times = (n, f) => Array.from({ length: n }, (_, i) => f(i)).flat();
  /** Sets the pointers to rows that begin at a parameter. @param {number} from @param {number} distance */
  const rowsOf = (from, distance) =>
    times(rows, i => i ? [...get(pointer(i - 1)), ...get(distance), ...ADD, ...set(pointer(i))] : [...get(from), ...set(pointer(0))]);
  const body = [
    ...rowsOf(A, ROW),
    ...get(K), ...IF,
    0x03, 0x40, // loop
    ...times(vectors, v => [...get(B), ...load(16 * v), ...set(right(v))]),
    ...times(rows, i => [
      ...get(pointer(i)), ...SPLAT, ...set(left),
      ...times(vectors, v => [...get(sum(i, v)), ...get(left), ...get(right(v)), ...VMUL, ...VADD, ...set(sum(i, v))]),
      ...get(pointer(i)), ...get(STEP), ...ADD, ...set(pointer(i))
    ]),
    ...get(B), ...get(NEXT), ...ADD, ...set(B),
    ...get(K), 0x41, 0x7f, ...ADD, ...tee(K), // k - 1
    0x0d, 0x00, ...END, // continue unless it is 0
    ...END,
    ...rowsOf(C, LDC),
    ...get(MODE), ...constant(1), ...AND, ...IF,
    ...each((i, v) => [...get(sum(i, v)), ...get(pointer(i)), ...load(16 * v), ...VADD, ...set(sum(i, v))]),
    ...END,
    ...get(BIAS), ...IF,
    ...times(vectors, v => [...get(BIAS), ...load(16 * v), ...set(right(v))]),
    ...each((i, v) => [...get(sum(i, v)), ...get(right(v)), ...VADD, ...set(sum(i, v))]),
    ...END,
    ...get(MODE), ...constant(2), ...AND, ...IF,
    ...constant(0), 0xfd, 0x11, ...set(left), // i32x4.splat
    ...each((i, v) => [...get(sum(i, v)), ...get(left), ...VMAX, ...set(sum(i, v))]),
    ...END,
    ...each((i, v) => [...get(pointer(i)), ...get(sum(i, v)), ...store(16 * v)]),
    ...END
  ];
  const locals = vector([[rows, I32], [(rows + 1) * vectors + 1, V128]]);
  const code = [...locals, ...body];
  return [...leb(code.length), ...code];
}

/** Calls the tile with a number, the first parameter; larger ones, which are called most, come first. */
function dispatch() {
  const body = Array.from({ length: ROWS * VECTORS }, (_, i) => ROWS * VECTORS - 1 - i).flatMap(f => [
    ...get(0), ...constant(f), 0x46, ...IF, // i32.eq
    ...Array.from({ length: PARAMETERS }, (_, i) => get(i + 1)).flat(), 0x10, ...leb(f), 0x0f,
    ...END
  ]);
  const code = [...vector([]), ...body, ...END];
  return [...leb(code.length), ...code];
}

function assemble() {
  /** @param {number} n */
  const type = n => [0x60, ...vector(Array.from({ length: n }, () => [I32])), ...vector([])];
  const count = ROWS * VECTORS;
  return new Uint8Array([
    0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00,
    ...section(1, vector([type(PARAMETERS), type(PARAMETERS + 1)])),
    ...section(2, vector([[...name('go'), ...name('memory'), 0x02, 0x00, 0x00]])),
    ...section(3, vector([...Array.from({ length: count }, () => [0]), [1]])),
    ...section(7, vector([[...name('tile'), 0x00, ...leb(count)]])),
    ...section(10, vector([
      ...Array.from({ length: count }, (_, f) => tile(Math.floor(f / VECTORS) + 1, f % VECTORS + 1)), dispatch()
    ]))
  ]);
}

/**
 * Adds the functions to what Go imports; returns a function that connects them to Go's memory before it runs.
 * @param {any} importObject
 * @returns {(memory: WebAssembly.Memory) => void}
 */
export function addVectorFunctions(importObject) {
  const module = new WebAssembly.Module(assemble());
  /** @type {any} */
  let functions;
  importObject.quern = {
    /** @type {(f: number, k: number, a: number, row: number, step: number, b: number, next: number, c: number, ldc: number, mode: number, bias: number) => void} */
    tile: (f, k, a, row, step, b, next, c, ldc, mode, bias) => functions.tile(f, k, a, row, step, b, next, c, ldc, mode, bias)
  };
  return memory => {
    functions = new WebAssembly.Instance(module, { go: { memory } }).exports;
  };
}
