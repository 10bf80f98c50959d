// Convolution as implicit GEMM: a matrix multiplication whose operands are gathered from
// images. The matrix of patches is never stored.
//
// forward   y[o, (n i j)]      = Σ w[o, (c u v)] · patch of x input     dx[c, (n y x)]
// = Σ w[(o u v), c] · the dy that x contributed to weight    dw[o, (c u v)]     = Σ dy[o,
// (n i j)] · patch of x
//
// for each group. x is [N, C, H, W], y [N, O, OH, OW], w [O, C/groups, KH, KW].
#pragma once
#include "matmul.h"

struct Images {
  u32 n, c, h, w, o, oh, ow, kh, kw; // c and o of one group
  u32 groups;
  int stride[2], padding[2], dilation[2];
  Divisor plane, line;   // oh·ow and ow, or for the gradient of the input h·w and w
  Divisor kernel, width; // kh·kw and kw
  Divisor strides[2];
};

// A row of the kernel as a patch: the channel and the offset within the window.
struct Patch {
  u32 channel;
  int u, v;
};

DEVICE Patch patch(const Images &g, u32 k) {
  u32 c = g.kernel.quotient(k), in = k - c * g.kernel.by, u = g.width.quotient(in);
  return Patch{c, (int)u * g.dilation[0], (int)(in - u * g.width.by) * g.dilation[1]};
}

// A pixel of the batch.
struct Spot {
  u32 image;
  int y, x;
};

DEVICE Spot spot(const Images &g, u32 i) {
  u32 n = g.plane.quotient(i), in = i - n * g.plane.by, y = g.line.quotient(in);
  return Spot{n, (int)y, (int)(in - y * g.line.by)};
}

// Patches is x as seen by the windows, rows (n i j) and k (c u v), or transposed for the
// gradient of the weights.
template <typename E> struct Patches {
  const E *x; // at the group's first channel
  const Images &g;
  struct Place { i64 at; int y, x; bool in; };
  MEMBER Place window(u32 i) const {
    Spot s = spot(g, i);
    int y = s.y * g.stride[0] - g.padding[0], xx = s.x * g.stride[1] - g.padding[1];
    return Place{((i64)s.image * g.c * g.groups * g.h + y) * g.w + xx, y, xx, s.image < g.n};
  }
  MEMBER Place element(u32 k) const {
    Patch p = patch(g, k);
    return Place{((i64)p.channel * g.h + p.u) * g.w + p.v, p.u, p.v, p.channel < g.c};
  }
  MEMBER E read(Place a, Place b) const {
    bool in = a.in && b.in && (u32)(a.y + b.y) < g.h && (u32)(a.x + b.x) < g.w;
    return in ? x[a.at + b.at] : E{};
  }
};

template <typename E> struct WindowRows : Patches<E> {
  typedef typename Patches<E>::Place Place;
  MEMBER WindowRows(const E *x, const Images &g) : Patches<E>{x, g} {}
  MEMBER Place row(u32 i) const { return this->window(i); }
  MEMBER Place k(u32 i) const { return this->element(i); }
  MEMBER E at(Place r, Place k) const { return this->read(r, k); }
};

template <typename E> struct ElementRows : Patches<E> {
  typedef typename Patches<E>::Place Place;
  MEMBER ElementRows(const E *x, const Images &g) : Patches<E>{x, g} {}
  MEMBER Place row(u32 i) const { return this->element(i); }
  MEMBER Place k(u32 i) const { return this->window(i); }
  MEMBER E at(Place r, Place k) const { return this->read(r, k); }
};

// Slopes is dy as seen from elements of x, rows (n y x) and k (o u v).
template <typename E> struct Slopes {
  const E *dy; // at the group's first channel
  const Images &g;
  struct Row { i64 at; int y, x; bool in; };
  struct K { i64 at; int u, v; bool in; };
  MEMBER Row row(u32 i) const {
    Spot s = spot(g, i);
    return Row{(i64)s.image * g.o * g.groups * g.oh * g.ow, s.y + g.padding[0], s.x + g.padding[1], s.image < g.n};
  }
  MEMBER K k(u32 i) const {
    Patch p = patch(g, i);
    return K{(i64)p.channel * g.oh * g.ow, p.u, p.v, p.channel < g.o};
  }
  MEMBER E at(Row r, K k) const {
    int y = r.y - k.u, x = r.x - k.v;
    if (!r.in || !k.in || y < 0 || x < 0) return E{};
    u32 i = g.strides[0].quotient((u32)y), j = g.strides[1].quotient((u32)x);
    bool in = i * g.strides[0].by == (u32)y && j * g.strides[1].by == (u32)x && i < g.oh && j < g.ow;
    return in ? dy[r.at + k.at + (i64)(i * g.ow + j)] : E{};
  }
};

// WeightRows is w as seen from a channel of x: rows c and k (o u v).
template <typename E> struct WeightRows {
  const E *w; // at the group's first output
  const Images &g;
  struct Row { u32 at; bool in; };
  struct K { i64 at; bool in; };
  MEMBER Row row(u32 c) const { return Row{c * g.kernel.by, c < g.c}; }
  MEMBER K k(u32 i) const {
    u32 o = g.kernel.quotient(i), in = i - o * g.kernel.by;
    return K{(i64)o * g.c * g.kernel.by + in, o < g.o};
  }
  MEMBER E at(Row r, K k) const { return r.in && k.in ? w[r.at + k.at] : E{}; }
};

// SlopeRows is dy with rows o and k (n i j).
template <typename E> struct SlopeRows {
  const E *dy; // at the group's first channel
  const Images &g;
  struct Row { i64 at; bool in; };
  struct K { i64 at; bool in; };
  MEMBER Row row(u32 o) const { return Row{(i64)o * g.plane.by, o < g.o}; }
  MEMBER K k(u32 i) const {
    u32 n = g.plane.quotient(i);
    return K{(i64)n * g.o * g.groups * g.plane.by + (i - n * g.plane.by), n < g.n};
  }
  MEMBER E at(Row r, K k) const { return r.in && k.in ? dy[r.at + k.at] : E{}; }
};
