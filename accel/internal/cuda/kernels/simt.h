// Matrix multiplication on the CUDA cores, in float32 and float64.
//
// 256 threads compute a tile of BM×BN, TM×TN each, from panels of 16 of k in two buffers in
// shared memory: one is filled while the other is used. A thread's rows are in groups of
// four, BM/2 apart, and its columns likewise, so that a warp reads a panel without bank
// conflicts. In float32 a tile of 128×128 does 64 fused multiply-adds for four loads of 16
// bytes from shared memory: it is bound by arithmetic.
#pragma once
#include "matmul.h"

constexpr u32 depthStep = 16;

template <typename T, u32 BM, u32 BN> struct __attribute__((aligned(16))) Panels {
  T a[2][depthStep][BM + 4];
  T b[2][depthStep][BN + 4];
};

// loadFour loads four elements that are next to each other, 16 bytes at a time: the reads of single elements would take as
// long as the multiply-adds.
template <typename T> DEVICE void loadFour(T *to, const T *from) {
  constexpr u32 wide = 16 / sizeof(T);
  typedef T Wide __attribute__((ext_vector_type(wide)));
#pragma unroll
  for (u32 i = 0; i < 4; i += wide) {
    Wide v = *(const Wide *)(from + i);
#pragma unroll
    for (u32 j = 0; j < wide; j++) to[i + j] = v[j];
  }
}

// Filler moves a panel of an operand from memory through registers. kFirst means that it is
// contiguous along k, so neighboring threads load neighbors along k.
template <typename T, typename Factor, u32 B, bool kFirst> struct Filler {
  static constexpr u32 count = B * depthStep / 256;
  T held[count];

  DEVICE u32 rowOf(u32 i) { return kFirst ? thread() / depthStep + i * (256 / depthStep) : thread() % B; }
  DEVICE u32 kOf(u32 i) { return kFirst ? thread() % depthStep : thread() / B + i * (256 / B); }

  MEMBER void load(T (*)[B + 4], const Factor &f, u32 row, u32 k) {
    asm volatile("" : "+r"(row), "+r"(k)); // recompute the offsets: registers are scarcer than time
    if (kFirst) {
      auto at = f.k(k + kOf(0));
#pragma unroll
      for (u32 i = 0; i < count; i++) held[i] = f.at(f.row(row + rowOf(i)), at);
    } else {
      auto at = f.row(row + rowOf(0));
#pragma unroll
      for (u32 i = 0; i < count; i++) held[i] = f.at(at, f.k(k + kOf(i)));
    }
  }
  MEMBER void store(T (*panel)[B + 4]) {
#pragma unroll
    for (u32 i = 0; i < count; i++) panel[kOf(i)][rowOf(i)] = held[i];
  }
};

// An operand in memory is copied by cp.async, without registers and while the panel before it is
// used: 16 bytes at a time if it is contiguous and aligned across k, as the panel is, else
// element by element. What is outside of it becomes 0.
template <typename T, u32 B, bool kFirst> struct Filler<T, Strided<T>, B, kFirst> {
  using Elements = Filler<T, u32, B, kFirst>;
  static constexpr u32 wide = 16 / sizeof(T), perLine = B / wide;

  MEMBER void load(T (*panel)[B + 4], const Strided<T> &f, u32 row, u32 k) {
    asm volatile("" : "+r"(row), "+r"(k));
    if (!kFirst && f.rowStride == 1 && f.kStride % wide == 0 && (u64)f.data % 16 == 0) {
#pragma unroll
      for (u32 i = 0; i < Elements::count / wide; i++) {
        u32 c = thread() + i * 256, of = c / perLine, r = c % perLine * wide, at = row + r;
        u32 inside = k + of < f.depth && at < f.rows ? least(f.rows - at, wide) * (u32)sizeof(T) : 0;
        copyAsync<16>(sharedAddress(&panel[of][r]), f.data + (i64)(k + of) * f.kStride + at, inside);
      }
      return;
    }
#pragma unroll kFirst ? Elements::count : 1 // few registers are left beside the wide copies
    for (u32 i = 0; i < Elements::count; i++) {
      u32 of = Elements::kOf(i), r = Elements::rowOf(i);
      auto line = f.row(row + r);
      auto depth = f.k(k + of);
      copyAsync<sizeof(T)>(sharedAddress(&panel[of][r]), f.data + line.at + depth.at, line.in && depth.in ? sizeof(T) : 0);
    }
  }
  MEMBER void store(T (*)[B + 4]) {
    commitCopies();
    awaitCopies<0>();
  }
};

struct Nothing {
  MEMBER void operator()(u32) const {}
};

// sumOfPanel sums along k what a thread has of a panel: every 256/B-th element of one row.
template <typename T, u32 B> DEVICE T sumOfPanel(const T (*panel)[B + 4]) {
  T sum = 0;
#pragma unroll
  for (u32 k = 0; k < depthStep; k += 256 / B) sum += panel[k + thread() / B][thread() % B];
  return sum;
}

// writeLines writes lines of the result; line l is row first + l·apart.
template <typename T, u32 lines, u32 BN, bool ends> DEVICE void writeLines(T *to, i64 start, const T (*from)[BN + 4], u32 first, u32 apart, u32 column, u32 m, u32 n, const Result &r) {
  const T *bias = (const T *)r.bias;
  u32 c = column + thread() % BN;
  if (c >= n) return;
  u32 run = r.inner.quotient(c);
  T *at = to + (i64)run * r.outer + (c - run * r.inner.by);
  T shift = bias && !r.biasRows ? bias[c] : 0;
#pragma unroll 1
  for (u32 l = thread() / BN; l < lines; l += 256 / BN) {
    u32 row = first + l * apart;
    if (row >= m) break;
    T v = from[l][thread() % BN] + shift;
    if (bias && r.biasRows) v += bias[row];
    if (r.relu && v < 0) v = 0;
    if constexpr (ends)
      if (r.end) v = endedAt<T>(r, v, start + (at - to) + (i64)row * r.row);
    at[(i64)row * r.row] = v;
  }
}

