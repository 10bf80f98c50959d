// matmul: y [batch, m, n] = a·b on tensor cores, plus a bias, optionally with ReLU.
//
// Bound by arithmetic, 2·m·n·k operations, for matrices of a few hundred rows and more.
// Tiles are 128×128, in eight warps of 64×32, or for small results 64×64, in four warps of
// 32×32. 64 bytes of k at a time come through a ring of four stages. Deep and narrow matrix
// multiplications are split along k (split-K). With the small tile, the sums of a's rows or b's columns, the gradient of a
// bias, can come with the product of 16-bit floats; those of TF32 would be of rounded numbers.
//
// variants: bf16 f16 tf32
#include "mma.h"

struct Factors {
  u64 a, b; // addresses
  u32 m, n, k, count;
  i64 aRow, aK, bK, bColumn; // strides
  Batch batch;
};

template <u32 B, u32 WM, u32 WN, bool aAlong, bool bAlong, bool aligned> DEVICE void matmul(void *y, const Factors &f, const Result &r) {
  constexpr bool sums = sizeof(element) == 2 && B == 64; // the large tile has no registers left
#pragma unroll 1
  for (u32 i = blockZ(); i < f.count; i += 65535) {
    Offsets o = offsets(f.batch, i);
    Strided<element> a = {(const element *)f.a + o.a, f.aRow, f.aK, f.m, f.k};
    Strided<element> b = {(const element *)f.b + o.b, f.bColumn, f.bK, f.n, f.k};
    if (aligned)
      mmaProduct<B, B, WM, WN, aAlong, bAlong, true, sums>(y, Copied{a}, Copied{b}, f.m, f.n, f.k, r, i);
    else
      mmaProduct<B, B, WM, WN, aAlong, bAlong, true, sums>(y, Gathered<Strided<element>>{a}, Gathered<Strided<element>>{b}, f.m, f.n, f.k, r, i);
    barrier();
  }
}

#ifdef IS_tf32 // rounding to TF32 needs registers
constexpr int together = 1;
#else
constexpr int together = 2;
#endif

// The letters give the memory order of a and b: t if it is contiguous along k, n if it is
// contiguous along the other dimension. _any supports any strides.
KERNEL(matmul128_tn, 256, together)(void *y, Factors f, Result r) { matmul<128, 64, 32, true, false, true>(y, f, r); }
KERNEL(matmul128_tt, 256, together)(void *y, Factors f, Result r) { matmul<128, 64, 32, true, true, true>(y, f, r); }
KERNEL(matmul128_nn, 256, together)(void *y, Factors f, Result r) { matmul<128, 64, 32, false, false, true>(y, f, r); }
KERNEL(matmul128_nt, 256, together)(void *y, Factors f, Result r) { matmul<128, 64, 32, false, true, true>(y, f, r); }
KERNEL(matmul64_tn, 128, 4)(void *y, Factors f, Result r) { matmul<64, 32, 32, true, false, true>(y, f, r); }
KERNEL(matmul64_tt, 128, 4)(void *y, Factors f, Result r) { matmul<64, 32, 32, true, true, true>(y, f, r); }
KERNEL(matmul64_nn, 128, 4)(void *y, Factors f, Result r) { matmul<64, 32, 32, false, false, true>(y, f, r); }
KERNEL(matmul64_nt, 128, 4)(void *y, Factors f, Result r) { matmul<64, 32, 32, false, true, true>(y, f, r); }
KERNEL(matmul64_any, 128, 4)(void *y, Factors f, Result r) { matmul<64, 32, 32, true, true, false>(y, f, r); }
