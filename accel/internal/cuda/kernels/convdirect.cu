// convdirect: Conv2D and its gradients for groups of a few channels (depthwise
// convolution), which would leave most of a GEMM tile empty.
//
// Bound by memory: the bytes of x and y; for the gradient of w KH·KW times that, mostly
// from the cache. A thread computes one element of y or of dx; a block one of dw.
//
// variants: f32 f64
#include "conv.h"

// An element of images [n, channels, plane].
struct Element {
  u32 image, channel, group;
  int y, x;
};

DEVICE Element elementOf(const Images &g, u64 i, u32 channels, u32 each) {
  u32 plane = (u32)(i / g.plane.by), in = (u32)(i - (u64)plane * g.plane.by), y = g.line.quotient(in);
  u32 channel = plane % channels;
  return Element{plane / channels, channel, channel / each, (int)y, (int)(in - y * g.line.by)};
}

// y [N, O, OH, OW]
KERNEL(convdirect_forward, 256, 4)(real *y, const real *x, const real *w, Images g, u64 bias, u32 relu) {
  u32 outputs = g.o * g.groups;
  u64 n = (u64)g.n * outputs * g.plane.by;
  for (u64 i = (u64)block() * 256 + thread(); i < n; i += (u64)blocks() * 256) {
    Element e = elementOf(g, i, outputs, g.o);
    int top = e.y * g.stride[0] - g.padding[0], left = e.x * g.stride[1] - g.padding[1];
    const real *weights = w + (u64)e.channel * g.c * g.kernel.by;
    const real *from = x + ((u64)e.image * g.groups + e.group) * g.c * g.h * g.w;
    real sum = 0;
    for (u32 c = 0; c < g.c; c++, from += (u64)g.h * g.w, weights += g.kernel.by)
      for (u32 u = 0; u < g.kh; u++) {
        int r = top + (int)u * g.dilation[0];
        if ((u32)r >= g.h) continue;
        for (u32 v = 0; v < g.kw; v++) {
          int q = left + (int)v * g.dilation[1];
          if ((u32)q < g.w) sum = fused(weights[u * g.kw + v], from[(u32)r * g.w + (u32)q], sum);
        }
      }
    if (bias) sum += ((const real *)bias)[e.channel];
    y[i] = relu && sum < 0 ? 0 : sum;
  }
}

// dx [N, C, H, W]
KERNEL(convdirect_input, 256, 4)(real *dx, const real *dy, const real *w, Images g) {
  u32 channels = g.c * g.groups;
  u64 n = (u64)g.n * channels * g.plane.by;
  for (u64 i = (u64)block() * 256 + thread(); i < n; i += (u64)blocks() * 256) {
    Element e = elementOf(g, i, channels, g.c);
    const real *weights = w + ((u64)e.group * g.o * g.c + e.channel % g.c) * g.kernel.by;
    const real *from = dy + ((u64)e.image * g.groups + e.group) * g.o * g.oh * g.ow;
    real sum = 0;
    for (u32 o = 0; o < g.o; o++, from += (u64)g.oh * g.ow, weights += (u64)g.c * g.kernel.by)
      for (u32 u = 0; u < g.kh; u++) {
        int r = e.y + g.padding[0] - (int)u * g.dilation[0];
        if (r < 0) continue;
        u32 row = g.strides[0].quotient((u32)r);
        if (row * g.strides[0].by != (u32)r || row >= g.oh) continue;
        for (u32 v = 0; v < g.kw; v++) {
          int q = e.x + g.padding[1] - (int)v * g.dilation[1];
          if (q < 0) continue;
          u32 column = g.strides[1].quotient((u32)q);
          if (column * g.strides[1].by == (u32)q && column < g.ow) sum = fused(weights[u * g.kw + v], from[row * g.ow + column], sum);
        }
      }
    dx[i] = sum;
  }
}

// dw [O, C/groups, KH, KW], one block per element
KERNEL(convdirect_weight, 256, 4)(real *dw, const real *x, const real *dy, Images g) {
  u32 at = block() % g.kernel.by, c = block() / g.kernel.by % g.c, o = block() / g.kernel.by / g.c, group = o / g.o;
  int u = (int)(at / g.kw) * g.dilation[0] - g.padding[0], v = (int)(at % g.kw) * g.dilation[1] - g.padding[1];
  real sum = 0;
  for (u32 i = thread(); i < g.n * g.plane.by; i += 256) {
    Spot s = spot(g, i);
    int r = s.y * g.stride[0] + u, q = s.x * g.stride[1] + v;
    if ((u32)r >= g.h || (u32)q >= g.w) continue;
    real slope = dy[((u64)s.image * g.o * g.groups + o) * g.plane.by + (i - s.image * g.plane.by)];
    sum = fused(slope, x[((u64)(s.image * g.groups + group) * g.c + c) * g.h * g.w + (u32)r * g.w + (u32)q], sum);
  }
  sum = Team<256>::across<Sum>(sum);
  if (thread() == 0) dw[block()] = sum;
}
