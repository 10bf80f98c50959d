// crossentropy: -ln softmax(x)[label] of each row of x [rows, n], and its gradient
// (softmax(x) - one-hot(label))·dy/rows. dy is a tensor or, if it is constant, a double.
//
// Bound by memory: per float32 element 4 bytes for the loss and 8 for the gradient, or 12
// for rows that do not fit the cache. The gradient's kernel computes the loss y, too, if its
// address is not 0. One warp computes a row of up to 1024 elements, one
// block a longer one. The last block computes the mean of all rows' losses, in a fixed order.
// The kernels named masked do not read rows with the label ignored: their loss and gradient are 0.
//
// variants: f32 f64
#include "device.h"

// mean stores the mean of the losses of all blocks.
DEVICE void mean(real *y, const real *losses, u32 rows) {
  if (!last(0, blocks())) return;
  double sum = 0;
  for (u32 i = thread(); i < rows; i += 256) sum += (double)losses[i];
  sum = Team<256>::across<Sum>(sum);
  if (thread() == 0) *y = (real)(sum / rows);
}

template <int size, bool masked, typename T> DEVICE void loss(real *losses, const T *x, const int *label, Fault *fault, u32 rows, u32 n, int ignored) {
  using Members = Team<size>;
  for (u32 row = Members::row(); row < rows; row += Members::rows()) {
    const T *from = x + (u64)row * n;
    int right = label[row];
    if (masked && right == ignored) {
      if (Members::member() == 0) losses[row] = 0;
      continue;
    }
    if ((u32)right >= n) {
      if (Members::member() == 0) report(fault, row, (u32)right), losses[row] = 0;
      continue;
    }
    Exponentials e = Exponentials::of<size>(from, n);
    if (Members::member() == 0) losses[row] = logarithm(e.sum) - (number(from[right]) - e.top);
  }
}

template <int size, bool masked>
DEVICE void lossOf(real *y, real *losses, const void *x, const int *label, Fault *fault, u32 rows, u32 n, u32 kind, int ignored) {
  typed(kind, [&](auto t) __attribute__((always_inline)) { loss<size, masked>(losses, (const decltype(t) *)x, label, fault, rows, n, ignored); });
  mean(y, losses, rows);
}

KERNEL(crossentropy_warp, 256, 4)(real *y, real *losses, const void *x, const int *label, Fault *fault, u32 rows, u32 n, u32 xKind) {
  lossOf<32, false>(y, losses, x, label, fault, rows, n, xKind, 0);
}
KERNEL(crossentropy_block, 256, 4)(real *y, real *losses, const void *x, const int *label, Fault *fault, u32 rows, u32 n, u32 xKind) {
  lossOf<256, false>(y, losses, x, label, fault, rows, n, xKind, 0);
}
KERNEL(crossentropy_masked_warp, 256, 4)(real *y, real *losses, const void *x, const int *label, Fault *fault, u32 rows, u32 n, u32 xKind, int ignored) {
  lossOf<32, true>(y, losses, x, label, fault, rows, n, xKind, ignored);
}
KERNEL(crossentropy_masked_block, 256, 4)(real *y, real *losses, const void *x, const int *label, Fault *fault, u32 rows, u32 n, u32 xKind, int ignored) {
  lossOf<256, true>(y, losses, x, label, fault, rows, n, xKind, ignored);
}

template <int size, bool masked, typename T>
DEVICE void gradient(void *dx, u32 kind, const T *x, const int *label, real dy, Fault *fault, real *losses, u32 rows, u32 n, int ignored) {
  using Members = Team<size>;
  if (masked) // a loop of its own needs fewer registers
    for (u32 row = Members::row(); row < rows; row += Members::rows()) {
      if (label[row] != ignored) continue;
      if (losses && Members::member() == 0) losses[row] = 0;
      for (u32 i = Members::member(); i < n; i += size) putAs(dx, kind, (u64)row * n + i, (real)0);
    }
  for (u32 row = Members::row(); row < rows; row += Members::rows()) {
    u64 first = (u64)row * n;
    const T *from = x + first;
    int right = label[row];
    if (masked && right == ignored) continue;
    if ((u32)right >= n && Members::member() == 0) report(fault, row, (u32)right);
    Exponentials e = Exponentials::of<size>(from, n);
    if (losses && Members::member() == 0) losses[row] = (u32)right < n ? logarithm(e.sum) - (number(from[right]) - e.top) : 0;
    real factor = 1 / e.sum, scale = dy / (real)rows;
    for (u32 i = Members::member(); i < n; i += size) {
      real p = exponential(number(from[i]) - e.top) * factor;
      putAs(dx, kind, first + i, (p - (real)(i == (u32)right)) * scale);
    }
  }
}

template <int size, bool masked>
DEVICE void gradientOf(void *dx, const void *x, const int *label, const void *dy, Fault *fault, real *y, real *losses, u32 rows, u32 n, u32 dxKind, u32 xKind, u32 constant, int ignored) {
  real slope = constant ? (real) * (const double *)dy : *(const real *)dy;
  typed(xKind, [&](auto t) __attribute__((always_inline)) { gradient<size, masked>(dx, dxKind, (const decltype(t) *)x, label, slope, fault, losses, rows, n, ignored); });
  if (y) mean(y, losses, rows);
}

KERNEL(crossentropy_gradient_warp, 256, 4)(void *dx, const void *x, const int *label, const void *dy, Fault *fault, real *y, real *losses, u32 rows, u32 n, u32 dxKind, u32 xKind, u32 constant) {
  gradientOf<32, false>(dx, x, label, dy, fault, y, losses, rows, n, dxKind, xKind, constant, 0);
}
KERNEL(crossentropy_gradient_block, 256, 4)(void *dx, const void *x, const int *label, const void *dy, Fault *fault, real *y, real *losses, u32 rows, u32 n, u32 dxKind, u32 xKind, u32 constant) {
  gradientOf<256, false>(dx, x, label, dy, fault, y, losses, rows, n, dxKind, xKind, constant, 0);
}
KERNEL(crossentropy_masked_gradient_warp, 256, 4)(void *dx, const void *x, const int *label, const void *dy, Fault *fault, real *y, real *losses, u32 rows, u32 n, u32 dxKind, u32 xKind, u32 constant, int ignored) {
  gradientOf<32, true>(dx, x, label, dy, fault, y, losses, rows, n, dxKind, xKind, constant, ignored);
}
KERNEL(crossentropy_masked_gradient_block, 256, 4)(void *dx, const void *x, const int *label, const void *dy, Fault *fault, real *y, real *losses, u32 rows, u32 n, u32 dxKind, u32 xKind, u32 constant, int ignored) {
  gradientOf<256, true>(dx, x, label, dy, fault, y, losses, rows, n, dxKind, xKind, constant, ignored);
}
