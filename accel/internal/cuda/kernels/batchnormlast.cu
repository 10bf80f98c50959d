// batchnormlast: batch normalization of x [rows, channels], which are images with the channels last in
// memory, and its gradients.
//
// Bound by memory, as batchnorm. A thread has 8 neighboring channels (2 of float64), which it loads at once, or one;
// the block's threads are spread over channels first, then rows. Blocks share the rows of a
// channel; their number depends on the shape alone, and the last of them merges their results
// in a fixed order. Means and squares are updated by each row (Welford) and merged with
// Chan's formula, so x is read once and nothing cancels.
//
// variants: f32 f64
#include "device.h"

constexpr u32 several = sizeof(real) == 8 ? 2 : 8; // channels of a thread

typedef u32 Words __attribute__((ext_vector_type(4)));

// fetch loads V neighboring elements.
template <u32 V, typename T> DEVICE void fetch(const T *x, real (&v)[V]) {
  constexpr u32 each = V == 1 ? 1 : 16 / sizeof(T);
#pragma unroll
  for (u32 i = 0; i < V; i += each) {
    struct Chunk { T e[each]; } c;
    if constexpr (V == 1) c.e[0] = x[0];
    else c = __builtin_bit_cast(Chunk, *(const Words *)(x + i));
#pragma unroll
    for (u32 j = 0; j < each; j++) v[i + j] = number(c.e[j]);
  }
}

template <typename T, u32 V> DEVICE void place(T *y, const real (&v)[V]) {
  constexpr u32 each = V == 1 ? 1 : 16 / sizeof(T);
#pragma unroll
  for (u32 i = 0; i < V; i += each) {
    struct Chunk { T e[each]; } c;
#pragma unroll
    for (u32 j = 0; j < each; j++) c.e[j] = rounded<T>(v[i + j]);
    if constexpr (V == 1) y[0] = c.e[0];
    else *(Words *)(y + i) = __builtin_bit_cast(Words, c);
  }
}

// Rows is how a block's threads share rows: spread threads, a power of two, for neighboring channels.
struct Rows {
  u32 rows, channels, each, spread;
};

// Share is the part of a thread: channels from channel on, and every step-th row up to end.
struct Share {
  u32 channel, row, step, end;
};

template <u32 V> DEVICE Share share(const Rows &g) {
  u32 step = 256 / g.spread, across = thread() & (g.spread - 1);
  u64 from = (u64)blockY() * g.each;
  u32 end = (u32)least(from + g.each, (u64)g.rows), row = (u32)from + thread() / g.spread;
  u32 channel = (block() * g.spread + across) * V;
  return Share{channel, channel < g.channels ? row : end, step, end};
}

// inBlock reduces over the threads that have the same channels: it calls merge with another thread's
// number until the first thread of the channels has merged all.
template <typename F> DEVICE void inBlock(u32 spread, F merge) {
  u32 row = thread() / spread;
  for (u32 half = 128 / spread; half > 0; half /= 2) {
    barrier();
    if (row < half) merge(thread() + half * spread);
  }
}

// Moments are the mean and Σ (x - mean)² of a thread's rows.
template <u32 V> struct Moments {
  u32 count;
  real mean[V], squares[V];

  MEMBER void add(const real (&x)[V]) {
    real part = 1 / (real)++count;
#pragma unroll
    for (u32 i = 0; i < V; i++) {
      real d = x[i] - mean[i];
      mean[i] = fused(d, part, mean[i]);
      squares[i] = fused(d, x[i] - mean[i], squares[i]);
    }
  }

  MEMBER void merge(u32 theirs, const real (&m)[V], const real (&s)[V]) {
    if (theirs == 0) return;
    real part = (real)theirs / (real)(count + theirs);
#pragma unroll
    for (u32 i = 0; i < V; i++) {
      real d = m[i] - mean[i];
      mean[i] = fused(d, part, mean[i]);
      squares[i] += s[i] + d * d * ((real)count * part);
    }
    count += theirs;
  }
};

