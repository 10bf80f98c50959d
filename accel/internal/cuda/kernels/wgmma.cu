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
// variants: bf16_sm90 f16_sm90
#include "hopper.h"

#if defined(IS_f16)
typedef f16 element;
#else
typedef bf16 element;
#endif

constexpr u32 BM = 128, BN = 256, BK = 64, stages = 4;
constexpr u32 bytesA = BM * BK * 2, bytesB = BN * BK * 2, stageBytes = bytesA + bytesB;
constexpr u32 boxBytes = 64 * BK * 2;

extern SHARED __attribute__((aligned(1024))) u8 dynamicShared[];

// multiply computes sum += a·b of 64×256 and 16 of k.
template <bool aAlong, bool bAlong> DEVICE void multiply(float (&sum)[128], u64 a, u64 b) {
#if defined(IS_f16)
  asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 "
#else
  asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 "
#endif
               "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
               "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
               "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
               "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63,"
               "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,"
               "%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,"
               "%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,"
               "%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127}, "
               "%128, %129, 1, 1, 1, %130, %131;"
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]), "+f"(sum[7]),
                 "+f"(sum[8]), "+f"(sum[9]), "+f"(sum[10]), "+f"(sum[11]), "+f"(sum[12]), "+f"(sum[13]), "+f"(sum[14]), "+f"(sum[15]),
                 "+f"(sum[16]), "+f"(sum[17]), "+f"(sum[18]), "+f"(sum[19]), "+f"(sum[20]), "+f"(sum[21]), "+f"(sum[22]), "+f"(sum[23]),
                 "+f"(sum[24]), "+f"(sum[25]), "+f"(sum[26]), "+f"(sum[27]), "+f"(sum[28]), "+f"(sum[29]), "+f"(sum[30]), "+f"(sum[31]),
                 "+f"(sum[32]), "+f"(sum[33]), "+f"(sum[34]), "+f"(sum[35]), "+f"(sum[36]), "+f"(sum[37]), "+f"(sum[38]), "+f"(sum[39]),
                 "+f"(sum[40]), "+f"(sum[41]), "+f"(sum[42]), "+f"(sum[43]), "+f"(sum[44]), "+f"(sum[45]), "+f"(sum[46]), "+f"(sum[47]),
                 "+f"(sum[48]), "+f"(sum[49]), "+f"(sum[50]), "+f"(sum[51]), "+f"(sum[52]), "+f"(sum[53]), "+f"(sum[54]), "+f"(sum[55]),
                 "+f"(sum[56]), "+f"(sum[57]), "+f"(sum[58]), "+f"(sum[59]), "+f"(sum[60]), "+f"(sum[61]), "+f"(sum[62]), "+f"(sum[63]),
                 "+f"(sum[64]), "+f"(sum[65]), "+f"(sum[66]), "+f"(sum[67]), "+f"(sum[68]), "+f"(sum[69]), "+f"(sum[70]), "+f"(sum[71]),
                 "+f"(sum[72]), "+f"(sum[73]), "+f"(sum[74]), "+f"(sum[75]), "+f"(sum[76]), "+f"(sum[77]), "+f"(sum[78]), "+f"(sum[79]),
                 "+f"(sum[80]), "+f"(sum[81]), "+f"(sum[82]), "+f"(sum[83]), "+f"(sum[84]), "+f"(sum[85]), "+f"(sum[86]), "+f"(sum[87]),
                 "+f"(sum[88]), "+f"(sum[89]), "+f"(sum[90]), "+f"(sum[91]), "+f"(sum[92]), "+f"(sum[93]), "+f"(sum[94]), "+f"(sum[95]),
                 "+f"(sum[96]), "+f"(sum[97]), "+f"(sum[98]), "+f"(sum[99]), "+f"(sum[100]), "+f"(sum[101]), "+f"(sum[102]), "+f"(sum[103]),
                 "+f"(sum[104]), "+f"(sum[105]), "+f"(sum[106]), "+f"(sum[107]), "+f"(sum[108]), "+f"(sum[109]), "+f"(sum[110]), "+f"(sum[111]),
                 "+f"(sum[112]), "+f"(sum[113]), "+f"(sum[114]), "+f"(sum[115]), "+f"(sum[116]), "+f"(sum[117]), "+f"(sum[118]), "+f"(sum[119]),
                 "+f"(sum[120]), "+f"(sum[121]), "+f"(sum[122]), "+f"(sum[123]), "+f"(sum[124]), "+f"(sum[125]), "+f"(sum[126]), "+f"(sum[127])
               : "l"(a), "l"(b), "n"(aAlong ? 0 : 1), "n"(bAlong ? 0 : 1));
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
    float sum[128];
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
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory"); // the previous step is finished
        if (s > 0 && lane() == 0) arrive(empty + 8 * ((s - 1) % stages));
      } while (++s < count);
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    asm volatile("bar.sync 1, 256;" ::: "memory"); // both groups: the panels are no longer used

    // Each warp transposes its 16 rows in shared memory, so that stores are contiguous.
    constexpr u32 pitch = BN + 8;
    static_assert(8 * 16 * pitch * 4 <= stages * stageBytes, "room for all rows");
    float *lines = (float *)dynamicShared + warp() * 16 * pitch;
#pragma unroll
    for (u32 j = 0; j < BN / 8; j++)
#pragma unroll
      for (u32 q = 0; q < 4; q++) lines[(lane() / 4 + q / 2 * 8) * pitch + j * 8 + lane() % 4 * 2 + q % 2] = sum[j * 4 + q];
    asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
    i64 start = (i64)batch * r.batch + (i64)blockY() * r.part;
    bool whole = r.parts == 1;
    auto biasAt = [&](u32 i) { return r.half ? number(((const element *)r.bias)[i]) : ((const float *)r.bias)[i]; };
#pragma unroll 1
    for (u32 i = 0; i < 16 * BN; i += 32) {
      u32 rr = row + group * 64 + warp() % 4 * 16 + i / BN, c = column + i % BN + lane();
      if (rr >= p.m || c >= p.n) continue;
      float v = lines[i / BN * pitch + i % BN + lane()];
      if (whole && r.bias) v += biasAt(r.biasRows ? rr : c);
      if (whole && r.relu && v < 0) v = 0;
      i64 at = start + (i64)rr * r.row + c;
      if (r.half && whole)
        ((element *)y)[at] = rounded<element>(v);
      else
        ((float *)y)[at] = v;
    }
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
