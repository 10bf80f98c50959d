// convlast: convolution of 16-bit images with the channels last, and its gradients. x is [N, H, W, C],
// y [N, OH, OW, O] and w [O, KH, KW, C/groups].
//
// A convolution is a matrix multiplication whose operands are gathered from images (implicit GEMM):
//
//	y[(n i j), o]    = Σ patch of x · w[o, (u v c)]
//	dx[(n y x), c]   = Σ the dy that x contributed to · w[(u v o), c]
//	dw[o, (u v c)]   = Σ dy[(n i j), o] · patch of x
//
// for each group, which is the grid's z. Bound by arithmetic, 2·N·O·OH·OW·C/groups·KH·KW operations each,
// from some tens of channels on. Panels come by asynchronous copies of 8 channels of a pixel; the
// kernels *_any gather channels one by one, for groups whose channels are no multiple of 8. The
// kernels *_direct compute groups of a few channels (depthwise convolution), which would leave most of a
// tile empty; they are bound by memory, the bytes of x and y, for the gradient of w KH·KW times that,
// mostly from the cache.
//
// variants: bf16 f16
#include "mma.h"

struct Images {
  u32 n, h, w, oh, ow, kh, kw;
  u32 c, o, groups; // c and o of one group
  int stride[2], padding[2], dilation[2];
  Divisor plane, line;     // oh·ow and ow, or for the gradient of the input h·w and w
  Divisor channels, width; // the channels of a group that follow each other in a patch, and kw
  Divisor strides[2];
};

// A pixel of the batch.
struct Pixel {
  u32 image;
  int y, x;
};

DEVICE Pixel pixel(const Images &g, u32 i) {
  u32 n = g.plane.quotient(i), in = i - n * g.plane.by, y = g.line.quotient(in);
  return Pixel{n, (int)y, (int)(in - y * g.line.by)};
}

// An element of a patch: the offset within the window, and the channel.
struct Tap {
  u32 channel, window;
  int u, v;
};

DEVICE Tap tap(const Images &g, u32 i) {
  u32 window = g.channels.quotient(i), u = g.width.quotient(window);
  return Tap{i - window * g.channels.by, window, (int)u * g.dilation[0], (int)(window - u * g.width.by) * g.dilation[1]};
}

// Each operand below finds the element for a row and a k: its offset, or that it is outside.

// Windows is x as seen by the windows, rows (n i j) and k (u v c).
struct Windows {
  const element *data; // at the group's first channel
  const Images &g;
  struct Row { i64 at; int y, x; bool in; };
  struct K { i64 at; int u, v; bool in; };
  MEMBER Row row(u32 i) const {
    Pixel p = pixel(g, i);
    int y = p.y * g.stride[0] - g.padding[0], x = p.x * g.stride[1] - g.padding[1];
    return Row{(((i64)p.image * g.h + y) * g.w + x) * (i64)(g.c * g.groups), y, x, p.image < g.n};
  }
  MEMBER K k(u32 i) const {
    Tap t = tap(g, i);
    return K{((i64)t.u * g.w + t.v) * (i64)(g.c * g.groups) + t.channel, t.u, t.v, t.window < g.kh * g.kw};
  }
  MEMBER bool find(Row r, K k, i64 &at) const {
    at = r.at + k.at;
    return r.in && k.in && (u32)(r.y + k.u) < g.h && (u32)(r.x + k.v) < g.w;
  }
};

// Patches is Windows with rows (u v c) and k (n i j).
struct Patches {
  Windows windows;
  const element *data;
  typedef Windows::K Row;
  typedef Windows::Row K;
  MEMBER Patches(const element *x, const Images &g) : windows{x, g}, data(x) {}
  MEMBER Row row(u32 i) const { return windows.k(i); }
  MEMBER K k(u32 i) const { return windows.row(i); }
  MEMBER bool find(Row r, K k, i64 &at) const { return windows.find(k, r, at); }
};

