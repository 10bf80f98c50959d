// sum: sums along the middle dimension of x [outer, n, inner], or means.
//
// Bound by memory: 4 bytes per float32 element, 2 of 16 bits. Additions are in float64, and the sum or the mean
// is rounded once, so that the mean of equal numbers is the number: a conversion and an addition
// per element are faster than memory even with few FP64 units. If inner is 1, one warp sums a row
// of up to 1024 elements and one block a longer one; else a block sums 32 neighboring columns, and
// its eight warps process the rows in rotation. If n is long and there are few blocks, n is
// split into parts, whose number depends on the shape alone, and a second pass adds the
// results of the parts in order: the same bits every time.
//
// variants: f32 f64
#include "device.h"

// keep stores a sum: in the workspace if there is a second pass, else divided in y.
DEVICE void keep(real *y, double *work, u64 i, double sum, double divisor) {
  if (work) work[i] = sum;
  else y[i] = (real)(sum / divisor);
}

// sum_rows: y[row, part] = Σ x[row, part·each …].
template <int size, typename T> DEVICE void sumRows(real *y, double *work, const T *x, u64 rows, u64 n, u64 each, u32 parts, double divisor) {
  using Members = Team<size>;
  for (u64 t = Members::row(); t < rows * parts; t += Members::rows()) {
    u64 row = t / parts, part = t - row * parts;
    const T *from = x + row * n;
    u64 end = least((part + 1) * each, n);
    double a = 0, b = 0, c = 0, d = 0; // four loads in flight
    u64 i = part * each + Members::member();
    for (; i + 3 * size < end; i += 4 * size) {
      a += number(from[i]);
      b += number(from[i + size]);
      c += number(from[i + 2 * size]);
      d += number(from[i + 3 * size]);
    }
    for (; i < end; i += size) a += number(from[i]);
    double sum = Members::template across<Sum>((a + b) + (c + d));
    if (Members::member() == 0) keep(y, work, t, sum, divisor);
  }
}

template <int size> DEVICE void sumRowsOf(real *y, double *work, const void *x, u64 rows, u64 n, u64 each, u32 parts, u32 kind, double divisor) {
  typed(kind, [&](auto t) __attribute__((always_inline)) { sumRows<size>(y, work, (const decltype(t) *)x, rows, n, each, parts, divisor); });
}

KERNEL(sum_rows_warp, 256, 4)(real *y, double *work, const void *x, u64 rows, u64 n, u64 each, u32 parts, u32 xKind, double divisor) {
  sumRowsOf<32>(y, work, x, rows, n, each, parts, xKind, divisor);
}
KERNEL(sum_rows_block, 256, 4)(real *y, double *work, const void *x, u64 rows, u64 n, u64 each, u32 parts, u32 xKind, double divisor) {
  sumRowsOf<256>(y, work, x, rows, n, each, parts, xKind, divisor);
}

// sum_parts_block: y[row] = Σ over the parts of x[row, part].
KERNEL(sum_parts_block, 256, 4)(real *y, const double *x, u64 rows, u64 parts, double divisor) { sumRows<256>(y, (double *)0, x, rows, parts, parts, 1, divisor); }

// sum_columns: y[part, outer, inner] = Σ x[outer, part·each …, inner].
template <typename T> DEVICE void sumColumns(real *y, double *work, const T *x, u32 outer, u64 n, u64 inner, u64 each, u32 parts, double divisor) {
  static SHARED double group[8][32];
  u32 tiles = (u32)((inner + 31) / 32);
  for (u64 t = block(); t < (u64)parts * outer * tiles; t += blocks()) {
    u64 tile = t % tiles, o = t / tiles % outer, part = t / tiles / outer;
    u64 column = tile * 32 + lane(), end = least((part + 1) * each, n);
    double a = 0, b = 0;
    if (column < inner) {
      const T *from = x + o * n * inner + column;
      u64 i = part * each + warp();
      for (; i + 8 < end; i += 16) {
        a += number(from[i * inner]);
        b += number(from[(i + 8) * inner]);
      }
      if (i < end) a += number(from[i * inner]);
    }
    barrier(); // the previous tile has been read
    group[warp()][lane()] = a + b;
    barrier();
    if (warp() == 0 && column < inner) {
      double sum = 0;
#pragma unroll
      for (int w = 0; w < 8; w++) sum += group[w][lane()];
      keep(y, work, (part * outer + o) * inner + column, sum, divisor);
    }
  }
}

KERNEL(sum_columns, 256, 4)(real *y, double *work, const void *x, u32 outer, u64 n, u64 inner, u64 each, u32 parts, u32 xKind, double divisor) {
  typed(xKind, [&](auto t) __attribute__((always_inline)) { sumColumns(y, work, (const decltype(t) *)x, outer, n, inner, each, parts, divisor); });
}

// sum_parts: y[i] = Σ over the parts, in order, of x[part, i].
KERNEL(sum_parts, 256, 4)(real *y, const double *x, u64 n, u32 parts, double divisor) {
  for (u64 i = (u64)block() * 256 + thread(); i < n; i += (u64)blocks() * 256) {
    double sum = 0;
    for (u32 p = 0; p < parts; p++) sum += x[i + p * n];
    y[i] = (real)(sum / divisor);
  }
}
