// softmax: y = eˣ/Σeˣ, or its logarithm, of each row of x [rows, n].
//
// Bound by memory: 8 bytes per float32 element, 4 of 16 bits, half as much again for rows that do not fit the cache. One
// warp computes a row of up to 1024 elements, one block a longer one. The row is read
// twice, and neighboring threads read neighboring elements.
//
// variants: f32 f64
#include "device.h"

template <int size, typename T> DEVICE void softmax(void *y, u32 kind, const T *x, u32 rows, u32 n, u32 log) {
  using Members = Team<size>;
  for (u32 row = Members::row(); row < rows; row += Members::rows()) {
    u64 first = (u64)row * n;
    const T *from = x + first;
    Exponentials e = Exponentials::of<size>(from, n);
    if (log) {
      real shift = logarithm(e.sum);
      for (u32 i = Members::member(); i < n; i += size) putAs(y, kind, first + i, number(from[i]) - e.top - shift);
    } else {
      real factor = 1 / e.sum;
      for (u32 i = Members::member(); i < n; i += size) putAs(y, kind, first + i, exponential(number(from[i]) - e.top) * factor);
    }
  }
}

template <int size> DEVICE void softmaxOf(void *y, const void *x, u32 rows, u32 n, u32 log, u32 yKind, u32 xKind) {
  typed(xKind, [&](auto t) __attribute__((always_inline)) { softmax<size>(y, yKind, (const decltype(t) *)x, rows, n, log); });
}

KERNEL(softmax_warp, 256, 4)(void *y, const void *x, u32 rows, u32 n, u32 log, u32 yKind, u32 xKind) { softmaxOf<32>(y, x, rows, n, log, yKind, xKind); }
KERNEL(softmax_block, 256, 4)(void *y, const void *x, u32 rows, u32 n, u32 log, u32 yKind, u32 xKind) { softmaxOf<256>(y, x, rows, n, log, yKind, xKind); }