// Slopes is dy as seen from pixels of x, rows (n y x) and k (u v o).
struct Slopes {
  const element *data; // at the group's first channel
  const Images &g;
  struct Row { i64 image; int y, x; bool in; };
  struct K { u32 channel; int u, v; bool in; };
  MEMBER Row row(u32 i) const {
    Pixel p = pixel(g, i);
    return Row{(i64)p.image * g.oh, p.y + g.padding[0], p.x + g.padding[1], p.image < g.n};
  }
  MEMBER K k(u32 i) const {
    Tap t = tap(g, i);
    return K{t.channel, t.u, t.v, t.window < g.kh * g.kw};
  }
  MEMBER bool find(Row r, K k, i64 &at) const {
    int y = r.y - k.u, x = r.x - k.v;
    if (!r.in || !k.in || y < 0 || x < 0) return false;
    u32 i = g.strides[0].quotient((u32)y), j = g.strides[1].quotient((u32)x);
    at = ((r.image + i) * g.ow + j) * (i64)(g.o * g.groups) + k.channel;
    return i * g.strides[0].by == (u32)y && j * g.strides[1].by == (u32)x && i < g.oh && j < g.ow;
  }
};

// Weights is w with rows o and k (u v c).
struct Weights {
  const element *data; // at the group's first output
  const Images &g;
  struct Row { i64 at; bool in; };
  struct K { u32 at; bool in; };
  MEMBER Row row(u32 o) const { return Row{(i64)o * (g.kh * g.kw * g.c), o < g.o}; }
  MEMBER K k(u32 i) const { return K{i, i < g.kh * g.kw * g.c}; }
  MEMBER bool find(Row r, K k, i64 &at) const {
    at = r.at + k.at;
    return r.in && k.in;
  }
};

// WeightsOfInput is w with rows c and k (u v o).
struct WeightsOfInput {
  const element *data; // at the group's first output
  const Images &g;
  struct Row { u32 at; bool in; };
  struct K { i64 at; bool in; };
  MEMBER Row row(u32 c) const { return Row{c, c < g.c}; }
  MEMBER K k(u32 i) const {
    Tap t = tap(g, i);
    return K{((i64)t.channel * (g.kh * g.kw) + t.window) * g.c, t.window < g.kh * g.kw};
  }
  MEMBER bool find(Row r, K k, i64 &at) const {
    at = r.at + k.at;
    return r.in && k.in;
  }
};

// SlopesOfOutput is dy with rows o and k (n i j).
struct SlopesOfOutput {
  const element *data; // at the group's first channel
  const Images &g;
  struct Row { u32 at; bool in; };
  struct K { i64 at; bool in; };
  MEMBER Row row(u32 o) const { return Row{o, o < g.o}; }
  MEMBER K k(u32 i) const { return K{(i64)i * (g.o * g.groups), i < g.n * g.plane.by}; }
  MEMBER bool find(Row r, K k, i64 &at) const {
    at = r.at + k.at;
    return r.in && k.in;
  }
};

// Loaded fills panels: by copies of chunks of 8 channels, or element by element.
template <typename Factor, bool chunks> struct Loaded {
  const Factor &f;
  template <u32 B, bool along, u32 threads> MEMBER void fill(u32 to, u32 row, u32 k) const {
    using P = Panel<B, along>;
#pragma unroll
    for (u32 i = 0; i < P::chunks / threads; i++) {
      u32 c = thread() + i * threads, r = row + P::row(c), kk = k + P::k(c), there = to + P::place(P::row(c), P::k(c));
      i64 at;
      if (chunks) {
        bool in = f.find(f.row(r), f.k(kk), at);
        copyAsync<16>(there, f.data + (in ? at : 0), in ? 16 : 0);
        continue;
      }
      element e[chunk];
#pragma unroll
      for (u32 j = 0; j < chunk; j++) e[j] = f.find(f.row(along ? r : r + j), f.k(along ? kk + j : kk), at) ? f.data[at] : element{};
      storeShared(there, __builtin_bit_cast(Four, e));
    }
  }
};

