// What the kernels with wgmma share: the registers of its sums, the ring of stages, and how a tile
// is stored. A block has three groups of four warps: two compute, each half of the tile's 128
// rows, and one copies.
#pragma once
#include "hopper.h"

extern SHARED __attribute__((aligned(1024))) u8 dynamicShared[];

// The operands of wgmma: SUMS64(i) are 64 sums from the i-th, REGISTERS64 and REGISTERS128 their names.
#define SUMS8(i) \
  "+f"(sum[i]), "+f"(sum[i + 1]), "+f"(sum[i + 2]), "+f"(sum[i + 3]), "+f"(sum[i + 4]), "+f"(sum[i + 5]), "+f"(sum[i + 6]), "+f"(sum[i + 7])
#define SUMS64(i) SUMS8(i), SUMS8(i + 8), SUMS8(i + 16), SUMS8(i + 24), SUMS8(i + 32), SUMS8(i + 40), SUMS8(i + 48), SUMS8(i + 56)
#define REGISTERS64                                    \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15," \
  "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31," \
  "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47," \
  "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define REGISTERS128                                   \
  REGISTERS64 ","                                      \
  "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79," \
  "%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95," \
  "%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111," \
  "%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"

// makeBarriers initializes those that hand the stages of the ring over.
template <u32 stages> DEVICE void makeBarriers(u32 full, u32 empty) {
  if (thread() == 0) {
#pragma unroll
    for (u32 s = 0; s < stages; s++) initBarrier(full + 8 * s, 1), initBarrier(empty + 8 * s, 8);
    barriersMade();
  }
  barrier();
}

// Pack is what a lane writes at once: 16 bytes, or one element.
template <typename E, u32 count> union Pack {
  typedef u32 Words __attribute__((ext_vector_type(sizeof(E) * count / 4)));
  Words all;
  E of[count];
};
template <typename E> union Pack<E, 1> {
  E all, of[1];
};

// writeRows writes a warp's 16 rows of the tile from lines in shared memory, times a scale, plus a bias.
template <typename E, u32 count, u32 BN, bool ends, typename Scaled>
DEVICE void writeRows(E *y, const float *lines, u32 row, u32 column, u32 m, u32 n, i64 start, const Result &r, bool biasRows, Scaled scaled) {
  using Elements = Pack<E, count>;
#pragma unroll 1
  for (u32 i = lane() * count; i < 16 * BN; i += 32 * count) {
    u32 rr = row + i / BN, c = column + i % BN;
    if (rr >= m || c >= n) continue;
    i64 at = start + (i64)rr * r.row + c;
    const float *from = lines + i / BN * (BN + 8) + i % BN;
    Elements x, bias, out;
    if (ends && r.end && r.end < gelu) x.all = *(const decltype(x.all) *)((const E *)r.beside + at);
    if (r.bias && !biasRows) bias.all = *(const decltype(bias.all) *)((const E *)r.bias + c);
    float shift = r.bias && biasRows ? number(((const E *)r.bias)[rr]) : 0;
#pragma unroll
    for (u32 j = 0; j < count; j++) {
      float v = scaled(from[j]);
      if (r.bias) v += biasRows ? shift : number(bias.of[j]);
      if (r.relu && v < 0) v = 0;
      if (ends && r.end) {
        E of = rounded<E>(v);
        if (r.end >= gelu) x.of[j] = of;
        v = ended(r.end, number(of), number(x.of[j]));
      }
      out.of[j] = rounded<E>(v);
    }
    *(decltype(out.all) *)(y + at) = out.all;
    if (ends && r.end >= gelu && r.beside) *(decltype(x.all) *)((E *)r.beside + at) = x.all;
  }
}

// store adds up the parts' sums and writes those of a warp, its 16 rows of the tile from row and column. Each warp transposes
// them in shared memory, so that stores are contiguous, and of 16 bytes if rows are aligned to that. It returns true in the block that has the sums of all parts.
template <typename element, u32 BN, u32 ring, bool ends, typename Scale>
DEVICE bool store(void *y, float (&sum)[BN / 2], u32 row, u32 column, u32 m, u32 n, i64 start, const Result &r, bool biasRows, Scale scale) {
  asm volatile("bar.sync 1, 256;" ::: "memory"); // both groups: the panels are no longer used
  if (!joined<256, 1, BN / 2>(sum, r, blockZ())) return false;
  constexpr u32 pitch = BN + 8;
  static_assert(8 * 16 * pitch * 4 <= ring, "room for all rows");
  float *lines = (float *)dynamicShared + warp() * 16 * pitch;
#pragma unroll
  for (u32 j = 0; j < BN / 8; j++)
#pragma unroll
    for (u32 q = 0; q < 4; q++) lines[(lane() / 4 + q / 2 * 8) * pitch + j * 8 + lane() % 4 * 2 + q % 2] = sum[j * 4 + q];
  asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
  auto scaled = scale();
  u64 addresses = (u64)y | (biasRows ? 0 : r.bias) | (ends && r.end ? r.beside : 0), offsets = (u64)start | (u64)r.row | n;
  bool wide = addresses % 16 == 0 && offsets % 8 == 0;
  row += thread() / 128 * 64 + warp() % 4 * 16;
  if (r.half) {
    if (wide) writeRows<element, 8, BN, ends>((element *)y, lines, row, column, m, n, start, r, biasRows, scaled);
    else writeRows<element, 1, BN, ends>((element *)y, lines, row, column, m, n, start, r, biasRows, scaled);
  } else {
    if (wide) writeRows<float, 4, BN, ends>((float *)y, lines, row, column, m, n, start, r, biasRows, scaled);
    else writeRows<float, 1, BN, ends>((float *)y, lines, row, column, m, n, start, r, biasRows, scaled);
  }
  return true;
}
