// What all matrix products share: where factors and results lie.
//
// A product is y[m, n] = Σ over k of a(m, k)·b(k, n), for a batch of them, of which
// a and b may be gathered from images: see conv.h. A factor tells where an
// element is in two halves, that of its row (m or n) and that of k, so that each
// is worked out once for many elements.
#pragma once
#include "device.h"

// Divisor divides by a number that is known before the launch, with a
// multiplication (Granlund and Montgomery, PLDI 1994); both below 2³¹.
struct Divisor {
  u32 by, factor, shift;
  MEMBER u32 quotient(u32 n) const { return by == 1 ? n : (u32)((u64)n * factor >> 32) >> shift; }
};

// Batch is up to four dimensions of a batch of products, with strides.
struct Batch {
  u32 rank;
  u32 shape[4];
  u32 unused;
  i64 a[4], b[4];
};

struct Offsets {
  i64 a, b;
};

DEVICE Offsets offsets(const Batch &batch, u32 i) {
  Offsets o = {0, 0};
#pragma unroll
  for (int d = 3; d >= 0; d--)
    if (d < (int)batch.rank) {
      u32 q = i / batch.shape[d], r = i - q * batch.shape[d];
      o.a += (i64)r * batch.a[d];
      o.b += (i64)r * batch.b[d];
      i = q;
    }
  return o;
}

// Result is where y[m, n] lies: columns come in runs of inner, which are apart by
// outer. The bias is added to each row or column. With parts, the product is cut
// along k, and each part is written behind the one before, without the rest.
struct Result {
  u64 bias;   // address, 0 for none
  i64 row;    // stride
  i64 outer;  // stride of runs of columns
  i64 batch;  // stride
  i64 part;   // stride
  Divisor inner;
  u32 biasRows; // bias is of rows, not columns
  u32 relu;
  u32 half;     // y, and the bias, are of the factors' 16-bit type
  u32 parts;    // of k
};

// Tile is which part of the result a block makes. Neighbouring blocks take tiles
// of a band eight tiles high, so that they share what they read in the cache.
struct Tile {
  u32 m, n;
};

DEVICE Tile tile(u32 t, u32 rows, u32 columns) {
  u32 band = 8 * columns, first = t / band * 8, height = least(rows - first, 8u), in = t % band;
  return Tile{first + in % height, in / height};
}

// Strided is a factor in memory, element (row, k) at row·rowStride + k·kStride.
template <typename E> struct Strided {
  const E *data;
  i64 rowStride, kStride;
  u32 rows, depth;
  struct Row { i64 at; bool in; };
  struct K { i64 at; bool in; };
  MEMBER Row row(u32 r) const { return Row{(i64)r * rowStride, r < rows}; }
  MEMBER K k(u32 i) const { return K{(i64)i * kStride, i < depth}; }
  MEMBER E at(Row r, K k) const { return r.in && k.in ? data[r.at + k.at] : E{}; }
};
