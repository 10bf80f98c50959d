// gemm: y [batch, m, n] = a·b for a and b with any row and column strides, plus a bias,
// optionally with ReLU.
//
// Bound by arithmetic, 2·m·n·k operations, for matrices larger than a tile: 128×128 in
// float32, 64×64 for small results and in float64. Deep and narrow matrix multiplications
// are split along k (split-K). The sums of a's rows or b's columns, the gradient of a bias, can come with it.
//
// variants: f32 f64
#include "simt.h"

struct Factors {
  u64 a, b; // addresses
  u32 m, n, k, count;
  i64 aRow, aK, bK, bColumn; // strides
  Batch batch;
};

template <u32 B, u32 T, bool aFirst, bool bFirst> DEVICE void gemm(real *y, const Factors &f, const Result &r) {
  constexpr bool sums = B == 64 || (!aFirst && !bFirst); // else there are no registers left
  for (u32 i = blockZ(); i < f.count; i += 65535) {
    Offsets o = offsets(f.batch, i);
    Strided<real> a = {(const real *)f.a + o.a, f.aRow, f.aK, f.m, f.k};
    Strided<real> b = {(const real *)f.b + o.b, f.bColumn, f.bK, f.n, f.k};
    simtProduct<real, B, B, T, T, aFirst, bFirst, sizeof(real) == 4, sums>(y, a, b, f.m, f.n, f.k, r, i);
    barrier();
  }
}

constexpr int together = sizeof(real) == 4 ? 3 : 2;

// The letters give the memory order of a and b: t if it is contiguous along k, n if it is
// contiguous along the other dimension.
#ifdef IS_f32
KERNEL(gemm128_tn, 256, 2)(real *y, Factors f, Result r) { gemm<128, 8, true, false>(y, f, r); }
KERNEL(gemm128_tt, 256, 2)(real *y, Factors f, Result r) { gemm<128, 8, true, true>(y, f, r); }
KERNEL(gemm128_nn, 256, 2)(real *y, Factors f, Result r) { gemm<128, 8, false, false>(y, f, r); }
KERNEL(gemm128_nt, 256, 2)(real *y, Factors f, Result r) { gemm<128, 8, false, true>(y, f, r); }
#endif
KERNEL(gemm64_tn, 256, together)(real *y, Factors f, Result r) { gemm<64, 4, true, false>(y, f, r); }
KERNEL(gemm64_tt, 256, together)(real *y, Factors f, Result r) { gemm<64, 4, true, true>(y, f, r); }
KERNEL(gemm64_nn, 256, together)(real *y, Factors f, Result r) { gemm<64, 4, false, false>(y, f, r); }
KERNEL(gemm64_nt, 256, together)(real *y, Factors f, Result r) { gemm<64, 4, false, true>(y, f, r); }
