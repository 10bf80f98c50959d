// batchnorm: batch normalization of x [images, channels, size] with one mean and variance
// per channel, and its gradients.
//
// Bound by memory: per float32 element 8 bytes forward, 4 for the statistics, 8 for the
// sums of the gradient, 12 for the gradient of the input; half of that for 16-bit floats. Several blocks compute the sums
// of a channel; their number depends on the shape alone, and the last of them adds their
// results in order. The statistics of a part are its mean and the squares around it, merged
// with Chan's formula, so x is read once and nothing cancels.
//
// variants: f32 f64
#include "device.h"

// Part p of a channel is its images·size elements starting at p·each. f gets the offset of
// each of the thread's elements.
template <typename F> DEVICE void eachOf(u32 channel, u32 part, u32 images, u32 channels, u32 size, u32 each, F f) {
  u64 n = (u64)images * size, end = least((u64)(part + 1) * each, n);
  for (u64 i = (u64)part * each + thread(); i < end; i += 256) {
    u32 image = (u32)(i / size), at = (u32)(i - (u64)image * size);
    f(((u64)image * channels + channel) * size + at);
  }
}

// lastOf returns whether a block comes last of the parts of its channel. It sees what the others wrote.
DEVICE bool lastOf(u32 channel, u32 parts) {
  if (parts > 1) return last(channel, parts);
  barrier();
  return true;
}

// sumOver returns the sum of f(part) over the parts, in a fixed order.
template <typename F> DEVICE double sumOver(u32 parts, F f) {
  double sum = 0;
  for (u32 p = thread(); p < parts; p += 256) sum += f(p);
  return Team<256>::across<Sum>(sum);
}

// batchnorm_statistics: statistics [2, channels]; partial [parts, 2, channels] is the mean and
// Σ (x - mean)² of each part. The grid is channels × parts.
KERNEL(batchnorm_statistics, 256, 4)(real *statistics, real *partial, const void *x, u32 images, u32 channels, u32 size, u32 each, u32 parts, u32 kind) {
  u32 channel = block(), part = blockY();
  u64 n = (u64)images * size, from = (u64)part * each;
  u64 count = least(from + each, n) - from;
  double sum = 0; // so that the mean of equal numbers is the number
  typed(kind, [&](auto t) __attribute__((always_inline)) {
    const decltype(t) *from = (const decltype(t) *)x;
    eachOf(channel, part, images, channels, size, each, [&](u64 i) __attribute__((always_inline)) { sum += number(from[i]); });
  });
  real mean = (real)(Team<256>::across<Sum>(sum) / (double)count);
  real squares = 0; // read from the cache: a part has a few thousand elements
  typed(kind, [&](auto t) __attribute__((always_inline)) {
    const decltype(t) *from = (const decltype(t) *)x;
    eachOf(channel, part, images, channels, size, each, [&](u64 i) __attribute__((always_inline)) {
      real d = number(from[i]) - mean;
      squares = fused(d, d, squares);
    });
  });
  squares = Team<256>::across<Sum>(squares);
  if (thread() == 0) {
    partial[(u64)(2 * part) * channels + channel] = mean;
    partial[(u64)(2 * part + 1) * channels + channel] = squares;
  }
  if (!lastOf(channel, parts)) return;
  auto of = [&](u32 p) __attribute__((always_inline)) { return (double)(least((u64)(p + 1) * each, n) - (u64)p * each); };
  auto at = [&](u32 p, u32 which) __attribute__((always_inline)) { return (double)partial[(u64)(2 * p + which) * channels + channel]; };
  double whole = sumOver(parts, [&](u32 p) __attribute__((always_inline)) { return of(p) * at(p, 0); }) / (double)n;
  double around = sumOver(parts, [&](u32 p) __attribute__((always_inline)) {
    double d = at(p, 0) - whole;
    return at(p, 1) + d * d * of(p);
  });
  if (thread() == 0) statistics[channel] = (real)whole, statistics[channels + channel] = (real)(around / (double)n);
}

DEVICE real scaleOf(real variance, double epsilon) { return 1 / root(variance + (real)epsilon); }

