// norm: LayerNorm and RMSNorm of each row of x [rows, n], and their gradients.
//
// Bound by memory: per float32 element 8 bytes forward, 12 for all gradients; half of that for
// 16-bit floats. One warp computes a row of up to 1024 elements, one block a longer one. Each pass
// (mean, variance around it, result) reads the row again from the cache, or from registers. The
// same pass adds up what is normalized, adds to the result, and rounds it.
//
// The kernel of the gradient of x also sums the gradients of the parameters, over the rows of each
// warp in shared memory and then over those of each block. The number of blocks depends on the shape
// alone. The last block of each group adds the group's sums in order, and the last group's those of
// the groups.
//
// variants: f32 f64
#include "device.h"

// The operands whose types are packed, two bits each, in the parameter kinds.
enum Operand { X, Y, DY, TERM, SUM = TERM + 3, ADDEND, COPY };
DEVICE u32 kindOf(u32 kinds, u32 operand) { return kinds >> 2 * operand & 3; }

// plus is never part of a fused multiply-add, so that the result is that of an addition in a kernel of
// its own.
DEVICE float plus(float a, float b) { return __nvvm_add_rn_f(a, b); }
DEVICE double plus(double a, double b) { return __nvvm_add_rn_d(a, b); }

DEVICE real numberAs(const void *x, u32 kind, u64 i) {
  real v;
  typed(kind, [&](auto t) __attribute__((always_inline)) { v = number(((const decltype(t) *)x)[i]); });
  return v;
}
DEVICE real roundedTo(u32 kind, real v) {
  if (sizeof(real) == 8 || kind == 0) return v;
  return kind == 1 ? (real)number(rounded<bf16>((float)v)) : (real)number(rounded<f16>((float)v));
}

// Terms is a tensor, or the sum of up to four, rounded to a type.
struct Terms {
  const void *x, *more[3];
  u32 kind, kinds; // of x, and of all operands
  MEMBER bool single() const { return !more[0]; }
  // of returns term k of those behind the first.
  MEMBER const void *of(u32 k) const { return k == 0 ? more[0] : k == 1 ? more[1] : more[2]; }
  MEMBER real at(u64 i) const {
    real v = numberAs(x, kind, i);
    if (single()) return v;
    for (u32 k = 0; k < 3 && of(k); k++) v = plus(v, numberAs(of(k), kindOf(kinds, TERM + k), i));
    return roundedTo(kindOf(kinds, SUM), v);
  }
};

// Out is a tensor that is written in a type; without an address it is not.
struct Out {
  void *y;
  u32 kind;
  MEMBER void put(u64 i, real v) const {
    if (y) putAs(y, kind, i, v);
  }
};

// Streamed is a thread's part of a row whose elements are read when they are needed.
template <int size> struct Streamed {
  Terms terms;
  u64 first;
  u32 n;
  MEMBER Streamed(const Terms &terms, u64 first, u32 n) : terms(terms), first(first), n(n) {}
  template <typename F> MEMBER void each(F f) const {
    for (u32 i = Team<size>::member(); i < n; i += size) f(terms.at(first + i));
  }
  // weighed calls f with each element, that of another row, and the element of w.
  template <typename F> MEMBER void weighed(const Streamed &other, const real *w, F f) const {
    for (u32 i = Team<size>::member(); i < n; i += size) f(terms.at(first + i), other.terms.at(first + i), w[i]);
  }
  // columns calls f with the indices of the thread's elements.
  template <typename F> DEVICE void columns(u32 n, F f) {
    for (u32 i = Team<size>::member(); i < n; i += size) f(i);
  }
  // accumulate adds to the sums dy·x̂ and, if centered, dy.
  MEMBER void accumulate(const Streamed &slopes, real *sums, real mean, real scale, u32 centered) const {
    columns(n, [&](u32 i) __attribute__((always_inline)) {
      real slope = slopes.terms.at(first + i);
      sums[i] = fused(slope, (terms.at(first + i) - mean) * scale, sums[i]);
      if (centered) sums[n + i] += slope;
    });
  }
  MEMBER void store(Out out) const {
    if (out.y)
      for (u32 i = Team<size>::member(); i < n; i += size) out.put(first + i, terms.at(first + i));
  }
  // finish stores f of what weighed passes, plus an element of b, or of the addend, or neither, in two
  // types.
  template <typename F> MEMBER void finish(const Streamed &other, const real *w, const real *b, const void *addend, u32 kind, Out y, Out copy, F f) {
    for (u32 i = Team<size>::member(); i < n; i += size) {
      real v = f(terms.at(first + i), other.terms.at(first + i), w[i]);
      if (b) v += b[i];
      if (addend) v = plus(v, numberAs(addend, kind, first + i));
      y.put(first + i, v);
      copy.put(first + i, v);
    }
  }
};

