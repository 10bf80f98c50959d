// pool: the largest element or the mean of windows over planes h×w, and the gradients. Images with the
// channels last in memory are planes of pixels of several channels.
//
// Bound by memory: the bytes of x and y, of float32 or 16-bit floats, for windows that do not overlap; overlapping parts
// are read from the cache. A thread computes one element. The gradients are gathered: an
// element of dx visits, in order, the windows that contain it, so no two threads add to the
// same element.
//
// variants: f32 f64
#include "device.h"

// loadAs loads element i of a tensor of a kind.
DEVICE real loadAs(const void *x, u32 kind, u64 i) {
  real v;
  typed(kind, [&](auto t) __attribute__((always_inline)) { v = number(((const decltype(t) *)x)[i]); });
  return v;
}

struct Window {
  u32 h, w, oh, ow;
  u32 channels; // of a pixel
  int kernel[2], stride[2], padding[2], dilation[2];
};

struct Found {
  real value;
  int at;
};

// An element of planes of h×w pixels: its plane, its pixel and its channel.
struct Element {
  u64 plane;
  u32 pixel, channel;
};

DEVICE Element elementOf(const Window &g, u64 i, u32 h, u32 w) {
  u64 pixel = g.channels == 1 ? i : i / g.channels, plane = pixel / (h * w);
  return Element{plane, (u32)(pixel - plane * (h * w)), (u32)(i - pixel * g.channels)};
}

// offsetOf returns where the plane of an element starts, at its channel, for planes of h×w pixels.
DEVICE u64 offsetOf(const Window &g, Element e, u32 h, u32 w) { return e.plane * h * w * g.channels + e.channel; }

// largest returns the largest element of a window, or the last NaN, and its index; -1 for a
// window of padding only.
template <typename T> DEVICE Found largest(const Window &g, const T *x, int top, int left) {
  Found best = {minusInfinity<real>(), -1};
  for (int u = 0; u < g.kernel[0]; u++) {
    int r = top + u * g.dilation[0];
    if (r < 0 || r >= (int)g.h) continue;
    for (int v = 0; v < g.kernel[1]; v++) {
      int c = left + v * g.dilation[1];
      if (c < 0 || c >= (int)g.w) continue;
      int at = r * (int)g.w + c;
      real e = number(x[(u64)at * g.channels]);
      if (e > best.value || isNaN(e) || best.at < 0) best = Found{e, at};
    }
  }
  return best;
}

KERNEL(maxpool, 256, 4)(void *y, const void *x, u64 planes, Window g, u32 yKind, u32 xKind) {
  u64 n = planes * g.oh * g.ow * g.channels;
  for (u64 i = (u64)block() * 256 + thread(); i < n; i += (u64)blocks() * 256) {
    Element e = elementOf(g, i, g.oh, g.ow);
    u32 oy = e.pixel / g.ow, ox = e.pixel - oy * g.ow;
    typed(xKind, [&](auto t) __attribute__((always_inline)) {
      putAs(y, yKind, i, largest(g, (const decltype(t) *)x + offsetOf(g, e, g.h, g.w), (int)oy * g.stride[0] - g.padding[0], (int)ox * g.stride[1] - g.padding[1]).value);
    });
  }
}

// firstWindow and lastWindow bound the windows along one dimension that contain an element:
// those that start in (i - reach, i].
DEVICE int firstWindow(int i, int reach, int stride) { return i < reach ? 0 : (i - reach) / stride + 1; }
DEVICE int lastWindow(int i, int stride, int windows) { return least(i / stride, windows - 1); }

