// Matrix multiplication on tensor cores, of bfloat16, float16, float32 rounded to TF32, or
// 8-bit floats, with float32 accumulation.
//
// A block computes a tile of BM×BN, its warps parts of it with mma.sync. Panels of 64 bytes
// of k come through a ring of stages in shared memory, by cp.async where rows are aligned
// to 16 bytes, else by ordinary loads. Chunks of 16 bytes within a panel are swizzled so
// that neither copies nor ldmatrix have bank conflicts.
//
// A panel has the memory order of its operand: along k ("rows" of 64 bytes each), or across
// it ("lines" of the whole tile for one k).
#pragma once
#include "matmul.h"

#if defined(IS_f16)
typedef f16 element;
#elif defined(IS_tf32)
typedef float element;
#elif defined(IS_e4m3) || defined(IS_e5m2)
typedef u8 element;
#else
typedef bf16 element;
#endif
#if defined(IS_e4m3) || defined(IS_e5m2)
typedef bf16 half; // the type that a result may be rounded to
#else
typedef element half;
#endif

constexpr u32 chunk = 16 / sizeof(element); // elements in 16 bytes
constexpr u32 depthStep = 64 / sizeof(element);
constexpr u32 stages = 4;

extern SHARED __attribute__((aligned(128))) u8 dynamicShared[];

DEVICE Four loadMatrices(u32 at) {
  Four v;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(at) : "memory");
  return v;
}
DEVICE Four loadTransposed(u32 at) {
  Four v;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(at) : "memory");
  return v;
}
DEVICE void storeShared(u32 at, Four v) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]) : "memory");
}