typedef float floats __attribute__((ext_vector_type(4)));
typedef u32 words __attribute__((ext_vector_type(4)));

// Eight are neighboring elements of float32, loaded and stored at once.
struct Eight {
  float v[8];

  MEMBER void load(const void *x, u32 kind, u64 i) {
    if (kind == 0) {
      const floats *from = (const floats *)((const float *)x + i);
      floats a = from[0], b = from[1];
#pragma unroll
      for (u32 j = 0; j < 4; j++) v[j] = a[j], v[4 + j] = b[j];
      return;
    }
    words a = *(const words *)((const u16 *)x + i);
#pragma unroll
    for (u32 j = 0; j < 8; j++) {
      u16 b = (u16)(a[j / 2] >> 16 * (j & 1));
      v[j] = kind == 1 ? number(bf16{b}) : number(f16{b});
    }
  }
  MEMBER void store(void *y, u32 kind, u64 i) const {
    if (kind == 0) {
      floats *to = (floats *)((float *)y + i);
      to[0] = floats{v[0], v[1], v[2], v[3]};
      to[1] = floats{v[4], v[5], v[6], v[7]};
      return;
    }
    words a;
#pragma unroll
    for (u32 j = 0; j < 4; j++)
      a[j] = kind == 1 ? rounded<bf16>(v[2 * j]).b | (u32)rounded<bf16>(v[2 * j + 1]).b << 16 : rounded<f16>(v[2 * j]).b | (u32)rounded<f16>(v[2 * j + 1]).b << 16;
    *(words *)((u16 *)y + i) = a;
  }
};

// Held is a thread's part of a row of up to 1024 float32 in registers, for a number of elements and
// addresses that permit loads of eight.
struct Held {
  Eight e[4];
  u64 first;
  u32 n;
  // chunks calls f with each of the thread's chunks and its first element.
  template <typename F> MEMBER void chunks(F f) const {
#pragma unroll
    for (u32 c = 0; c < 4; c++)
      if ((c * 32 + lane()) * 8 < n) f(c, (c * 32 + lane()) * 8);
  }
  MEMBER Held(const Terms &terms, u64 first, u32 n) : first(first), n(n) {
    chunks([&](u32 c, u32 at) __attribute__((always_inline)) { e[c].load(terms.x, terms.kind, first + at); });
    if (terms.single()) return;
#pragma unroll 1
    for (u32 k = 0; k < 3 && terms.of(k); k++) increase(terms.of(k), kindOf(terms.kinds, TERM + k));
    u32 kind = kindOf(terms.kinds, SUM);
    if (kind)
#pragma unroll
      for (u32 c = 0; c < 4; c++)
#pragma unroll
        for (u32 j = 0; j < 8; j++) e[c].v[j] = kind == 1 ? number(rounded<bf16>(e[c].v[j])) : number(rounded<f16>(e[c].v[j]));
  }
  MEMBER void increase(const void *x, u32 kind) {
    chunks([&](u32 c, u32 at) __attribute__((always_inline)) {
      Eight more;
      more.load(x, kind, first + at);
#pragma unroll
      for (u32 j = 0; j < 8; j++) e[c].v[j] = plus(e[c].v[j], more.v[j]);
    });
  }
  template <typename F> MEMBER void each(F f) const {
    chunks([&](u32 c, u32) __attribute__((always_inline)) {
#pragma unroll
      for (u32 j = 0; j < 8; j++) f(e[c].v[j]);
    });
  }
  template <typename F> MEMBER void weighed(const Held &other, const real *w, F f) const {
    chunks([&](u32 c, u32 at) __attribute__((always_inline)) {
      Eight weights;
      weights.load(w, 0, at);
#pragma unroll
      for (u32 j = 0; j < 8; j++) f(e[c].v[j], other.e[c].v[j], weights.v[j]);
    });
  }
  template <typename F> DEVICE void columns(u32 n, F f) {
    for (u32 at = lane() * 8; at < n; at += 256)
#pragma unroll
      for (u32 j = 0; j < 8; j++) f(at + j);
  }
  MEMBER void accumulate(const Held &slopes, real *sums, real mean, real scale, u32 centered) const {
    chunks([&](u32 c, u32 at) __attribute__((always_inline)) {
      Eight all;
      all.load(sums, 0, at);
#pragma unroll
      for (u32 j = 0; j < 8; j++) all.v[j] = (float)fused((real)slopes.e[c].v[j], (e[c].v[j] - mean) * scale, (real)all.v[j]);
      all.store(sums, 0, at);
      if (!centered) return;
      all.load(sums, 0, n + at);
#pragma unroll
      for (u32 j = 0; j < 8; j++) all.v[j] += slopes.e[c].v[j];
      all.store(sums, 0, n + at);
    });
  }
  MEMBER void store(Out out) const {
    if (out.y) chunks([&](u32 c, u32 at) __attribute__((always_inline)) { e[c].store(out.y, out.kind, first + at); });
  }
  template <typename F> MEMBER void finish(const Held &other, const real *w, const real *b, const void *addend, u32 kind, Out y, Out copy, F f) {
    chunks([&](u32 c, u32 at) __attribute__((always_inline)) {
      Eight more;
      more.load(w, 0, at);
#pragma unroll
      for (u32 j = 0; j < 8; j++) e[c].v[j] = f(e[c].v[j], other.e[c].v[j], more.v[j]);
      if (!b) return;
      more.load(b, 0, at);
#pragma unroll
      for (u32 j = 0; j < 8; j++) e[c].v[j] += more.v[j];
    });
    if (addend) increase(addend, kind);
    store(y);
    store(copy);
  }
};

