// norm: LayerNorm and RMSNorm of each row of x [rows, n], and their gradients.
//
// Bound by memory: per float32 element 8 bytes forward, 12 for the gradient of the input, 8
// for the gradients of the parameters; half of that for 16-bit floats. One warp computes a row of up to 1024 elements, one
// block a longer one. Each pass (mean, variance around it, result) reads the row again from
// the cache, or from registers. The gradients of the parameters are summed over blocks of
// rows, whose number depends on the shape alone, and then over the blocks in order.
//
// variants: f32 f64
#include "device.h"

// Elements is a thread's part of a row. For rows of up to 1024 float32, which one warp
// computes, it is loaded into registers at once; for others, elements are read when needed.
template <int size, bool held> struct Elements {
  const void *x;
  u32 kind, n;
  u64 first;
  MEMBER Elements(const void *x, u32 kind, u64 first, u32 n) : x(x), kind(kind), n(n), first(first) {}
  template <typename F> MEMBER void each(F f) const {
    typed(kind, [&](auto t) __attribute__((always_inline)) {
      const decltype(t) *from = (const decltype(t) *)x + first;
      for (u32 i = Team<size>::member(); i < n; i += size) f(i, number(from[i]));
    });
  }
  // with calls f with the elements of another row, too.
  template <typename F> MEMBER void with(const Elements &other, F f) const {
    typed(other.kind, [&](auto t) __attribute__((always_inline)) {
      const decltype(t) *from = (const decltype(t) *)other.x + other.first;
      each([&](u32 i, real x) __attribute__((always_inline)) { f(i, x, number(from[i])); });
    });
  }
};
template <int size> struct Elements<size, true> {
  real v[32];
  u32 n;
  MEMBER Elements(const void *x, u32 kind, u64 first, u32 n) : n(n) {
    typed(kind, [&](auto t) __attribute__((always_inline)) {
      const decltype(t) *from = (const decltype(t) *)x + first;
#pragma unroll
      for (u32 j = 0; j < 32; j++) v[j] = lane() + j * 32 < n ? number(from[lane() + j * 32]) : 0;
    });
  }
  template <typename F> MEMBER void each(F f) const {
#pragma unroll
    for (u32 j = 0; j < 32; j++)
      if (lane() + j * 32 < n) f(lane() + j * 32, v[j]);
  }
  template <typename F> MEMBER void with(const Elements &other, F f) const {
#pragma unroll
    for (u32 j = 0; j < 32; j++)
      if (lane() + j * 32 < n) f(lane() + j * 32, v[j], other.v[j]);
  }
};
template <int size> using Part = Elements<size, size == 32 && sizeof(real) == 4>;

template <int size> struct Row {
  using Members = Team<size>;
  real mean, scale;

  // of computes the mean, 0 unless centered, and 1/√(variance + ε).
  template <typename P> DEVICE Row of(const P &part, u32 n, u32 centered, double epsilon) {
    Row r = {0, 0};
    if (centered) {
      double sum = 0; // so that the mean of equal numbers is the number
      part.each([&](u32, real x) __attribute__((always_inline)) { sum += x; });
      r.mean = (real)(Members::template across<Sum>(sum) / (double)n);
    }
    real squares = 0;
    part.each([&](u32, real x) __attribute__((always_inline)) {
      real d = x - r.mean;
      squares = fused(d, d, squares);
    });
    squares = Members::template across<Sum>(squares);
    r.scale = 1 / root(squares / (real)n + (real)epsilon);
    return r;
  }
};

template <int size>
DEVICE void norm(void *y, const void *x, const real *w, const real *b, double epsilon, u32 rows, u32 n, u32 centered, u32 yKind, u32 xKind) {
  using Members = Team<size>;
  for (u32 row = Members::row(); row < rows; row += Members::rows()) {
    u64 first = (u64)row * n;
    Part<size> part(x, xKind, first, n);
    Row<size> r = Row<size>::of(part, n, centered, epsilon);
    part.each([&](u32 i, real x) __attribute__((always_inline)) {
      real v = (x - r.mean) * r.scale * w[i];
      putAs(y, yKind, first + i, centered ? v + b[i] : v);
    });
  }
}

KERNEL(norm_warp, 256, 3)
(void *y, const void *x, const real *w, const real *b, double epsilon, u32 rows, u32 n, u32 centered, u32 yKind, u32 xKind) {
  norm<32>(y, x, w, b, epsilon, rows, n, centered, yKind, xKind);
}
KERNEL(norm_block, 256, 4)
(void *y, const void *x, const real *w, const real *b, double epsilon, u32 rows, u32 n, u32 centered, u32 yKind, u32 xKind) {
  norm<256>(y, x, w, b, epsilon, rows, n, centered, yKind, xKind);
}

