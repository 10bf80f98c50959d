// What all matrix multiplications share: operands and results in memory.
//
// A matrix multiplication is y[m, n] = Σ over k of a(m, k)·b(k, n), or a batch of them; a
// and b may be gathered from images: see conv.h. The offset of an operand's element is the
// sum of a part for its row (m or n) and a part for k, so each part is computed once for
// many elements.
#pragma once
#include "device.h"

// Divisor divides by a number that is known before the launch, using a multiplication
// (Granlund and Montgomery, PLDI 1994). Both numbers are below 2³¹.
struct Divisor {
  u32 by, factor, shift;
  MEMBER u32 quotient(u32 n) const { return by == 1 ? n : (u32)((u64)n * factor >> 32) >> shift; }
};

// Batch is up to four batch dimensions with strides.
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

// Result describes where y[m, n] is written: columns come in runs of inner, which are outer
// apart. The bias is added to each row or column. With parts (split-K), each part is
// written after the one before, without bias and ReLU.
struct Result {
  u64 bias;   // address, 0 for none
  i64 row;    // stride
  i64 outer;  // stride of runs of columns
  i64 batch;  // stride
  i64 part;   // stride
  Divisor inner;
  u32 biasRows; // bias is per row, not per column
  u32 relu;
  u32 half;     // y and the bias have the operands' 16-bit type
  u32 parts;    // of the split along k
};

// Tile is the part of the result that a block computes. Neighboring blocks compute tiles
// of a band eight tiles high, so that they share their reads in the cache.
struct Tile {
  u32 m, n;
};

DEVICE Tile tile(u32 t, u32 rows, u32 columns) {
  u32 band = 8 * columns, first = t / band * 8, height = least(rows - first, 8u), in = t % band;
  return Tile{first + in % height, in / height};
}

// Strided is an operand in memory: element (row, k) is at row·rowStride + k·kStride.
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