#ifdef IS_f32
#define HELD Held
#else
#define HELD Streamed<32> // never launched
#endif

template <int size> struct Row {
  using Members = Team<size>;
  real mean, scale;

  // of computes the mean, 0 unless centered, and 1/√(variance + ε).
  template <typename P> DEVICE Row of(const P &part, u32 n, u32 centered, double epsilon) {
    Row r = {0, 0};
    if (centered) {
      double sum = 0; // so that the mean of equal numbers is the number
      part.each([&](real x) __attribute__((always_inline)) { sum += x; });
      r.mean = (real)(Members::template across<Sum>(sum) / (double)n);
    }
    real squares = 0;
    part.each([&](real x) __attribute__((always_inline)) {
      real d = x - r.mean;
      squares = fused(d, d, squares);
    });
    squares = Members::template across<Sum>(squares);
    r.scale = 1 / root(squares / (real)n + (real)epsilon);
    return r;
  }
};

// norm: y of the sum of x and the terms. The sum, and a copy of y, are stored if they have an address.
template <int size, typename Part>
DEVICE void norm(Out y, const Terms &terms, const real *w, const real *b, Out sum, Out copy, double epsilon, u32 rows, u32 n, u32 centered) {
  using Members = Team<size>;
  for (u32 row = Members::row(); row < rows; row += Members::rows()) {
    u64 first = (u64)row * n;
    Part part(terms, first, n);
    Row<size> r = Row<size>::of(part, n, centered, epsilon);
    part.store(sum);
    part.finish(part, w, centered ? b : 0, 0, 0, y, copy, [&](real x, real, real w) __attribute__((always_inline)) { return (x - r.mean) * r.scale * w; });
  }
}

#define NORM(size, part)                                                                                                             \
  norm<size, part>(Out{y, kindOf(kinds, Y)}, Terms{x, {t1, t2, t3}, kindOf(kinds, X), kinds}, w, b, Out{sum, kindOf(kinds, SUM)}, \
                   Out{copy, kindOf(kinds, COPY)}, epsilon, rows, n, centered);

KERNEL(norm_warp, 256, 3)
(void *y, const void *x, const real *w, const real *b, const void *t1, const void *t2, const void *t3, void *sum, void *copy, double epsilon, u32 rows, u32 n, u32 centered, u32 kinds) {
  NORM(32, Streamed<32>)
}
KERNEL(norm_held, 256, 2)
(void *y, const void *x, const real *w, const real *b, const void *t1, const void *t2, const void *t3, void *sum, void *copy, double epsilon, u32 rows, u32 n, u32 centered, u32 kinds) {
  NORM(32, HELD)
}
KERNEL(norm_block, 256, 4)
(void *y, const void *x, const real *w, const real *b, const void *t1, const void *t2, const void *t3, void *sum, void *copy, double epsilon, u32 rows, u32 n, u32 centered, u32 kinds) {
  NORM(256, Streamed<256>)
}

// What a team sums over its rows for the gradients of the parameters, [results, n]. Each thread has
// its own columns.
extern SHARED __attribute__((aligned(16))) real dynamicShared[];

// gradient: with x̂ for the normalized x, dy for the sum of dy and the terms, and g = dy·w,
// dx = (g - mean(g) - x̂·mean(g·x̂))·scale + addend, without the mean unless centered, and in
// weights [results, n] the sums of dy·x̂ and of dy, if these have addresses. partial [blocks, results,
// n] is scratch memory for the sums of the blocks, in groups of members; without shared memory, a block
// of one team adds its rows there.
// addUp adds n sums of count elements, which are pitch apart, in order.
DEVICE void addUp(real *y, const real *partial, u32 n, u64 pitch, u32 count) {
  for (u32 i = thread(); i < count; i += 256) {
    real sum = partial[i];
#pragma unroll 4
    for (u32 p = 1; p < n; p++) sum += partial[p * pitch + i];
    y[i] = sum;
  }
}

