// softmax: y = eˣ/Σeˣ, or its logarithm, of each row of x [rows, n].
//
// Bound by memory: 8 bytes per float32 element, 12 for rows that do not fit the cache. One
// warp computes a row of up to 1024 elements, one block a longer one. The row is read
// twice, and neighboring threads read neighboring elements.
//
// variants: f32 f64
#include "device.h"

template <int size> DEVICE void softmax(real *y, const real *x, u32 rows, u32 n, u32 log) {
  using Members = Team<size>;
  for (u32 row = Members::row(); row < rows; row += Members::rows()) {
    const real *from = x + (u64)row * n;
    real *to = y + (u64)row * n;
    Exponentials e = Exponentials::of<size>(from, n);
    if (log) {
      real shift = logarithm(e.sum);
      for (u32 i = Members::member(); i < n; i += size) to[i] = from[i] - e.top - shift;
    } else {
      real factor = 1 / e.sum;
      for (u32 i = Members::member(); i < n; i += size) to[i] = exponential(from[i] - e.top) * factor;
    }
  }
}

KERNEL(softmax_warp, 256, 4)(real *y, const real *x, u32 rows, u32 n, u32 log) { softmax<32>(y, x, rows, n, log); }
KERNEL(softmax_block, 256, 4)(real *y, const real *x, u32 rows, u32 n, u32 log) { softmax<256>(y, x, rows, n, log); }