// mergeBlock merges the moments of the threads with the same channels; the first of them has the result.
template <u32 V> DEVICE void mergeBlock(Moments<V> &m, u32 spread) {
  static SHARED real means[V][256], squares[V][256];
  static SHARED u32 counts[256];
  barrier();
  auto leave = [&]() __attribute__((always_inline)) {
    counts[thread()] = m.count;
#pragma unroll
    for (u32 i = 0; i < V; i++) means[i][thread()] = m.mean[i], squares[i][thread()] = m.squares[i];
  };
  leave();
  inBlock(spread, [&](u32 other) __attribute__((always_inline)) {
    real mean[V], square[V];
#pragma unroll
    for (u32 i = 0; i < V; i++) mean[i] = means[i][other], square[i] = squares[i][other];
    m.merge(counts[other], mean, square);
    leave();
  });
}

template <u32 V> DEVICE void statistics(real *result, real *partial, const void *x, const Rows &g, u32 parts, u32 kind) {
  Share s = share<V>(g);
  Moments<V> m = {};
  typed(kind, [&](auto t) __attribute__((always_inline)) {
    const decltype(t) *from = (const decltype(t) *)x + s.channel;
    for (u32 r = s.row; r < s.end; r += s.step) {
      real v[V];
      fetch<V>(from + (u64)r * g.channels, v);
      m.add(v);
    }
  });
  mergeBlock(m, g.spread);
  bool first = thread() < g.spread && s.channel < g.channels;
  if (parts > 1) {
    if (first) {
      place(partial + (u64)(2 * blockY()) * g.channels + s.channel, m.mean);
      place(partial + (u64)(2 * blockY() + 1) * g.channels + s.channel, m.squares);
    }
    if (!last(block(), parts)) return;
    m = {};
    if (s.channel < g.channels)
      for (u32 p = thread() / g.spread; p < parts; p += s.step) {
        real mean[V], squares[V];
        fetch<V>(partial + (u64)(2 * p) * g.channels + s.channel, mean);
        fetch<V>(partial + (u64)(2 * p + 1) * g.channels + s.channel, squares);
        m.merge((u32)least((u64)g.each, (u64)g.rows - (u64)p * g.each), mean, squares);
      }
    mergeBlock(m, g.spread);
  }
  if (!first) return;
#pragma unroll
  for (u32 i = 0; i < V; i++) result[s.channel + i] = m.mean[i], result[g.channels + s.channel + i] = m.squares[i] / (real)g.rows;
}

// batchnormlast_statistics: statistics [2, channels]; partial [parts, 2, channels] is the mean and
// Σ (x - mean)² of each part. The grid is slabs of channels × parts, as that of all kernels here.
KERNEL(batchnormlast_statistics, 256, 4)(real *result, real *partial, const void *x, Rows g, u32 parts, u32 wide, u32 kind) {
  if (wide) statistics<several>(result, partial, x, g, parts, kind);
  else statistics<1>(result, partial, x, g, parts, kind);
}

DEVICE real scaleOf(real variance, double epsilon) { return 1 / root(variance + (real)epsilon); }

template <u32 V, typename T> DEVICE void normalize(void *y, const T *x, const real *statistics, const real *w, const real *b, double epsilon, const Rows &g, u32 relu, u32 yKind) {
  Share s = share<V>(g);
  if (s.row >= s.end) return;
  real mean[V], scale[V], shift[V];
#pragma unroll
  for (u32 i = 0; i < V; i++) {
    u32 c = s.channel + i;
    mean[i] = statistics[c], scale[i] = scaleOf(statistics[g.channels + c], epsilon) * w[c], shift[i] = b[c];
  }
  typed(yKind, [&](auto t) __attribute__((always_inline)) {
    for (u32 r = s.row; r < s.end; r += s.step) {
      u64 at = (u64)r * g.channels + s.channel;
      real v[V];
      fetch<V>(x + at, v);
#pragma unroll
      for (u32 i = 0; i < V; i++) {
        v[i] = (v[i] - mean[i]) * scale[i] + shift[i];
        if (relu && v[i] < 0) v[i] = 0;
      }
      place((decltype(t) *)y + at, v);
    }
  });
}