template <int size, typename Part>
DEVICE void gradient(Out dx, const Terms &x, const Terms &dy, const real *w, real *weights, real *partial, Out sum, const void *addend, u32 kind, Out copy, double epsilon, u32 rows, u32 n, u32 centered, u32 shared, u32 members) {
  using Members = Team<size>;
  constexpr u32 teams = 256 / size;
  u32 all = (centered ? 2 : 1) * n;
  real *own = dynamicShared + (size == 32 ? warp() * all : 0), *result = partial + (u64)block() * all;
  if (partial && shared) Part::columns(n, [&](u32 i) __attribute__((always_inline)) {
    own[i] = 0;
    if (centered) own[n + i] = 0;
  });
  if (partial && !shared && Members::row() >= rows)
    for (u32 i = thread(); i < all; i += 256) result[i] = 0;
  for (u32 row = Members::row(); row < rows; row += Members::rows()) {
    u64 first = (u64)row * n;
    Part part(x, first, n), slopes(dy, first, n);
    Row<size> r = Row<size>::of(part, n, centered, epsilon);
    if (partial && shared) part.accumulate(slopes, own, r.mean, r.scale, centered);
    else if (partial)
      Part::columns(n, [&](u32 i) __attribute__((always_inline)) {
        bool start = row < Members::rows();
        real slope = dy.at(first + i), dw = slope * ((x.at(first + i) - r.mean) * r.scale);
        result[i] = start ? dw : result[i] + dw;
        if (centered) result[n + i] = start ? slope : result[n + i] + slope;
      });
    if (!dx.y) continue;
    slopes.store(sum);
    real level = 0, product = 0;
    part.weighed(slopes, w, [&](real x, real slope, real w) __attribute__((always_inline)) {
      real g = slope * w;
      level += g;
      product = fused(g, (x - r.mean) * r.scale, product);
    });
    product = Members::template across<Sum>(product) / (real)n;
    level = centered ? Members::template across<Sum>(level) / (real)n : 0;
    part.finish(slopes, w, 0, addend, kind, dx, copy, [&](real x, real slope, real w) __attribute__((always_inline)) {
      real hat = (x - r.mean) * r.scale;
      return (slope * w - level - hat * product) * r.scale;
    });
  }
  if (!partial) return;
  if (shared) {
    barrier();
    for (u32 i = thread(); i < all; i += 256) {
      real v = dynamicShared[i];
#pragma unroll
      for (u32 t = 1; t < teams; t++) v += dynamicShared[t * all + i];
      result[i] = v;
    }
  }
  u32 group = block() / members * members, groups = up(blocks(), members), have = least(members, blocks() - group);
  if (!last(1 + block() / members, have)) return;
  addUp(groups == 1 ? weights : partial + (u64)group * all, partial + (u64)group * all, have, all, all);
  if (groups > 1 && last(0, groups)) addUp(weights, partial, groups, (u64)members * all, all);
}

#define GRADIENT(size, part)                                                                                                          \
  gradient<size, part>(Out{dx, kindOf(kinds, Y)}, Terms{x, {}, kindOf(kinds, X), kinds}, Terms{dy, {t1, t2, t3}, kindOf(kinds, DY), kinds}, w, \
                       weights, partial, Out{sum, kindOf(kinds, SUM)}, addend, kindOf(kinds, ADDEND), Out{copy, kindOf(kinds, COPY)}, epsilon, rows, n, centered, shared, members);

KERNEL(norm_gradient_warp, 256, 3)
(void *dx, const void *x, const void *dy, const real *w, real *weights, real *partial, const void *t1, const void *t2, const void *t3, void *sum, const void *addend, void *copy, double epsilon, u32 rows, u32 n, u32 centered, u32 shared, u32 members, u32 kinds) {
  GRADIENT(32, Streamed<32>)
}
KERNEL(norm_gradient_held, 256, 2)
(void *dx, const void *x, const void *dy, const real *w, real *weights, real *partial, const void *t1, const void *t2, const void *t3, void *sum, const void *addend, void *copy, double epsilon, u32 rows, u32 n, u32 centered, u32 shared, u32 members, u32 kinds) {
  GRADIENT(32, HELD)
}
KERNEL(norm_gradient_block, 256, 4)
(void *dx, const void *x, const void *dy, const real *w, real *weights, real *partial, const void *t1, const void *t2, const void *t3, void *sum, const void *addend, void *copy, double epsilon, u32 rows, u32 n, u32 centered, u32 shared, u32 members, u32 kinds) {
  GRADIENT(256, Streamed<256>)
}
