// wgmma: y [batch, m, n] = a·b on Hopper's tensor cores, of bfloat16 or float16, plus a
// bias, optionally with ReLU. For compute capability 9.0 only.
//
// Bound by arithmetic. A block computes a tile of 128×256: one warp copies panels of 64 of
// k with the tensor memory accelerator (TMA) to a ring of four stages; two groups of four
// warps compute 64×256 each with wgmma, from shared memory. Barriers in shared memory hand
// the stages over: a stage is full when its bytes have arrived, and empty when all eight
// warps have read it. The copying warps give registers to the others.
//
// Panels have the memory order of the operands, with 128-byte swizzling: along k, rows of
// 64 k; across k, boxes of 64 k by 64 rows or columns.
//
// The sums of a's rows or b's columns, the gradient of a bias, can come with it: the CUDA cores of blocks at an edge of the
// result add up panels while the tensor cores multiply them.
//
// variants: bf16_sm90 f16_sm90
#include "wgmma.h"

#if defined(IS_f16)
typedef f16 element;
#else
typedef bf16 element;
#endif

constexpr u32 BM = 128, BN = 256, BK = 64, stages = 4;
constexpr u32 bytesA = BM * BK * 2, bytesB = BN * BK * 2, stageBytes = bytesA + bytesB;
constexpr u32 boxBytes = 64 * BK * 2;

// multiply computes sum += a·b of 64×256 and 16 of k.
template <bool aAlong, bool bAlong> DEVICE void multiply(float (&sum)[128], u64 a, u64 b) {
#if defined(IS_f16)
  asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 "
#else
  asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 "
#endif
               "{" REGISTERS128 "}, %128, %129, 1, 1, 1, %130, %131;"
               : SUMS64(0), SUMS64(64)
               : "l"(a), "l"(b), "n"(aAlong ? 0 : 1), "n"(bAlong ? 0 : 1));
}

// sumsOfPanel adds what a thread has of a panel of rows, along k: of two neighboring rows, or of one if the panel is along k.
// writeSumsOf writes that.
template <u32 rows, bool along> DEVICE void sumsOfPanel(float (&sums)[2], u32 base) {
  if (along) {
    constexpr u32 per = 256 / rows; // threads of a row
    u32 row = thread() / per;
    float sum = 0;
#pragma unroll
    for (u32 i = 0; i < BK / 8; i += per) {
      Four v = loadShared4(base + row * 128 + ((i + thread() % per) ^ (row & 7)) * 16);
#pragma unroll
      for (u32 j = 0; j < 4; j++) sum += low<element>(v[j]) + high<element>(v[j]);
    }
    sums[0] += sum;
  } else {
    u32 pair = thread() % (rows / 2), box = pair / 32, at = pair % 32;
    float first = 0, second = 0;
#pragma unroll
    for (u32 i = 0; i < BK; i += 512 / rows) {
      u32 k = i + thread() / (rows / 2), v = loadShared(base + box * boxBytes + k * 128 + ((at / 4) ^ (k & 7)) * 16 + at % 4 * 4);
      first += low<element>(v), second += high<element>(v);
    }
    sums[0] += first, sums[1] += second;
  }
  asm volatile("bar.warp.sync 0xffffffff;" ::: "memory"); // all have read the panel before it is handed over
}
template <u32 rows, bool along> DEVICE void writeSumsOf(const float (&sums)[2], const Result &r, u32 row, u32 all) {
  static SHARED float groups[512];
  u32 count = 512 / rows;
  if (along) {
    count = 256 / rows;
    groups[thread() % count * rows + thread() / count] = sums[0];
  } else {
    float *at = groups + thread() / (rows / 2) * rows + thread() % (rows / 2) * 2;
    at[0] = sums[0], at[1] = sums[1];
  }
  asm volatile("bar.sync 1, 256;" ::: "memory");
  writeSums<rows, element>(r, groups, count, row, all);
}

struct Product {
  u32 m, n, k;
  u32 aBatch, bBatch; // whether the operand has a batch of its own
};

