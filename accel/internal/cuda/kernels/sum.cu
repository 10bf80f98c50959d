// sum: sums along the middle dimension of x [outer, n, inner], or means.
//
// Bound by memory: 4 bytes per float32 element, 2 of 16 bits, which y may have, too. Additions are in float64, and the sum or the mean
// is rounded once, so that the mean of equal numbers is the number: a conversion and an addition
// per element are faster than memory even with few FP64 units. If inner is 1, one warp sums a row
// of up to 1024 elements and one block a longer one; else a block sums 32 neighboring columns, and
// its eight warps process the rows in rotation. If n is long and there are few blocks, n is
// split into parts, whose number depends on the shape alone, and the last block of them adds their
// sums in order: the same bits every time.
//
// variants: f32 f64
#include "device.h"

// sum_rows: y[row] = Σ over the parts of Σ x[row, part·each …].
template <int size, typename T> DEVICE void sumRows(void *y, u32 kind, double *work, const T *x, u64 rows, u64 n, u64 each, u32 parts, double divisor) {
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
    if (size == 256 && parts > 1) {
      if (Members::member() == 0) work[t] = sum;
      if (!last((u32)row, parts)) continue;
      sum = 0;
      for (u32 p = Members::member(); p < parts; p += size) sum += work[row * parts + p];
      sum = Members::template across<Sum>(sum);
    }
    if (Members::member() == 0) putAs(y, kind, row, (real)(sum / divisor));
  }
}

template <int size> DEVICE void sumRowsOf(void *y, double *work, const void *x, u64 rows, u64 n, u64 each, u32 parts, u32 xKind, u32 yKind, double divisor) {
  typed(xKind, [&](auto t) __attribute__((always_inline)) { sumRows<size>(y, yKind, work, (const decltype(t) *)x, rows, n, each, parts, divisor); });
}

KERNEL(sum_rows_warp, 256, 4)(void *y, double *work, const void *x, u64 rows, u64 n, u64 each, u32 parts, u32 xKind, u32 yKind, double divisor) {
  sumRowsOf<32>(y, work, x, rows, n, each, parts, xKind, yKind, divisor);
}
KERNEL(sum_rows_block, 256, 4)(void *y, double *work, const void *x, u64 rows, u64 n, u64 each, u32 parts, u32 xKind, u32 yKind, double divisor) {
  sumRowsOf<256>(y, work, x, rows, n, each, parts, xKind, yKind, divisor);
}

// ofWarps returns the sum of a column over the warps.
DEVICE double ofWarps(double (&group)[8][32], double of) {
  barrier(); // the previous sums have been read
  group[warp()][lane()] = of;
  barrier();
  double sum = 0;
#pragma unroll
  for (int w = 0; w < 8; w++) sum += group[w][lane()];
  return sum;
}

// sum_columns: y[outer, inner] = Σ over the parts of Σ x[outer, part·each …, inner].
template <typename T> DEVICE void sumColumns(void *y, u32 kind, double *work, const T *x, u32 outer, u64 n, u64 inner, u64 each, u32 parts, double divisor) {
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
    double sum = ofWarps(group, a + b);
    if (parts > 1) {
      u64 i = o * inner + column, n = (u64)outer * inner;
      if (warp() == 0 && column < inner) work[part * n + i] = sum;
      if (!last((u32)(o * tiles + tile), parts)) continue;
      double each = 0;
      if (column < inner)
        for (u32 p = warp(); p < parts; p += 8) each += work[p * n + i];
      sum = ofWarps(group, each);
    }
    if (warp() == 0 && column < inner) putAs(y, kind, o * inner + column, (real)(sum / divisor));
  }
}

KERNEL(sum_columns, 256, 4)(void *y, double *work, const void *x, u32 outer, u64 n, u64 inner, u64 each, u32 parts, u32 xKind, u32 yKind, double divisor) {
  typed(xKind, [&](auto t) __attribute__((always_inline)) { sumColumns(y, yKind, work, (const decltype(t) *)x, outer, n, inner, each, parts, divisor); });
}
