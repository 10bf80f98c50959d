// What kernels of 8-bit floats share: matrices with a head that holds the scale.
#pragma once
#include "product.h"

// power is 2ᵉ for e from -126 to 127.
DEVICE float power(int e) { return bits((u32)(e + 127) << 23); }

// Head is what a packed matrix begins with: its numbers are those of its bytes,
// times 2⁻ᵉ.
struct Head {
  int exponent;
  float inverse; // 2⁻ᵉ, for libraries
};

// Factor8 is a packed matrix: rows of k bytes, each a pitch after the one before.
struct Factor8 {
  u64 at, head; // addresses
  i64 pitch;
};

// Unscaled takes the scales of two factors from sums of their products, in two
// steps, so that no product of scales leaves the range of float32.
struct Unscaled {
  float first, second;
  DEVICE Unscaled of(const Factor8 &a, const Factor8 &b) {
    int e = -(((const Head *)a.head)->exponent + ((const Head *)b.head)->exponent), half = e / 2;
    return Unscaled{power(half), power(e - half)};
  }
  MEMBER float of(float sum) const { return sum * first * second; }
};