template <bool aAlong, bool bAlong> DEVICE void product(void *y, u64 mapA, u64 mapB, const Product &p, const Result &r) {
  static SHARED u64 barriers[2 * stages];
  u32 full = sharedAddress(barriers), empty = full + 8 * stages, base = sharedAddress(dynamicShared);
  u32 batch = blockZ(), group = thread() / 128;
  Tile t = tile(block(), up(p.m, BM), up(p.n, BN));
  u32 row = t.m * BM, column = t.n * BN;
  u32 steps = up(p.k, BK), each = up(steps, r.parts), first = least(blockY() * each, steps), count = least(each, steps - first);
  makeBarriers<stages>(full, empty);

  if (group == 2) { // the warps that copy
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (thread() == 256) {
#pragma unroll 1
      for (u32 s = 0; s < count; s++) {
        u32 slot = s % stages, at = base + slot * stageBytes, done = full + 8 * slot;
        u32 k = (first + s) * BK, za = p.aBatch ? batch : 0, zb = p.bBatch ? batch : 0;
        if (s >= stages) awaitParity(empty + 8 * slot, (s / stages - 1) & 1);
        expectBytes(done, stageBytes);
        if (aAlong) {
          copyBox(at, mapA, k, row, za, done);
        } else {
#pragma unroll
          for (u32 i = 0; i < BM / 64; i++) copyBox(at + i * boxBytes, mapA, row + i * 64, k, za, done);
        }
        if (bAlong) {
          copyBox(at + bytesA, mapB, k, column, zb, done);
        } else {
#pragma unroll
          for (u32 i = 0; i < BN / 64; i++) copyBox(at + bytesA + i * boxBytes, mapB, column + i * 64, k, zb, done);
        }
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    u32 summed = summedIn(r, t);
    float sum[128], ofFactor[2] = {0, 0};
#pragma unroll
    for (int i = 0; i < 128; i++) sum[i] = 0;
    // No other instruction may write the sums between the first wgmma and the last wait, or
    // ptxas would serialize the wgmma.
    if (count > 0) {
      u32 s = 0;
#pragma unroll 1
      do {
        u32 slot = s % stages, b = base + slot * stageBytes + bytesA, a = base + slot * stageBytes + group * boxBytes;
        awaitParity(full + 8 * slot, s / stages & 1);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (u32 k = 0; k < BK / 16; k++)
          multiply<aAlong, bAlong>(sum, descriptor(a + k * (aAlong ? 32 : 2048), boxBytes, 1024), descriptor(b + k * (bAlong ? 32 : 2048), boxBytes, 1024));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        if (summed == 1) sumsOfPanel<BM, aAlong>(ofFactor, base + slot * stageBytes);
        if (summed == 2) sumsOfPanel<BN, bAlong>(ofFactor, b);
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory"); // the previous step is finished
        if (s > 0 && lane() == 0) arrive(empty + 8 * ((s - 1) % stages));
      } while (++s < count);
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    i64 start = (i64)batch * r.batch;
    auto unscaled = [] { return [](float v) { return v; }; };
    if (summed == 1) writeSumsOf<BM, aAlong>(ofFactor, r, row, p.m);
    if (summed == 2) writeSumsOf<BN, bAlong>(ofFactor, r, column, p.n);
    if (!store<element, BN, stages * stageBytes, true>(y, sum, row, column, p.m, p.n, start, r, r.biasRows, unscaled)) return;
    if (summed == 1) finishSums<BM, element, float>(r, row, p.m);
    if (summed == 2) finishSums<BN, element, float>(r, column, p.n);
  }
}

// The letters give the memory order of a and b: t if it is contiguous along k, n if it is
// contiguous along the other dimension.
#define ENTRY(name, aAlong, bAlong)                            \
  KERNEL(name, 384, 1)(void *y, Map, Map, Product p, Result r) { \
    MAP(a, name, 1);                                           \
    MAP(b, name, 2);                                           \
    product<aAlong, bAlong>(y, a, b, p, r);                    \
  }
ENTRY(wgmma_tn, true, false)
ENTRY(wgmma_tt, true, true)
ENTRY(wgmma_nn, false, false)
ENTRY(wgmma_nt, false, true)
