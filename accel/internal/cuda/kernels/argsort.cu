// argsort: the positions of the first k elements of each row of x [rows, n] in sorted order.
//
// Bound by arithmetic: a thread counts the elements that precede its own in its row, n comparisons
// for each element. All threads of a warp read the same elements, mostly of one row, so the row is
// read from the cache.
//
// variants: f32 f64
#include "device.h"

// precedes is whether a comes before b; NaN is the largest.
DEVICE bool precedes(real a, real b, u32 descending) {
  bool less = a < b || (isNaN(b) && !isNaN(a)), more = a > b || (isNaN(a) && !isNaN(b));
  return descending ? more : less;
}

KERNEL(argsort, 256, 4)(int *y, const real *x, u64 rows, u64 n, u64 k, u32 descending) {
  for (u64 t = (u64)block() * 256 + thread(); t < rows * n; t += (u64)blocks() * 256) {
    u64 row = t / n, i = t % n, rank = 0;
    const real *line = x + row * n;
    real v = line[i];
    for (u64 j = 0; j < n; j++) {
      real w = line[j];
      rank += precedes(w, v, descending) || (j < i && !precedes(v, w, descending));
    }
    if (rank < k) y[row * k + rank] = (int)t;
  }
}
