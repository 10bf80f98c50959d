// finite: copies x to y and checks that all elements are finite.
//
// Bound by memory: 8 bytes per float32 element.
//
// variants: f32 f64
#include "device.h"

// The first element that is not finite is reported: 1 for NaN, 2 for +Inf, 3 for -Inf.
KERNEL(finite, 256, 4)(real *y, const real *x, Fault *fault, u64 n) {
  for (u64 i = (u64)block() * 256 + thread(); i < n; i += (u64)blocks() * 256) {
    real v = x[i];
    if (y != x) y[i] = v;
    if (!(v - v == 0)) report(fault, i, isNaN(v) ? 1 : v > 0 ? 2 : 3);
  }
}
