// What the FP8 kernels share: packed matrices with a head that holds the scale.
#pragma once
#include "matmul.h"

// power computes 2ᵉ for e from -126 to 127.
DEVICE float power(int e) { return bits((u32)(e + 127) << 23); }

// Head is the beginning of a packed matrix. An element is the value of its byte times 2⁻ᵉ.
struct Head {
  int exponent;
  float inverse; // 2⁻ᵉ, which libraries read
};

// Factor8 is a packed matrix: rows of k bytes that start pitch bytes apart.
struct Factor8 {
  u64 at, head; // addresses
  i64 pitch;
};

// Unscaled divides sums of products by the scales of both operands, in two steps, so that
// no product of scales leaves the range of float32.
struct Unscaled {
  float first, second;
  DEVICE Unscaled of(const Factor8 &a, const Factor8 &b) {
    int e = -(((const Head *)a.head)->exponent + ((const Head *)b.head)->exponent), half = e / 2;
    return Unscaled{power(half), power(e - half)};
  }
  MEMBER float of(float sum) const { return sum * first * second; }
};