KERNEL(maxpool_gradient, 256, 4)(void *dx, const void *x, const void *dy, u64 planes, Window g, u32 dxKind, u32 xKind, u32 dyKind) {
  u64 n = planes * g.h * g.w * g.channels;
  int reachY = g.dilation[0] * (g.kernel[0] - 1) + 1, reachX = g.dilation[1] * (g.kernel[1] - 1) + 1;
  for (u64 i = (u64)block() * 256 + thread(); i < n; i += (u64)blocks() * 256) {
    Element e = elementOf(g, i, g.h, g.w);
    int at = (int)e.pixel, r = at / (int)g.w, c = at - r * (int)g.w;
    int y0 = r + g.padding[0], x0 = c + g.padding[1];
    real sum = 0;
    typed(xKind, [&](auto t) __attribute__((always_inline)) {
      const decltype(t) *from = (const decltype(t) *)x + offsetOf(g, e, g.h, g.w);
      for (int oy = firstWindow(y0, reachY, g.stride[0]); oy <= lastWindow(y0, g.stride[0], (int)g.oh); oy++)
        for (int ox = firstWindow(x0, reachX, g.stride[1]); ox <= lastWindow(x0, g.stride[1], (int)g.ow); ox++) {
          int dy0 = y0 - oy * g.stride[0], dx0 = x0 - ox * g.stride[1];
          if (dy0 % g.dilation[0] || dx0 % g.dilation[1]) continue;
          if (largest(g, from, oy * g.stride[0] - g.padding[0], ox * g.stride[1] - g.padding[1]).at == at) sum += loadAs(dy, dyKind, offsetOf(g, e, g.oh, g.ow) + (u64)(oy * (int)g.ow + ox) * g.channels);
        }
    });
    putAs(dx, dxKind, i, sum);
  }
}

KERNEL(avgpool, 256, 4)(void *y, const void *x, u64 planes, Window g, u32 yKind, u32 xKind) {
  u64 n = planes * g.oh * g.ow * g.channels;
  double count = (double)(g.kernel[0] * g.kernel[1]);
  for (u64 i = (u64)block() * 256 + thread(); i < n; i += (u64)blocks() * 256) {
    Element e = elementOf(g, i, g.oh, g.ow);
    int oy = (int)(e.pixel / g.ow), ox = (int)(e.pixel % g.ow);
    int top = oy * g.stride[0] - g.padding[0], left = ox * g.stride[1] - g.padding[1];
    int bottom = least(top + g.kernel[0], (int)g.h), right = least(left + g.kernel[1], (int)g.w);
    double sum = 0; // so that the mean of equal numbers is the number
    typed(xKind, [&](auto t) __attribute__((always_inline)) {
      const decltype(t) *from = (const decltype(t) *)x + offsetOf(g, e, g.h, g.w);
      for (int r = most(top, 0); r < bottom; r++)
        for (int c = most(left, 0); c < right; c++) sum += number(from[(u64)(r * (int)g.w + c) * g.channels]);
    });
    putAs(y, yKind, i, (real)(sum / count));
  }
}

KERNEL(avgpool_gradient, 256, 4)(void *dx, const void *dy, u64 planes, Window g, u32 dxKind, u32 dyKind) {
  u64 n = planes * g.h * g.w * g.channels;
  real share = 1 / (real)(g.kernel[0] * g.kernel[1]);
  for (u64 i = (u64)block() * 256 + thread(); i < n; i += (u64)blocks() * 256) {
    Element e = elementOf(g, i, g.h, g.w);
    int at = (int)e.pixel;
    int y0 = at / (int)g.w + g.padding[0], x0 = at % (int)g.w + g.padding[1];
    real sum = 0;
    typed(dyKind, [&](auto t) __attribute__((always_inline)) {
      const decltype(t) *slope = (const decltype(t) *)dy + offsetOf(g, e, g.oh, g.ow);
      for (int oy = firstWindow(y0, g.kernel[0], g.stride[0]); oy <= lastWindow(y0, g.stride[0], (int)g.oh); oy++)
        for (int ox = firstWindow(x0, g.kernel[1], g.stride[1]); ox <= lastWindow(x0, g.stride[1], (int)g.ow); ox++) sum += number(slope[(u64)(oy * (int)g.ow + ox) * g.channels]) * share;
    });
    putAs(dx, dxKind, i, sum);
  }
}