template <bool chunks, u32 B, u32 WM, u32 WN> DEVICE void forward(void *y, const element *x, const element *w, const Images &g, Result r) {
  u32 group = blockZ(), depth = g.kh * g.kw * g.c;
  Windows a = {x + group * g.c, g};
  Weights b = {w + (u64)group * g.o * depth, g};
  if (r.bias) r.bias += (u64)group * g.o * (r.half ? sizeof(element) : 4);
  mmaProduct<B, B, WM, WN, true, true>(y, Loaded<Windows, chunks>{a}, Loaded<Weights, chunks>{b}, g.n * g.plane.by, g.o, depth, r, group);
}

template <bool chunks, u32 B, u32 WM, u32 WN> DEVICE void input(void *dx, const element *dy, const element *w, const Images &g, const Result &r) {
  u32 group = blockZ();
  Slopes a = {dy + group * g.o, g};
  WeightsOfInput b = {w + (u64)group * g.o * g.kh * g.kw * g.c, g};
  mmaProduct<B, B, WM, WN, true, false>(dx, Loaded<Slopes, chunks>{a}, Loaded<WeightsOfInput, chunks>{b}, g.n * g.plane.by, g.c, g.kh * g.kw * g.o, r, group);
}

template <bool chunks, u32 B, u32 WM, u32 WN> DEVICE void weight(void *dw, const element *x, const element *dy, const Images &g, const Result &r) {
  u32 group = blockZ();
  SlopesOfOutput a = {dy + group * g.o, g};
  Patches b(x + group * g.c, g);
  mmaProduct<B, B, WM, WN, false, false>(dw, Loaded<SlopesOfOutput, chunks>{a}, Loaded<Patches, chunks>{b}, g.o, g.kh * g.kw * g.c, g.n * g.plane.by, r, group);
}

KERNEL(convlast_forward128, 256, 1)(void *y, const element *x, const element *w, Images g, Result r) { forward<true, 128, 64, 32>(y, x, w, g, r); }
KERNEL(convlast_forward64, 128, 3)(void *y, const element *x, const element *w, Images g, Result r) { forward<true, 64, 32, 32>(y, x, w, g, r); }
KERNEL(convlast_forward64_any, 128, 3)(void *y, const element *x, const element *w, Images g, Result r) { forward<false, 64, 32, 32>(y, x, w, g, r); }
KERNEL(convlast_input128, 256, 1)(void *dx, const element *dy, const element *w, Images g, Result r) { input<true, 128, 64, 32>(dx, dy, w, g, r); }
KERNEL(convlast_input64, 128, 3)(void *dx, const element *dy, const element *w, Images g, Result r) { input<true, 64, 32, 32>(dx, dy, w, g, r); }
KERNEL(convlast_input64_any, 128, 3)(void *dx, const element *dy, const element *w, Images g, Result r) { input<false, 64, 32, 32>(dx, dy, w, g, r); }
KERNEL(convlast_weight128, 256, 1)(void *dw, const element *x, const element *dy, Images g, Result r) { weight<true, 128, 64, 32>(dw, x, dy, g, r); }
KERNEL(convlast_weight64, 128, 3)(void *dw, const element *x, const element *dy, Images g, Result r) { weight<true, 64, 32, 32>(dw, x, dy, g, r); }
KERNEL(convlast_weight64_any, 128, 3)(void *dw, const element *x, const element *dy, Images g, Result r) { weight<false, 64, 32, 32>(dw, x, dy, g, r); }

DEVICE void put(void *y, u64 i, float v, u32 half) {
  if (half) ((element *)y)[i] = rounded<element>(v);
  else ((float *)y)[i] = v;
}

