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
#include "hopper.h"

constexpr u32 BM = 128, BN = 128, BK = 128, stages = 4;
constexpr u32 bytesA = BM * BK, bytesB = BN * BK, stageBytes = bytesA + bytesB;

extern SHARED __attribute__((aligned(1024))) u8 dynamicShared[];

// multiply computes sum = a·b, or sum += a·b, of 64×128 and 32 of k.
DEVICE void multiply(float (&sum)[64], u64 a, u64 b, u32 adds) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %66, 0;\n\t"
#if defined(IS_e4m3)
               "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 "
#else
               "wgmma.mma_async.sync.aligned.m64n128k32.f32.e5m2.e4m3 "
#endif
               "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
               "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
               "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
               "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, "
               "%64, %65, p, 1, 1;\n\t}"
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]), "+f"(sum[7]),
                 "+f"(sum[8]), "+f"(sum[9]), "+f"(sum[10]), "+f"(sum[11]), "+f"(sum[12]), "+f"(sum[13]), "+f"(sum[14]), "+f"(sum[15]),
                 "+f"(sum[16]), "+f"(sum[17]), "+f"(sum[18]), "+f"(sum[19]), "+f"(sum[20]), "+f"(sum[21]), "+f"(sum[22]), "+f"(sum[23]),
                 "+f"(sum[24]), "+f"(sum[25]), "+f"(sum[26]), "+f"(sum[27]), "+f"(sum[28]), "+f"(sum[29]), "+f"(sum[30]), "+f"(sum[31]),
                 "+f"(sum[32]), "+f"(sum[33]), "+f"(sum[34]), "+f"(sum[35]), "+f"(sum[36]), "+f"(sum[37]), "+f"(sum[38]), "+f"(sum[39]),
                 "+f"(sum[40]), "+f"(sum[41]), "+f"(sum[42]), "+f"(sum[43]), "+f"(sum[44]), "+f"(sum[45]), "+f"(sum[46]), "+f"(sum[47]),
                 "+f"(sum[48]), "+f"(sum[49]), "+f"(sum[50]), "+f"(sum[51]), "+f"(sum[52]), "+f"(sum[53]), "+f"(sum[54]), "+f"(sum[55]),
                 "+f"(sum[56]), "+f"(sum[57]), "+f"(sum[58]), "+f"(sum[59]), "+f"(sum[60]), "+f"(sum[61]), "+f"(sum[62]), "+f"(sum[63])
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
  if (thread() == 0) {
#pragma unroll
    for (u32 s = 0; s < stages; s++) initBarrier(full + 8 * s, 1), initBarrier(empty + 8 * s, 8);
    barriersMade();
  }
  barrier();

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
  asm volatile("bar.sync 1, 256;" ::: "memory"); // both groups: the panels are no longer used

  // Each warp transposes its 16 rows in shared memory, so that stores are contiguous.
  constexpr u32 pitch = BN + 8;
  static_assert(8 * 16 * pitch * 4 <= stages * stageBytes, "room for all rows");
  float *lines = (float *)dynamicShared + warp() * 16 * pitch;
#pragma unroll
  for (u32 j = 0; j < BN / 8; j++)
#pragma unroll
    for (u32 q = 0; q < 4; q++) lines[(lane() / 4 + q / 2 * 8) * pitch + j * 8 + lane() % 4 * 2 + q % 2] = total[j * 4 + q];
  asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
  Unscaled scale = Unscaled::of(Factor8{0, p.aHead, 0}, Factor8{0, p.bHead, 0});
  i64 start = (i64)blockY() * r.part;
  bool whole = r.parts == 1;
  auto biasAt = [&](u32 i) { return r.half ? number(((const bf16 *)r.bias)[i]) : ((const float *)r.bias)[i]; };
#pragma unroll 1
  for (u32 i = 0; i < 16 * BN; i += 32) {
    u32 rr = row + group * 64 + warp() % 4 * 16 + i / BN, c = column + i % BN + lane();
    if (rr >= p.m || c >= p.n) continue;
    float v = scale.of(lines[i / BN * pitch + i % BN + lane()]);
    if (whole && r.bias) v += biasAt(c);
    if (whole && r.relu && v < 0) v = 0;
    i64 at = start + (i64)rr * r.row + c;
    if (r.half && whole)
      ((bf16 *)y)[at] = rounded<bf16>(v);
    else
      ((float *)y)[at] = v;
  }
}