// batchnormlast: y = (x - mean)·scale·w + b, optionally with ReLU.
KERNEL(batchnormlast, 256, 4)(void *y, const void *x, const real *statistics, const real *w, const real *b, double epsilon, Rows g, u32 wide, u32 relu, u32 yKind, u32 xKind) {
  typed(xKind, [&](auto t) __attribute__((always_inline)) {
    if (wide) normalize<several>(y, (const decltype(t) *)x, statistics, w, b, epsilon, g, relu, yKind);
    else normalize<1>(y, (const decltype(t) *)x, statistics, w, b, epsilon, g, relu, yKind);
  });
}

// Pairs are Σ dy and Σ dy·(x - mean) of a thread's rows.
template <u32 V> struct Pairs {
  real sum[V], product[V];

  MEMBER void add(const real (&s)[V], const real (&p)[V]) {
#pragma unroll
    for (u32 i = 0; i < V; i++) sum[i] += s[i], product[i] += p[i];
  }
};

// addBlock adds up the pairs of the threads with the same channels; the first of them has the result.
template <u32 V> DEVICE void addBlock(Pairs<V> &m, u32 spread) {
  static SHARED real sums[V][256], products[V][256];
  barrier();
  auto leave = [&]() __attribute__((always_inline)) {
#pragma unroll
    for (u32 i = 0; i < V; i++) sums[i][thread()] = m.sum[i], products[i][thread()] = m.product[i];
  };
  leave();
  inBlock(spread, [&](u32 other) __attribute__((always_inline)) {
    real sum[V], product[V];
#pragma unroll
    for (u32 i = 0; i < V; i++) sum[i] = sums[i][other], product[i] = products[i][other];
    m.add(sum, product);
    leave();
  });
}

template <u32 V> DEVICE void sums(real *result, real *partial, const void *x, const void *dy, const real *statistics, const void *y, void *masked, double epsilon, const Rows &g, u32 parts, u32 xKind, u32 dyKind, u32 yKind) {
  Share s = share<V>(g);
  real mean[V];
  Pairs<V> m = {};
#pragma unroll
  for (u32 i = 0; i < V; i++) mean[i] = s.channel < g.channels ? statistics[s.channel + i] : 0;
  typed(xKind, [&](auto t) __attribute__((always_inline)) {
    typed(dyKind, [&](auto u) __attribute__((always_inline)) {
      for (u32 r = s.row; r < s.end; r += s.step) {
        u64 at = (u64)r * g.channels + s.channel;
        real v[V], slope[V];
        fetch<V>((const decltype(t) *)x + at, v);
        fetch<V>((const decltype(u) *)dy + at, slope);
        if (y) {
          real of[V];
          typed(yKind, [&](auto w) __attribute__((always_inline)) { fetch<V>((const decltype(w) *)y + at, of); });
#pragma unroll
          for (u32 i = 0; i < V; i++) slope[i] = of[i] > 0 ? slope[i] : 0;
          if (masked) place((decltype(u) *)masked + at, slope);
        }
#pragma unroll
        for (u32 i = 0; i < V; i++) {
          m.sum[i] += slope[i];
          m.product[i] = fused(slope[i], v[i] - mean[i], m.product[i]);
        }
      }
    });
  });
  addBlock(m, g.spread);
  bool first = thread() < g.spread && s.channel < g.channels;
  if (parts > 1) {
    if (first) {
      place(partial + (u64)(2 * blockY()) * g.channels + s.channel, m.sum);
      place(partial + (u64)(2 * blockY() + 1) * g.channels + s.channel, m.product);
    }
    if (!last(block(), parts)) return;
    m = {};
    if (s.channel < g.channels)
      for (u32 p = thread() / g.spread; p < parts; p += s.step) {
        real sum[V], product[V];
        fetch<V>(partial + (u64)(2 * p) * g.channels + s.channel, sum);
        fetch<V>(partial + (u64)(2 * p + 1) * g.channels + s.channel, product);
        m.add(sum, product);
      }
    addBlock(m, g.spread);
  }
  if (!first) return;
#pragma unroll
  for (u32 i = 0; i < V; i++) {
    u32 c = s.channel + i;
    result[c] = m.sum[i], result[g.channels + c] = m.product[i] * scaleOf(statistics[g.channels + c], epsilon);
  }
}