// A thread computes one element of y.
KERNEL(convlast_forward_direct, 256, 4)(void *y, const element *x, const element *w, Images g, u64 bias, u32 relu, u32 half) {
  u32 outputs = g.o * g.groups, inputs = g.c * g.groups;
  u64 n = (u64)g.n * g.plane.by * outputs;
  for (u64 i = (u64)block() * 256 + thread(); i < n; i += (u64)blocks() * 256) {
    u32 at = (u32)(i / outputs), o = (u32)(i - (u64)at * outputs);
    Pixel p = pixel(g, at);
    int top = p.y * g.stride[0] - g.padding[0], left = p.x * g.stride[1] - g.padding[1];
    const element *from = x + (u64)p.image * g.h * g.w * inputs + o / g.o * g.c, *weights = w + (u64)o * g.kh * g.kw * g.c;
    float sum = 0;
    for (u32 u = 0; u < g.kh; u++) {
      int r = top + (int)u * g.dilation[0];
      if ((u32)r >= g.h) continue;
      for (u32 v = 0; v < g.kw; v++) {
        int q = left + (int)v * g.dilation[1];
        if ((u32)q >= g.w) continue;
        for (u32 c = 0; c < g.c; c++) sum = fused(number(weights[(u * g.kw + v) * g.c + c]), number(from[((u64)(u32)r * g.w + (u32)q) * inputs + c]), sum);
      }
    }
    if (bias) sum += half ? number(((const element *)bias)[o]) : ((const float *)bias)[o];
    put(y, i, relu && sum < 0 ? 0 : sum, half);
  }
}

// A thread computes one element of dx.
KERNEL(convlast_input_direct, 256, 4)(void *dx, const element *dy, const element *w, Images g, u32 half) {
  u32 outputs = g.o * g.groups, inputs = g.c * g.groups;
  u64 n = (u64)g.n * g.plane.by * inputs;
  for (u64 i = (u64)block() * 256 + thread(); i < n; i += (u64)blocks() * 256) {
    u32 at = (u32)(i / inputs), in = (u32)(i - (u64)at * inputs), group = in / g.c, c = in - group * g.c;
    Pixel p = pixel(g, at);
    const element *from = dy + (u64)p.image * g.oh * g.ow * outputs + group * g.o, *weights = w + (u64)group * g.o * g.kh * g.kw * g.c + c;
    float sum = 0;
    for (u32 u = 0; u < g.kh; u++) {
      int r = p.y + g.padding[0] - (int)u * g.dilation[0];
      if (r < 0) continue;
      u32 row = g.strides[0].quotient((u32)r);
      if (row * g.strides[0].by != (u32)r || row >= g.oh) continue;
      for (u32 v = 0; v < g.kw; v++) {
        int q = p.x + g.padding[1] - (int)v * g.dilation[1];
        if (q < 0) continue;
        u32 column = g.strides[1].quotient((u32)q);
        if (column * g.strides[1].by != (u32)q || column >= g.ow) continue;
        for (u32 o = 0; o < g.o; o++)
          sum = fused(number(weights[((u64)o * g.kh * g.kw + u * g.kw + v) * g.c]), number(from[((u64)row * g.ow + column) * outputs + o]), sum);
      }
    }
    put(dx, i, sum, half);
  }
}

// A block computes the elements of dw for 32 outputs, one place in the window, and one channel of their
// groups; a warp sums every eighth pixel.
KERNEL(convlast_weight_direct, 256, 4)(void *dw, const element *x, const element *dy, Images g, u32 half) {
  static SHARED float part[8][32];
  u32 outputs = g.o * g.groups, inputs = g.c * g.groups, taps = g.kh * g.kw;
  u32 c = block() % g.c, window = block() / g.c % taps, o = block() / g.c / taps * 32 + lane();
  u32 row = window / g.kw;
  int u = (int)row * g.dilation[0] - g.padding[0], v = (int)(window - row * g.kw) * g.dilation[1] - g.padding[1];
  float sum = 0;
  if (o < outputs)
    for (u32 i = warp(); i < g.n * g.plane.by; i += 8) {
      Pixel p = pixel(g, i);
      int r = p.y * g.stride[0] + u, q = p.x * g.stride[1] + v;
      if ((u32)r >= g.h || (u32)q >= g.w) continue;
      sum = fused(number(dy[(u64)i * outputs + o]), number(x[(((u64)p.image * g.h + (u32)r) * g.w + (u32)q) * inputs + o / g.o * g.c + c]), sum);
    }
  part[warp()][lane()] = sum;
  barrier();
  if (warp() > 0 || o >= outputs) return;
#pragma unroll
  for (u32 i = 1; i < 8; i++) sum += part[i][lane()];
  put(dw, ((u64)o * taps + window) * g.c + c, sum, half);
}
