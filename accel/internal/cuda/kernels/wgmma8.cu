// wgmma8: y [m, n] = a·bᵀ of 8-bit floats on Hopper's tensor cores, times the scales, plus
// a bias, optionally with ReLU. a is E4M3 or, in gradients, E5M2; b is E4M3. For compute
// capability 9.0 only.
//
// Bound by arithmetic. As wgmma, with tiles of 128×128 and panels of 128 of k. Tensor cores
// accumulate 8-bit products with about 14 bits, so the sums of one panel are added to
// float32 sums by the CUDA cores (DeepSeek-V3 Technical Report, arXiv:2412.19437, section
// 3.3.2).
//
// variants: e4m3_sm90 e5m2_sm90
#include "fp8.h"
#include "wgmma.h"

constexpr u32 BM = 128, BN = 128, BK = 128, stages = 4;
constexpr u32 bytesA = BM * BK, bytesB = BN * BK, stageBytes = bytesA + bytesB;

// multiply computes sum = a·b, or sum += a·b, of 64×128 and 32 of k.
DEVICE void multiply(float (&sum)[64], u64 a, u64 b, u32 adds) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %66, 0;\n\t"
#if defined(IS_e4m3)
               "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 "
#else
               "wgmma.mma_async.sync.aligned.m64n128k32.f32.e5m2.e4m3 "
#endif
               "{" REGISTERS64 "}, %64, %65, p, 1, 1;\n\t}"
               : SUMS64(0)
               : "l"(a), "l"(b), "r"(adds));
}

struct Product8 {
  u64 aHead, bHead;
  u32 m, n, k;
  u32 unused;
};

KERNEL(wgmma8, 384, 1)(void *y, Map, Map, Product8 p, Result r) {
  MAP(mapA, wgmma8, 1);
  MAP(mapB, wgmma8, 2);
  static SHARED u64 barriers[2 * stages];
  u32 full = sharedAddress(barriers), empty = full + 8 * stages, base = sharedAddress(dynamicShared);
  u32 group = thread() / 128;
  Tile t = tile(block(), up(p.m, BM), up(p.n, BN));
  u32 row = t.m * BM, column = t.n * BN;
  u32 steps = up(p.k, BK), each = up(steps, r.parts), first = least(blockY() * each, steps), count = least(each, steps - first);
  makeBarriers<stages>(full, empty);

  if (group == 2) { // the warps that copy
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (thread() == 256) {
#pragma unroll 1
      for (u32 s = 0; s < count; s++) {
        u32 slot = s % stages, at = base + slot * stageBytes, done = full + 8 * slot, k = (first + s) * BK;
        if (s >= stages) awaitParity(empty + 8 * slot, (s / stages - 1) & 1);
        expectBytes(done, stageBytes);
        copyBox(at, mapA, k, row, 0, done);
        copyBox(at + bytesA, mapB, k, column, 0, done);
      }
    }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  float sum[64], total[64];
#pragma unroll
  for (int i = 0; i < 64; i++) sum[i] = 0, total[i] = 0;
#pragma unroll 1
  for (u32 s = 0; s < count; s++) {
    u32 slot = s % stages, b = base + slot * stageBytes + bytesA, a = base + slot * stageBytes + group * (bytesA / 2);
    awaitParity(full + 8 * slot, s / stages & 1);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (u32 k = 0; k < BK / 32; k++) multiply(sum, descriptor(a + k * 32, 0, 1024), descriptor(b + k * 32, 0, 1024), k);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    if (lane() == 0) arrive(empty + 8 * slot);
#pragma unroll
    for (int i = 0; i < 64; i++) total[i] += sum[i];
  }
  auto scale = [&] {
    return [s = Unscaled::of(Factor8{0, p.aHead, 0}, Factor8{0, p.bHead, 0})](float v) { return s.of(v); };
  };
  store<bf16, BN, stages * stageBytes, false>(y, total, row, column, p.m, p.n, 0, r, false, scale);
}
