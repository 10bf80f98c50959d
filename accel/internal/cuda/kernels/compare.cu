// compare: y = 1 where a > b, or where a == b, else 0, for types other than float32 and any
// layouts.
//
// Bound by memory: the bytes of all three tensors.
//
// variants: any
#include "walk.h"

template <typename E> DEVICE void compare(float *y, const E *a, const E *b, u64 n, u32 greater, const Layout &la, const Layout &lb) {
  for (u64 i = first(); i < n; i += stride()) {
    E u = a[place(la, i)], v = b[place(lb, i)];
    y[i] = (greater ? u > v : u == v) ? 1.f : 0.f;
  }
}

KERNEL(compare_float64, 256, 4)(float *y, const double *a, const double *b, u64 n, u32 greater, Layout la, Layout lb) { compare(y, a, b, n, greater, la, lb); }
KERNEL(compare_int32, 256, 4)(float *y, const int *a, const int *b, u64 n, u32 greater, Layout la, Layout lb) { compare(y, a, b, n, greater, la, lb); }
KERNEL(compare_int64, 256, 4)(float *y, const i64 *a, const i64 *b, u64 n, u32 greater, Layout la, Layout lb) { compare(y, a, b, n, greater, la, lb); }
KERNEL(compare_uint8, 256, 4)(float *y, const u8 *a, const u8 *b, u64 n, u32 greater, Layout la, Layout lb) { compare(y, a, b, n, greater, la, lb); }