// norm_input: with x̂ for the normalized x and g = dy·w,
// dx = (g - mean(g) - x̂·mean(g·x̂))·scale, without the mean unless centered.
template <int size>
DEVICE void input(void *dx, const void *x, const void *dy, const real *w, double epsilon, u32 rows, u32 n, u32 centered, u32 dxKind, u32 xKind, u32 dyKind) {
  using Members = Team<size>;
  for (u32 row = Members::row(); row < rows; row += Members::rows()) {
    u64 first = (u64)row * n;
    Part<size> part(x, xKind, first, n), slopes(dy, dyKind, first, n);
    Row<size> r = Row<size>::of(part, n, centered, epsilon);
    real sum = 0, product = 0;
    part.with(slopes, [&](u32 i, real x, real slope) __attribute__((always_inline)) {
      real g = slope * w[i];
      sum += g;
      product = fused(g, (x - r.mean) * r.scale, product);
    });
    product = Members::template across<Sum>(product) / (real)n;
    sum = centered ? Members::template across<Sum>(sum) / (real)n : 0;
    part.with(slopes, [&](u32 i, real x, real slope) __attribute__((always_inline)) {
      real hat = (x - r.mean) * r.scale;
      putAs(dx, dxKind, first + i, (slope * w[i] - sum - hat * product) * r.scale);
    });
  }
}

KERNEL(norm_input_warp, 256, 2)
(void *dx, const void *x, const void *dy, const real *w, double epsilon, u32 rows, u32 n, u32 centered, u32 dxKind, u32 xKind, u32 dyKind) {
  input<32>(dx, x, dy, w, epsilon, rows, n, centered, dxKind, xKind, dyKind);
}
KERNEL(norm_input_block, 256, 4)
(void *dx, const void *x, const void *dy, const real *w, double epsilon, u32 rows, u32 n, u32 centered, u32 dxKind, u32 xKind, u32 dyKind) {
  input<256>(dx, x, dy, w, epsilon, rows, n, centered, dxKind, xKind, dyKind);
}

// norm_rows stores the mean and scale of each row, [rows, 2], for norm_weight.
template <int size> DEVICE void keep(real *kept, const void *x, double epsilon, u32 rows, u32 n, u32 centered, u32 xKind) {
  using Members = Team<size>;
  for (u32 row = Members::row(); row < rows; row += Members::rows()) {
    Row<size> r = Row<size>::of(Part<size>(x, xKind, (u64)row * n, n), n, centered, epsilon);
    if (Members::member() == 0) kept[2 * row] = r.mean, kept[2 * row + 1] = r.scale;
  }
}

KERNEL(norm_rows_warp, 256, 3)(real *kept, const void *x, double epsilon, u32 rows, u32 n, u32 centered, u32 xKind) {
  keep<32>(kept, x, epsilon, rows, n, centered, xKind);
}
KERNEL(norm_rows_block, 256, 4)(real *kept, const void *x, double epsilon, u32 rows, u32 n, u32 centered, u32 xKind) {
  keep<256>(kept, x, epsilon, rows, n, centered, xKind);
}

// norm_weight sums dy·x̂ and dy over part p's rows, for 32 columns per block; its eight
// warps process the rows in rotation. partial is [parts, 2, n].
KERNEL(norm_weight, 256, 4)(real *partial, const void *x, const void *dy, const real *kept, u32 rows, u32 n, u32 rowsEach, u32 xKind, u32 dyKind) {
  static SHARED real parts[2][8][32];
  u32 column = block() * 32 + lane(), part = blockY();
  u32 from = part * rowsEach, to = least(from + rowsEach, rows);
  real dw = 0, db = 0;
  if (column < n)
    typed(xKind, [&](auto tx) __attribute__((always_inline)) {
      typed(dyKind, [&](auto ty) __attribute__((always_inline)) {
        for (u32 row = from + warp(); row < to; row += 8) {
          u64 at = (u64)row * n + column;
          real slope = number(((const decltype(ty) *)dy)[at]);
          dw = fused(slope, (number(((const decltype(tx) *)x)[at]) - kept[2 * row]) * kept[2 * row + 1], dw);
          db += slope;
        }
      });
    });
  parts[0][warp()][lane()] = dw;
  parts[1][warp()][lane()] = db;
  barrier();
  if (warp() < 2 && column < n) {
    real sum = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) sum += parts[warp()][i][lane()];
    partial[(u64)(part * 2 + warp()) * n + column] = sum;
  }
}

// norm_weight_sum adds the parts in order: dw and, with two result rows, db.
KERNEL(norm_weight_sum, 256, 4)(real *y, const real *partial, u32 n, u32 parts, u32 results) {
  u32 i = block() * 256 + thread();
  if (i >= results * n) return;
  u32 which = i / n, column = i % n;
  real sum = 0;
  for (u32 p = 0; p < parts; p++) sum += partial[(u64)(p * 2 + which) * n + column];
  y[i] = sum;
}