// batchnormlast_sums: sums [2, channels] is Σ dy and Σ dy·x̂; partial [parts, 2, channels] is Σ dy and
// Σ dy·(x - mean) of each part. With y, dy is that of a ReLU of which y is the result; its gradient is
// summed, and stored in masked if that has an address.
KERNEL(batchnormlast_sums, 256, 3)(real *result, real *partial, const void *x, const void *dy, const real *statistics, const void *y, void *masked, double epsilon, Rows g, u32 parts, u32 wide, u32 xKind, u32 dyKind, u32 yKind) {
  if (wide) sums<several>(result, partial, x, dy, statistics, y, masked, epsilon, g, parts, xKind, dyKind, yKind);
  else sums<1>(result, partial, x, dy, statistics, y, masked, epsilon, g, parts, xKind, dyKind, yKind);
}

template <u32 V, typename T> DEVICE void inputGradient(void *dx, const void *x, const T *dy, const real *statistics, const real *w, const real *sums, double epsilon, const Rows &g, u32 training, u32 dxKind, u32 xKind) {
  Share s = share<V>(g);
  if (s.row >= s.end) return;
  real mean[V], factor[V], sum[V], slope[V], count = (real)g.rows;
#pragma unroll
  for (u32 i = 0; i < V; i++) {
    u32 c = s.channel + i;
    real scale = scaleOf(statistics[g.channels + c], epsilon);
    mean[i] = statistics[c], factor[i] = scale * w[c];
    sum[i] = training ? sums[c] / count : 0, slope[i] = training ? scale * sums[g.channels + c] / count : 0;
  }
  typed(xKind, [&](auto t) __attribute__((always_inline)) {
    for (u32 r = s.row; r < s.end; r += s.step) {
      u64 at = (u64)r * g.channels + s.channel;
      real v[V];
      fetch<V>(dy + at, v);
      if (training) {
        real e[V];
        fetch<V>((const decltype(t) *)x + at, e);
#pragma unroll
        for (u32 i = 0; i < V; i++) v[i] = v[i] - sum[i] - (e[i] - mean[i]) * slope[i];
      }
#pragma unroll
      for (u32 i = 0; i < V; i++) v[i] *= factor[i];
      typed(dxKind, [&](auto u) __attribute__((always_inline)) { place((decltype(u) *)dx + at, v); });
    }
  });
}

// batchnormlast_input: dx = w·scale·(dy - Σdy/n - x̂·Σdy·x̂/n), without the sums unless training.
KERNEL(batchnormlast_input, 256, 3)(void *dx, const void *x, const void *dy, const real *statistics, const real *w, const real *sums, double epsilon, Rows g, u32 wide, u32 training, u32 dxKind, u32 xKind, u32 dyKind) {
  typed(dyKind, [&](auto t) __attribute__((always_inline)) {
    if (wide) inputGradient<several>(dx, x, (const decltype(t) *)dy, statistics, w, sums, epsilon, g, training, dxKind, xKind);
    else inputGradient<1>(dx, x, (const decltype(t) *)dy, statistics, w, sums, epsilon, g, training, dxKind, xKind);
  });
}