// batchnorm: y = (x - mean)·scale·w + b, optionally with ReLU. The grid has one block per
// 1024 elements of each of the images·channels planes.
KERNEL(batchnorm, 256, 4)(void *y, const void *x, const real *statistics, const real *w, const real *b, double epsilon, u32 planes, u32 channels, u32 size, u32 relu, u32 yKind, u32 xKind) {
  u32 pieces = up(size, 1024);
  for (u64 t = block(); t < (u64)planes * pieces; t += blocks()) {
    u32 plane = (u32)(t / pieces), from = (u32)(t % pieces) * 1024 + thread();
    u32 c = plane % channels;
    real mean = statistics[c], scale = scaleOf(statistics[channels + c], epsilon) * w[c], shift = b[c];
    typed(xKind, [&](auto t) __attribute__((always_inline)) {
      real v[4];
#pragma unroll
      for (u32 i = 0; i < 4; i++) v[i] = from + i * 256 < size ? number(((const decltype(t) *)x)[(u64)plane * size + from + i * 256]) : 0;
#pragma unroll
      for (u32 i = 0; i < 4; i++)
        if (from + i * 256 < size) {
          real r = (v[i] - mean) * scale + shift;
          putAs(y, yKind, (u64)plane * size + from + i * 256, relu && r < 0 ? (real)0 : r);
        }
    });
  }
}

// batchnorm_sums: sums [2, channels] is Σ dy and Σ dy·x̂; partial [parts, 2, channels] is Σ dy and
// Σ dy·(x - mean) of each part. With y, dy is that of a ReLU of which y is the result; its gradient is
// summed, and stored in masked if that has an address.
KERNEL(batchnorm_sums, 256, 4)(real *sums, real *partial, const void *x, const void *dy, const real *statistics, const void *y, void *masked, double epsilon, u32 images, u32 channels, u32 size, u32 each, u32 parts, u32 xKind, u32 dyKind, u32 yKind) {
  u32 channel = block(), part = blockY();
  real mean = statistics[channel], sum = 0, product = 0;
  typed(xKind, [&](auto t) __attribute__((always_inline)) {
    typed(dyKind, [&](auto u) __attribute__((always_inline)) {
      eachOf(channel, part, images, channels, size, each, [&](u64 i) __attribute__((always_inline)) {
        real slope = number(((const decltype(u) *)dy)[i]);
        if (y) {
          bool positive = false;
          typed(yKind, [&](auto v) __attribute__((always_inline)) { positive = number(((const decltype(v) *)y)[i]) > 0; });
          if (!positive) slope = 0;
          if (masked) putAs(masked, dyKind, i, slope);
        }
        sum += slope;
        product = fused(slope, number(((const decltype(t) *)x)[i]) - mean, product);
      });
    });
  });
  sum = Team<256>::across<Sum>(sum);
  product = Team<256>::across<Sum>(product);
  if (thread() == 0) {
    partial[(u64)(2 * part) * channels + channel] = sum;
    partial[(u64)(2 * part + 1) * channels + channel] = product;
  }
  if (!lastOf(channel, parts)) return;
  double of[2];
#pragma unroll
  for (u32 i = 0; i < 2; i++) of[i] = sumOver(parts, [&](u32 p) __attribute__((always_inline)) { return (double)partial[(u64)(2 * p + i) * channels + channel]; });
  if (thread() == 0) sums[channel] = (real)of[0], sums[channels + channel] = (real)(of[1] * (double)scaleOf(statistics[channels + channel], epsilon));
}

// batchnorm_input: dx = w·scale·(dy - Σdy/n - x̂·Σdy·x̂/n), without the sums unless
// training. The grid is that of batchnorm.
KERNEL(batchnorm_input, 256, 4)(void *dx, const void *x, const void *dy, const real *statistics, const real *w, const real *sums, double epsilon, u32 planes, u32 channels, u32 size, u32 training, u32 dxKind, u32 xKind, u32 dyKind) {
  u32 pieces = up(size, 1024);
  real count = (real)(planes / channels) * (real)size;
  for (u64 t = block(); t < (u64)planes * pieces; t += blocks()) {
    u32 plane = (u32)(t / pieces), from = (u32)(t % pieces) * 1024 + thread();
    u32 c = plane % channels;
    real mean = statistics[c], scale = scaleOf(statistics[channels + c], epsilon), factor = scale * w[c];
    real sum = training ? sums[c] / count : 0, slope = training ? scale * sums[channels + c] / count : 0;
    u64 at = (u64)plane * size + from;
    real v[4];
    typed(dyKind, [&](auto t) __attribute__((always_inline)) {
#pragma unroll
      for (u32 i = 0; i < 4; i++) v[i] = from + i * 256 < size ? number(((const decltype(t) *)dy)[at + i * 256]) : 0;
    });
    if (training)
      typed(xKind, [&](auto t) __attribute__((always_inline)) {
#pragma unroll
        for (u32 i = 0; i < 4; i++)
          if (from + i * 256 < size) v[i] = v[i] - sum - (number(((const decltype(t) *)x)[at + i * 256]) - mean) * slope;
      });
#pragma unroll
    for (u32 i = 0; i < 4; i++)
      if (from + i * 256 < size) putAs(dx, dxKind, at + i * 256, v[i] * factor);
  }
}