// simtSum sums the steps of k from step to end, of a tile at row and column. It calls each with the number of the buffer
// that is used in a step.
template <typename T, u32 BM, u32 BN, u32 TM, u32 TN, bool aFirst, bool bFirst, typename A, typename B, typename Each = Nothing>
DEVICE void simtSum(T (&sum)[TM][TN], Panels<T, BM, BN> &panels, const A &a, const B &b, u32 row, u32 column, u32 step, u32 end, const Each &each = Each()) {
  constexpr u32 acrossN = BN / TN; // threads along n
  static_assert(BM / TM * acrossN == 256 && TM % 4 == 0 && TN % 4 == 0, "256 threads");
  u32 ty = thread() / acrossN, tx = thread() % acrossN;
#pragma unroll
  for (u32 i = 0; i < TM; i++)
#pragma unroll
    for (u32 j = 0; j < TN; j++) sum[i][j] = 0;

  Filler<T, A, BM, aFirst> fillA;
  Filler<T, B, BN, bFirst> fillB;
  if (step < end) {
    fillA.load(panels.a[step & 1], a, row, step * depthStep);
    fillB.load(panels.b[step & 1], b, column, step * depthStep);
    fillA.store(panels.a[step & 1]);
    fillB.store(panels.b[step & 1]);
  }
  barrier();
  for (; step < end; step++) {
    u32 now = step & 1;
    bool more = step + 1 < end;
    if (more) {
      fillA.load(panels.a[now ^ 1], a, row, (step + 1) * depthStep);
      fillB.load(panels.b[now ^ 1], b, column, (step + 1) * depthStep);
    }
    each(now);
#pragma unroll 2
    for (u32 k = 0; k < depthStep; k++) {
      T x[TM], z[TN];
#pragma unroll
      for (u32 i = 0; i < TM; i += 4) loadFour(x + i, &panels.a[now][k][i / 4 * (BM * 4 / TM) + ty * 4]);
#pragma unroll
      for (u32 j = 0; j < TN; j += 4) loadFour(z + j, &panels.b[now][k][j / 4 * (BN * 4 / TN) + tx * 4]);
#pragma unroll
      for (u32 i = 0; i < TM; i++)
#pragma unroll
        for (u32 j = 0; j < TN; j++) sum[i][j] = fused(x[i], z[j], sum[i][j]);
    }
    if (more) {
      fillA.store(panels.a[now ^ 1]);
      fillB.store(panels.b[now ^ 1]);
    }
    barrier();
  }
}

template <typename T, u32 BM, u32 BN, u32 TM, u32 TN, bool aFirst, bool bFirst, bool ends = false, bool sums = false, typename A, typename B>
DEVICE void simtProduct(T *y, const A &a, const B &b, u32 m, u32 n, u32 depth, const Result &r, u32 batch) {
  static SHARED Panels<T, BM, BN> panels;
  Tile t = tile(block(), up(m, BM), up(n, BN));
  u32 row = t.m * BM, column = t.n * BN, part = blockY();
  u32 steps = up(depth, depthStep), each = up(steps, r.parts), step = least(part * each, steps);
  u32 summed = sums ? summedIn(r, t) : 0;
  T sum[TM][TN], ofFactor = 0;
  if constexpr (sums)
    simtSum<T, BM, BN, TM, TN, aFirst, bFirst>(sum, panels, a, b, row, column, step, least(step + each, steps), [&](u32 now) __attribute__((always_inline)) {
      if (summed) ofFactor += sumOfPanel<T, BM>(summed == 1 ? panels.a[now] : panels.b[now]);
    });
  else
    simtSum<T, BM, BN, TM, TN, aFirst, bFirst>(sum, panels, a, b, row, column, step, least(step + each, steps));
  if (summed) {
    T *all = (T *)&panels;
    all[thread()] = ofFactor;
    barrier();
    writeSums<BM, T>(r, all, 256 / BM, summed == 1 ? row : column, summed == 1 ? m : n);
    barrier();
  }
  if (!joined<256, 0, TM * TN>(&sum[0][0], r, batch)) return;
  if (summed) finishSums<BM, T, T>(r, summed == 1 ? row : column, summed == 1 ? m : n);
  u32 ty = thread() / (BN / TN), tx = thread() % (BN / TN);

  // Write row by row of each thread through shared memory, so that stores are contiguous
  // and the code is small.
  i64 start = (i64)batch * r.batch;
  T *to = y + start;
  asm volatile("" : "+r"(row), "+r"(column)); // compute what follows from them here, not before
  constexpr u32 band = BM / TM; // rows of the tile per iteration
  T (*lines)[BN + 4] = (T (*)[BN + 4]) & panels;
  static_assert(sizeof(T) * band * (BN + 4) <= sizeof(panels), "room for a band");
#pragma unroll
  for (u32 i = 0; i < TM; i++) {
#pragma unroll
    for (u32 j = 0; j < TN; j++) lines[ty][j / 4 * (BN * 4 / TN) + tx * 4 + j % 4] = sum[i][j];
    barrier();
    // Line l of the band belongs to threads with ty = l.
    writeLines<T, band, BN, ends>(to, start, lines, row + i / 4 * (BM * 4 / TM) + i % 4, 4, column, m, n, r);
    barrier();
  }
}
