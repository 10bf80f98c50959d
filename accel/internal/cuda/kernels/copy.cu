// copy: copies x, of any layout, to y in row-major order.
//
// Bound by memory: twice the bytes. There are kernels for elements of 1, 2, 4, 8 and 16 bytes;
// rows of smaller elements that are next to each other are moved as elements of 16 bytes, so
// that a division for each dimension serves them all.
// copy writes contiguously and reads with strides. transpose copies batches of transposed
// matrices by tiles of 32×32 in shared memory, padded by a column against bank conflicts.
// rows copies rows of bytes from one pitch to another, for concatenation.
//
// variants: any
#include "walk.h"

template <typename E> DEVICE void copy(E *y, const E *x, u64 n, const Layout &l) {
  for (u64 i = first(); i < n; i += stride()) y[i] = x[place(l, i)];
}

KERNEL(copy1, 256, 4)(u8 *y, const u8 *x, u64 n, Layout l) { copy(y, x, n, l); }
KERNEL(copy2, 256, 4)(u16 *y, const u16 *x, u64 n, Layout l) { copy(y, x, n, l); }
KERNEL(copy4, 256, 4)(u32 *y, const u32 *x, u64 n, Layout l) { copy(y, x, n, l); }
KERNEL(copy8, 256, 4)(u64 *y, const u64 *x, u64 n, Layout l) { copy(y, x, n, l); }
KERNEL(copy16, 256, 4)(Wide *y, const Wide *x, u64 n, Layout l) { copy(y, x, n, l); }

// y [batch, rows, columns] row-major from a transposed x: its columns are pitch elements
// apart, its matrices step elements.
template <typename E> DEVICE void transpose(E *y, const E *x, u32 rows, u32 columns, i64 pitch, i64 step) {
  static SHARED E tile[32][33];
  u32 acrossTiles = up(columns, 32), tiles = acrossTiles * up(rows, 32);
  u32 batch = block() / tiles, t = block() % tiles;
  u32 row = t / acrossTiles * 32, column = t % acrossTiles * 32;
  const E *from = x + (i64)batch * step;
  E *to = y + (u64)batch * rows * columns;
#pragma unroll
  for (u32 i = 0; i < 32; i += 8) {
    u32 r = row + lane(), c = column + warp() + i;
    if (r < rows && c < columns) tile[warp() + i][lane()] = from[(i64)c * pitch + r];
  }
  barrier();
#pragma unroll
  for (u32 i = 0; i < 32; i += 8) {
    u32 r = row + warp() + i, c = column + lane();
    if (r < rows && c < columns) to[(u64)r * columns + c] = tile[lane()][warp() + i];
  }
}

KERNEL(transpose1, 256, 4)(u8 *y, const u8 *x, u32 rows, u32 columns, i64 pitch, i64 step) { transpose(y, x, rows, columns, pitch, step); }
KERNEL(transpose2, 256, 4)(u16 *y, const u16 *x, u32 rows, u32 columns, i64 pitch, i64 step) { transpose(y, x, rows, columns, pitch, step); }
KERNEL(transpose4, 256, 4)(u32 *y, const u32 *x, u32 rows, u32 columns, i64 pitch, i64 step) { transpose(y, x, rows, columns, pitch, step); }
KERNEL(transpose8, 256, 4)(u64 *y, const u64 *x, u32 rows, u32 columns, i64 pitch, i64 step) { transpose(y, x, rows, columns, pitch, step); }

// Rows have length elements and start fromPitch or toPitch elements apart. The elements of
// y between a row's end and the next row do not change.
template <typename E> DEVICE void rows(E *y, const E *x, u64 count, u64 length, u64 toPitch, u64 fromPitch) {
  for (u64 i = first(); i < count * length; i += stride()) {
    u64 column = i, row = split(column, length);
    y[row * toPitch + column] = x[row * fromPitch + column];
  }
}

KERNEL(rows1, 256, 4)(u8 *y, const u8 *x, u64 count, u64 length, u64 toPitch, u64 fromPitch) { rows(y, x, count, length, toPitch, fromPitch); }
KERNEL(rows4, 256, 4)(u32 *y, const u32 *x, u64 count, u64 length, u64 toPitch, u64 fromPitch) { rows(y, x, count, length, toPitch, fromPitch); }
KERNEL(rows16, 256, 4)(Wide *y, const Wide *x, u64 count, u64 length, u64 toPitch, u64 fromPitch) { rows(y, x, count, length, toPitch, fromPitch); }

// pad: y has rows of size elements. The n elements starting at before are a row of x, the
// others 0. Elements have 1, 4 or 16 bytes.
template <typename E> DEVICE void pad(E *y, const E *x, u64 count, u64 n, u64 before, u64 size) {
  for (u64 i = first(); i < count * size; i += stride()) {
    u64 column = i, row = split(column, size);
    E v = {};
    if (column - before < n) v = x[row * n + column - before];
    y[i] = v;
  }
}

KERNEL(pad1, 256, 4)(u8 *y, const u8 *x, u64 count, u64 n, u64 before, u64 size) { pad(y, x, count, n, before, size); }
KERNEL(pad4, 256, 4)(u32 *y, const u32 *x, u64 count, u64 n, u64 before, u64 size) { pad(y, x, count, n, before, size); }
KERNEL(pad16, 256, 4)(Wide *y, const Wide *x, u64 count, u64 n, u64 before, u64 size) { pad(y, x, count, n, before, size); }
