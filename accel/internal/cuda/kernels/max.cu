// max: the largest element, or its index, along the middle of x [outer, n, inner].
//
// Bound by memory: 4 bytes per float32 element. If inner is 1, one warp computes a row of
// up to 1024 elements and one block a longer one; else a block computes 32 neighboring
// columns, and its eight warps process the rows in rotation.
//
// variants: f32 f64
#include "device.h"

// Best is the largest element and the index of its first occurrence; NaN counts as the
// largest.
struct Best {
  real value;
  u64 at;
  DEVICE bool before(Best a, Best b) { // b replaces a
    bool na = isNaN(a.value), nb = isNaN(b.value);
    if (na || nb) return nb && (!na || b.at < a.at);
    return b.value > a.value || (b.value == a.value && b.at < a.at);
  }
  DEVICE Best of(Best a, Best b) { return before(a, b) ? b : a; }
};

DEVICE Best swap(Best x, int distance) {
  return Best{swap(x.value, distance), (u64)swap((u32)x.at, distance) | (u64)swap((u32)(x.at >> 32), distance) << 32};
}

DEVICE void write(real *y, int *index, u64 i, Best b) {
  if (index)
    index[i] = (int)b.at;
  else
    y[i] = b.value;
}

// max: one of y and index is null.
template <int size> DEVICE void maxRows(real *y, int *index, const real *x, u64 rows, u64 n) {
  static SHARED real values[8];
  static SHARED u64 places[8];
  using Members = Team<size>;
  for (u64 row = Members::row(); row < rows; row += Members::rows()) {
    const real *from = x + row * n;
    Best best = {minusInfinity<real>(), ~0ull};
    for (u64 i = Members::member(); i < n; i += size) best = Best::of(best, Best{from[i], i});
    best = acrossWarp<Best>(best);
    if (size > 32) {
      barrier();
      if (lane() == 0) values[warp()] = best.value, places[warp()] = best.at;
      barrier();
      best = Best{values[0], places[0]};
#pragma unroll
      for (int w = 1; w < 8; w++) best = Best::of(best, Best{values[w], places[w]});
    }
    if (Members::member() == 0) write(y, index, row, best);
  }
}

KERNEL(max_rows_warp, 256, 4)(real *y, int *index, const real *x, u64 rows, u64 n) { maxRows<32>(y, index, x, rows, n); }
KERNEL(max_rows_block, 256, 4)(real *y, int *index, const real *x, u64 rows, u64 n) { maxRows<256>(y, index, x, rows, n); }

KERNEL(max_columns, 256, 4)(real *y, int *index, const real *x, u64 outer, u64 n, u64 inner) {
  static SHARED real values[8][32];
  static SHARED u64 places[8][32];
  u64 tiles = (inner + 31) / 32;
  for (u64 t = block(); t < outer * tiles; t += blocks()) {
    u64 o = t / tiles, column = t % tiles * 32 + lane();
    Best best = {minusInfinity<real>(), ~0ull};
    if (column < inner)
      for (u64 i = warp(); i < n; i += 8) best = Best::of(best, Best{x[(o * n + i) * inner + column], i});
    barrier();
    values[warp()][lane()] = best.value;
    places[warp()][lane()] = best.at;
    barrier();
    if (warp() == 0 && column < inner) {
#pragma unroll
      for (int w = 1; w < 8; w++) best = Best::of(best, Best{values[w][lane()], places[w][lane()]});
      write(y, index, o * inner + column, best);
    }
  }
}
