// argsort: the positions of the first k elements of each row of x [rows, n] in sorted order.
//
// A block sorts runs of up to 2048 elements in shared memory with a bitonic network. Longer rows
// are merged from pairs of runs, pass by pass: a thread finds the rank of an element by binary
// search in the other run, so a pass reads about log n elements for each element, mostly from the
// cache. Only the first k elements of a run go to the next pass.
//
// variants: f32 f64
#include "device.h"

constexpr u32 tile = 2048;

// ordered returns bits that compare as unsigned integers as x does; NaN is the largest, and 0 and
// -0 are equal.
DEVICE u32 ordered(float x) {
  u32 b = bits(x + 0.f);
  return isNaN(x) ? ~0u : b >> 31 ? ~b : b | 1u << 31;
}
DEVICE u64 ordered(double x) {
  u64 b = bits64(x + 0.);
  return isNaN(x) ? ~0ull : b >> 63 ? ~b : b | 1ull << 63;
}

typedef decltype(ordered(real())) Key;

DEVICE Key keyOf(real x, u32 descending) { return descending ? ~ordered(x) : ordered(x); }

// argsort_runs sorts runs of width elements, a power of two, and writes the first k positions of
// each.
KERNEL(argsort_runs, 256, 4)(int *y, const real *x, u64 rows, u64 n, u64 k, u64 stride, u32 width, u32 descending) {
  static SHARED Key key[tile];
  static SHARED u32 index[tile];
  u64 runs = (n + width - 1) / width, all = rows * runs; // of a row, and of all rows
  u32 each = tile / width;
  for (u64 first = (u64)block() * each; first < all; first += (u64)blocks() * each) {
    barrier(); // the previous runs have been written
    for (u32 t = thread(); t < tile; t += 256) {
      u64 run = first + t / width, row = run / runs, i = run % runs * width + t % width;
      bool exists = run < all && i < n;
      key[t] = exists ? keyOf(x[row * n + i], descending) : ~(Key)0;
      index[t] = exists ? (u32)i : ~0u; // behind all elements
    }
    for (u32 size = 2; size <= width; size *= 2) { // merges sorted sequences of size/2 elements
      for (u32 half = size / 2, flip = size - 1; half > 0; half /= 2, flip = half) {
        barrier();
        for (u32 p = thread(); p < tile / 2; p += 256) {
          u32 a = p / half * 2 * half + p % half, b = a ^ flip;
          Key s = key[a], t = key[b];
          u32 i = index[a], j = index[b];
          if (t < s || (t == s && j < i)) key[a] = t, key[b] = s, index[a] = j, index[b] = i;
        }
      }
    }
    barrier();
    for (u32 t = thread(); t < tile; t += 256) {
      u64 run = first + t / width, row = run / runs, from = run % runs * width, rank = t % width;
      if (run < all && from + rank < n && rank < k) y[row * stride + from + rank] = (int)(row * n + index[t]);
    }
  }
}

// argsort_merge merges pairs of runs of width elements, and writes the first k positions of each
// pair. Equal elements of the first run come before those of the second.
KERNEL(argsort_merge, 256, 4)(int *y, const int *sorted, const real *x, u64 rows, u64 n, u64 k, u64 stride, u64 width, u32 descending) {
  for (u64 t = (u64)block() * 256 + thread(); t < rows * n; t += (u64)blocks() * 256) {
    u64 row = t / n, i = t % n, rank = i % width, run = i - rank, pair = run / (2 * width) * 2 * width;
    if (rank >= k) continue;
    u64 other = run == pair ? run + width : pair;
    const int *line = sorted + row * n;
    int position = line[i];
    Key v = keyOf(x[position], descending);
    u64 low = 0, high = other < n ? least(least(width, n - other), k) : 0;
    while (low < high) {
      u64 middle = (low + high) / 2;
      Key w = keyOf(x[line[other + middle]], descending);
      if (w < v || (w == v && other == pair))
        low = middle + 1;
      else
        high = middle;
    }
    rank += low;
    if (rank < k) y[row * stride + pair + rank] = position;
  }
}
