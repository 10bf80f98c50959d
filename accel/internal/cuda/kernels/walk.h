// Tensors of any layout: up to eight dimensions with strides, in elements.
#pragma once
#include "device.h"

struct Layout {
  u32 rank;
  u32 unused;
  u64 shape[8];
  i64 stride[8];
};

// split divides i into rows of n elements: it returns the row, and i becomes the place in it.
DEVICE u64 split(u64 &i, u64 n) {
  if ((i | n) >> 32 == 0) { // a 32-bit division costs a fifth
    u32 q = (u32)i / (u32)n;
    i = (u32)i - q * (u32)n;
    return q;
  }
  u64 q = i / n;
  i -= q * n;
  return q;
}

// place returns the offset of element i in row-major order. Each dimension has its own copy
// of the loop body, so that the layout stays in the constant bank.
DEVICE i64 place(const Layout &l, u64 i) {
  i64 at = 0;
#pragma unroll
  for (int d = 7; d >= 0; d--) {
    if (d == 0) {
      at += (i64)i * l.stride[0];
    } else if (d < (int)l.rank) {
      u64 row = split(i, l.shape[d]);
      at += (i64)i * l.stride[d];
      i = row;
    }
  }
  return at;
}

// Wide is an element of 16 bytes, which one instruction moves.
typedef u64 Wide __attribute__((ext_vector_type(2)));

DEVICE u64 first() { return (u64)block() * 256 + thread(); }
DEVICE u64 stride() { return (u64)blocks() * 256; }