// multiply computes d += a·b of m16 n8 and 32 bytes of k.
DEVICE void multiply(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {
#if defined(IS_f16)
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
#elif defined(IS_tf32)
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
#elif defined(IS_e4m3)
  asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
#elif defined(IS_e5m2) // the second operand is always E4M3
  asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
#else
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
#endif
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// operand converts a loaded register to the input format of mma: TF32 is rounded first.
DEVICE u32 operand(u32 v) {
#ifdef IS_tf32
  u32 r;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(bits(v)));
  return r;
#else
  return v;
#endif
}

// Panel maps the elements of a panel of B rows to shared memory. Along k, a row has four
// chunks of 16 bytes, two rows per 128-byte bank line; across k, a line has B/chunk chunks.
template <u32 B, bool along> struct Panel {
  static constexpr u32 bytes = B * 64;
  static constexpr u32 chunks = bytes / 16;
  // The row (or column) and k of the first element of chunk c, and its offset.
  DEVICE u32 row(u32 c) { return along ? c / 4 : c % (B / chunk) * chunk; }
  DEVICE u32 k(u32 c) { return along ? c % 4 * chunk : c / (B / chunk); }
  DEVICE u32 place(u32 row, u32 k) {
    if (along) return row * 64 + ((k / chunk) ^ (row >> 1 & 3)) * 16 + k % chunk * sizeof(element);
    u32 line = k * B * sizeof(element);
    // 16-bit: eight lines of ldmatrix in eight chunks; TF32: four lines of a quarter warp,
    // two chunks each.
    u32 twist = sizeof(element) == 2 ? k & 7 : (k & 3) * 2;
    return line + ((row / chunk) ^ twist) * 16 + row % chunk * sizeof(element);
  }

  // rowsOf16 loads the first operand of mma: 16 rows starting at row, 32 bytes of k.
  DEVICE void rowsOf16(u32 (&v)[4], u32 base, u32 row, u32 k) {
    u32 l = lane();
    if (along) {
      Four f = loadMatrices(base + place(row + (l & 15), k + (l >> 4) * chunk));
#pragma unroll
      for (int i = 0; i < 4; i++) v[i] = operand(f[i]);
    } else if (sizeof(element) == 2) {
      // matrices: low and high k of rows 0-7 and 8-15
      Four f = loadTransposed(base + place(row + (l >> 3 & 1) * 8, k + (l & 7) + (l >> 4) * 8));
#pragma unroll
      for (int i = 0; i < 4; i++) v[i] = f[i];
    } else {
#pragma unroll
      for (int i = 0; i < 4; i++) v[i] = operand(loadShared(base + place(row + l / 4 + i % 2 * 8, k + l % 4 + i / 2 * 4)));
    }
  }

  // columnsOf16 loads the second operand for two times 8 columns: v[0], v[1] and v[2],
  // v[3].
  DEVICE void columnsOf16(u32 (&v)[4], u32 base, u32 column, u32 k) {
    u32 l = lane();
    if (along) {
      Four f = loadMatrices(base + place(column + (l & 7) + (l >> 4) * 8, k + (l >> 3 & 1) * chunk));
#pragma unroll
      for (int i = 0; i < 4; i++) v[i] = operand(f[i]);
    } else if (sizeof(element) == 2) {
      Four f = loadTransposed(base + place(column + (l >> 4) * 8, k + (l & 15)));
#pragma unroll
      for (int i = 0; i < 4; i++) v[i] = f[i];
    } else {
#pragma unroll
      for (int i = 0; i < 4; i++) v[i] = operand(loadShared(base + place(column + l / 4 + i / 2 * 8, k + l % 4 + i % 2 * 4)));
    }
  }
};

// gathered loads a chunk of an operand, element by element.
template <bool along, typename Factor> DEVICE Four gathered(const Factor &f, u32 row, u32 k) {
  element e[chunk];
  if (along) {
    auto at = f.row(row);
#pragma unroll
    for (u32 i = 0; i < chunk; i++) e[i] = f.at(at, f.k(k + i));
  } else {
    auto at = f.k(k);
#pragma unroll
    for (u32 i = 0; i < chunk; i++) e[i] = f.at(f.row(row + i), at);
  }
  return __builtin_bit_cast(Four, e);
}

// Gathered fills panels element by element.
template <typename Factor> struct Gathered {
  const Factor &f;
  template <u32 B, bool along, u32 threads> MEMBER void fill(u32 to, u32 row, u32 k) const {
    using P = Panel<B, along>;
#pragma unroll
    for (u32 i = 0; i < P::chunks / threads; i++) {
      u32 c = thread() + i * threads;
      storeShared(to + P::place(P::row(c), P::k(c)), gathered<along>(f, row + P::row(c), k + P::k(c)));
    }
  }
};

// Copied fills panels from an operand in memory by asynchronous copies of chunks. Elements
// outside the operand become zero. Its rows, or lines, start at multiples of 16 bytes.
struct Copied {
  const Strided<element> &f;
  template <u32 B, bool along, u32 threads> MEMBER void fill(u32 to, u32 row, u32 k) const {
    using P = Panel<B, along>;
#pragma unroll
    for (u32 i = 0; i < P::chunks / threads; i++) {
      u32 c = thread() + i * threads, r = row + P::row(c), kk = k + P::k(c);
      bool in = r < f.rows && kk < f.depth;
      u32 left = along ? f.depth - kk : f.rows - r;
      u32 bytes = in ? least(left, chunk) * (u32)sizeof(element) : 0;
      const element *from = in ? f.data + (i64)r * f.rowStride + (i64)kk * f.kStride : f.data;
      copyAsync<16>(to + P::place(P::row(c), P::k(c)), from, bytes);
    }
  }
};

// sumsOfPanel adds what a thread has of a panel of 16-bit floats, along k: of two neighboring rows, or of one if the panel is
// along k. storeSums writes that for writeSums, and returns how many groups there are.
template <typename E, u32 B, bool along> DEVICE void sumsOfPanel(float (&sums)[2], u32 base) {
  using P = Panel<B, along>;
  if (along) {
    float sum = 0;
#pragma unroll
    for (u32 c = 0; c < 2; c++) {
      Four v = loadShared4(base + P::place(thread() / 2, (thread() % 2 * 2 + c) * chunk));
#pragma unroll
      for (u32 i = 0; i < 4; i++) sum += low<E>(v[i]) + high<E>(v[i]);
    }
    sums[0] += sum;
    return;
  }
  float first = 0, second = 0;
#pragma unroll
  for (u32 k = 0; k < depthStep; k += 4) {
    u32 v = loadShared(base + P::place(thread() % (B / 2) * 2, k + thread() / (B / 2)));
    first += low<E>(v), second += high<E>(v);
  }
  sums[0] += first, sums[1] += second;
}
template <u32 B, bool along> DEVICE u32 storeSums(float *all, const float (&sums)[2]) {
  if (along) {
    all[thread() % 2 * B + thread() / 2] = sums[0];
    return 2;
  }
  float *at = all + thread() / (B / 2) * B + thread() % (B / 2) * 2;
  at[0] = sums[0], at[1] = sums[1];
  return 4;
}

// AsTheyAre is the scale of sums that need none.
struct AsTheyAre {
  MEMBER float of(float sum) const { return sum; }
};

// mmaProduct computes a block's tile of BM×BN; each warp computes WM×WN of it. scale is
// applied to the sums, and with ends, Result.end to the results. With sums, it sums a factor, too.
template <u32 BM, u32 BN, u32 WM, u32 WN, bool aAlong, bool bAlong, bool ends = false, bool sums = false, typename A, typename B, typename Scale = AsTheyAre>
DEVICE void mmaProduct(void *y, const A &a, const B &b, u32 m, u32 n, u32 depth, const Result &r, u32 batch, const Scale &scale = Scale()) {
  constexpr u32 warpsN = BN / WN, threads = BM / WM * warpsN * 32;
  constexpr u32 MT = WM / 16, NT = WN / 8;
  using PA = Panel<BM, aAlong>;
  using PB = Panel<BN, bAlong>;
  constexpr u32 stage = PA::bytes + PB::bytes;
  constexpr u32 kStep = 32 / sizeof(element); // of k per mma
  u32 base = sharedAddress(dynamicShared);
  Tile t = tile(block(), up(m, BM), up(n, BN));
  u32 row = t.m * BM, column = t.n * BN, part = blockY();
  u32 steps = up(depth, depthStep), each = up(steps, r.parts);
  u32 first = least(part * each, steps), count = least(each, steps - first);

  float sum[MT][NT][4];
#pragma unroll
  for (u32 i = 0; i < MT; i++)
#pragma unroll
    for (u32 j = 0; j < NT; j++)
#pragma unroll
      for (u32 q = 0; q < 4; q++) sum[i][j][q] = 0;

  u32 summed = sums ? summedIn(r, t) : 0;
  float ofFactor[2] = {0, 0};
  u32 warpRow = warp() / warpsN * WM, warpColumn = warp() % warpsN * WN;
  // Step s is copied stages - 1 iterations before it is used.
  constexpr u32 ahead = stages - 1;
#pragma unroll 1
  for (u32 s = 0; s < count + ahead; s++) {
    if (s >= ahead) {
      awaitCopies<stages - 2>(); // the stage used now has arrived
      barrier();           // for all threads, which have also read the stage that is replaced
    }
    if (s < count) {
      u32 to = base + s % stages * stage, k = (first + s) * depthStep;
      a.template fill<BM, aAlong, threads>(to, row, k);
      b.template fill<BN, bAlong, threads>(to + PA::bytes, column, k);
    }
    commitCopies();
    if (s < ahead) continue;
    u32 at = base + (s - ahead) % stages * stage;
    if constexpr (sums) {
      if (summed == 1) sumsOfPanel<element, BM, aAlong>(ofFactor, at);
      if (summed == 2) sumsOfPanel<element, BN, bAlong>(ofFactor, at + PA::bytes);
    }
#pragma unroll
    for (u32 k = 0; k < depthStep; k += kStep) {
      u32 x[MT][4], z[NT / 2][4];
#pragma unroll
      for (u32 i = 0; i < MT; i++) PA::rowsOf16(x[i], at, warpRow + i * 16, k);
#pragma unroll
      for (u32 j = 0; j < NT / 2; j++) PB::columnsOf16(z[j], at + PA::bytes, warpColumn + j * 16, k);
#pragma unroll
      for (u32 i = 0; i < MT; i++)
#pragma unroll
        for (u32 j = 0; j < NT; j++) multiply(sum[i][j], x[i], z[j / 2][j % 2 * 2], z[j / 2][j % 2 * 2 + 1]);
    }
  }
  awaitCopies<0>();
  if (summed) {
    float *all = (float *)dynamicShared;
    barrier();
    u32 groups = summed == 1 ? storeSums<BM, aAlong>(all, ofFactor) : storeSums<BN, bAlong>(all, ofFactor);
    barrier();
    writeSums<BM, half>(r, all, groups, summed == 1 ? row : column, summed == 1 ? m : n);
  }
  if (!joined<threads, 0, MT * NT * 4>(&sum[0][0][0], r, batch)) return;
  if (summed) finishSums<BM, half, float>(r, summed == 1 ? row : column, summed == 1 ? m : n);

  // Write bands of 16 rows per warp through shared memory, so that stores are contiguous.
  constexpr u32 pitch = BN + 8, band = BM / WM * 16;
  static_assert(band * pitch * 4 <= stages * stage, "room for a band");
  float *lines = (float *)dynamicShared;
  asm volatile("" : "+r"(row), "+r"(column)); // compute what follows from them here, not before
  i64 start = (i64)batch * r.batch;
#pragma unroll
  for (u32 i = 0; i < MT; i++) {
    barrier();
    float *mine = lines + (warp() / warpsN * 16 + lane() / 4) * pitch + warpColumn + lane() % 4 * 2;
#pragma unroll
    for (u32 j = 0; j < NT; j++) {
      mine[j * 8] = sum[i][j][0];
      mine[j * 8 + 1] = sum[i][j][1];
      mine[j * 8 + 8 * pitch] = sum[i][j][2];
      mine[j * 8 + 8 * pitch + 1] = sum[i][j][3];
    }
    barrier();
    u32 c = column + thread() % BN;
    if (c < n) {
      u32 run = r.inner.quotient(c);
      i64 at = start + (i64)run * r.outer + (c - run * r.inner.by);
      auto biasAt = [&](u32 i) { return r.half ? number(((const half *)r.bias)[i]) : ((const float *)r.bias)[i]; };
      float shift = r.bias && !r.biasRows ? biasAt(c) : 0.f;
#pragma unroll 1
      for (u32 l = thread() / BN; l < band; l += threads / BN) {
        u32 rr = row + l / 16 * WM + i * 16 + l % 16;
        if (rr >= m) continue;
        float v = scale.of(lines[l * pitch + thread() % BN]) + shift;
        if (r.bias && r.biasRows) v += biasAt(rr);
        if (r.relu && v < 0) v = 0;
        if (ends && r.end) v = r.half ? endedAt<half>(r, v, at + (i64)rr * r.row) : endedAt<float>(r, v, at + (i64)rr * r.row);
        if (r.half)
          ((half *)y)[at + (i64)rr * r.row] = rounded<half>(v);
        else
          ((float *)y)[at + (i64)rr * r.row] = v;
      }
    }
  }
}
