// matmul8: y [m, n] = a·bᵀ of 8-bit floats on tensor cores, times the scales, plus a bias,
// optionally with ReLU. a is E4M3 or, in gradients, E5M2; b is E4M3. For compute capability
// 8.9 and later.
//
// Bound by arithmetic, as matmul, with 64 elements of k at a time. Both operands are
// contiguous along k, the only order that mma supports for 8 bits.
//
// variants: e4m3_sm89 e5m2_sm89
#include "fp8.h"
#include "mma.h"

struct Product8 {
  Factor8 a, b;
  u32 m, n, k;
  u32 unused;
};

template <u32 B, u32 WM, u32 WN> DEVICE void matmul8(void *y, const Product8 &p, const Result &r) {
  Strided<element> a = {(const element *)p.a.at, p.a.pitch, 1, p.m, p.k};
  Strided<element> b = {(const element *)p.b.at, p.b.pitch, 1, p.n, p.k};
  mmaProduct<B, B, WM, WN, true, true>(y, Copied{a}, Copied{b}, p.m, p.n, p.k, r, 0, Unscaled::of(p.a, p.b));
}

// On 9.0, 8-bit mma needs more registers than two blocks have; use wgmma8 there.
KERNEL(matmul8_128, 256, 2)(void *y, Product8 p, Result r) { matmul8<128, 64, 32>(y, p, r); }
KERNEL(matmul8_64, 128, 3)(void *y, Product8 p, Result r) { matmul8<64, 32, 32>(y, p, r); }
