// What all matrix multiplications share: operands and results in memory.
//
// A matrix multiplication is y[m, n] = Σ over k of a(m, k)·b(k, n), or a batch of them; a
// and b may be gathered from images: see conv.h. The offset of an operand's element is the
// sum of a part for its row (m or n) and a part for k, so each part is computed once for
// many elements.
#pragma once
#include "device.h"

// Divisor divides by a number that is known before the launch, using a multiplication
// (Granlund and Montgomery, PLDI 1994). Both numbers are below 2³¹.
struct Divisor {
  u32 by, factor, shift;
  MEMBER u32 quotient(u32 n) const { return by == 1 ? n : (u32)((u64)n * factor >> 32) >> shift; }
};

// Batch is up to four batch dimensions with strides.
struct Batch {
  u32 rank;
  u32 shape[4];
  u32 unused;
  i64 a[4], b[4];
};

struct Offsets {
  i64 a, b;
};

DEVICE Offsets offsets(const Batch &batch, u32 i) {
  Offsets o = {0, 0};
#pragma unroll
  for (int d = 3; d >= 0; d--)
    if (d < (int)batch.rank) {
      u32 q = i / batch.shape[d], r = i - q * batch.shape[d];
      o.a += (i64)r * batch.a[d];
      o.b += (i64)r * batch.b[d];
      i = q;
    }
  return o;
}

// Result describes where y[m, n] is written: columns come in runs of inner, which are outer
// apart. The bias is added to each row or column. With parts (split-K), the sums of the parts meet
// in work: see joined.
struct Result {
  u64 bias;   // address, 0 for none
  i64 row;    // stride
  i64 outer;  // stride of runs of columns
  i64 batch;  // stride
  u64 work;   // address of the sums of parts
  u64 beside; // address of x [m, n], of y's type: y is multiplied with the slope of an activation at x, or the argument of an
              // activation is stored there unless it is 0
  u64 sums;   // address of the sums of a factor along k
  u64 ofParts; // address of these sums of each part
  Divisor inner;
  u32 biasRows; // bias is per row, not per column
  u32 relu;
  u32 half;     // y and the bias have the operands' 16-bit type
  u32 parts;    // of the split along k
  u32 end;      // an activation or the slope of one: see ended
  u32 summed;   // the factor that sums is of, 1 for a, 2 for b
  u32 sumsHalf; // whether sums has the operands' 16-bit type
};

// joined adds up the sums of all parts of a tile, of which each thread has N. Blocks of neighboring
// parts meet, then pairs of them, and so on: the first of two leaves its sums in work, and the second
// adds them to its own. As a + b = b + a, the bits do not depend on the order in which they come. It
// returns true in the block that has the sums of all parts. Barrier name is for all threads that call it.
template <u32 threads, u32 name, u32 N, typename T> DEVICE bool joined(T *sum, const Result &r, u32 batch) {
  static SHARED u32 earlier;
  u32 tile, part; // read here: before, registers are scarce
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(tile));
  asm volatile("mov.u32 %0, %%ctaid.y;" : "=r"(part));
  tile += blocks() * batch;
  T *all = (T *)r.work + (u64)tile * r.parts * (N * threads) + thread();
#pragma unroll 1
  for (u32 width = 1; width < r.parts; width *= 2) {
    u32 right = (part & ~(2 * width - 1)) + width; // the first part of the second of two
    if (right >= r.parts) continue;
#pragma unroll
    for (u32 j = 0; j < N; j++) all[part * (N * threads) + j * threads] = sum[j];
    asm volatile("bar.sync %0, %1;" ::"n"(name), "n"(threads) : "memory");
    if (thread() == 0) {
      u32 other;
      u64 at = meeting(tile * r.parts + right);
      asm volatile("atom.acq_rel.gpu.global.exch.b32 %0, [%1], %2;" : "=r"(other) : "l"(at), "r"(part + 1) : "memory");
      if (other) asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(at), "r"(0) : "memory");
      earlier = other;
    }
    asm volatile("bar.sync %0, %1;" ::"n"(name), "n"(threads) : "memory");
    if (!earlier) return false;
    const T *its = all + (earlier - 1) * (N * threads);
#pragma unroll
    for (u32 j = 0; j < N; j++) sum[j] += its[j * threads];
  }
  return true;
}

// The ends of a product, the first three of activations' gradients.
enum End { none, reluSlope, geluSlope, geluTanhSlope, gelu, geluTanh };

// ended returns the gradient of an activation from that of its result, dy, and its argument, or for ReLU
// its result; or an activation of x. The formulas are those of fused kernels, package accel/internal/cuda/ptx.
DEVICE float ended(u32 end, float dy, float x) {
  asm volatile("" : "+r"(end)); // else the compiler adds a way out for other numbers, at which the threads of a warp never meet again
  if (end == reluSlope) return x > 0 ? dy : 0;
  if (end == geluSlope || end == gelu) {
    Normal n = Normal::at(x);
    if (end == gelu) return x < -15 ? 0 : x * n.y;
    return dy * (n.density == 0 ? n.y : fused(x, n.density, n.y));
  }
  float a = x;
  if (end == geluTanhSlope) a = x > 100 ? 100 : x < -100 ? -100 : x; // beyond, the slope is 0 or 1, but x³ may be infinite
  float t = tangent((a * a * a * 0.044715f + a) * 0.79788456f);
  if (end == geluTanh) return x * (t + 1) * 0.5f;
  float inner = (a * a * 0.134145f + 1) * 0.79788456f;
  return dy * ((t + 1 + a * (1 - t * t) * inner) * 0.5f);
}

// endedAt applies ended to element at of y, a sum that is rounded to its type E.
template <typename E> DEVICE float endedAt(const Result &r, float sum, i64 at) {
  E of = rounded<E>(sum), *beside = (E *)r.beside + at;
  if (r.end < gelu) return ended(r.end, number(of), number(*beside));
  if (r.beside) *beside = of;
  return ended(r.end, number(of), number(of));
}

// Tile is the part of the result that a block computes. Neighboring blocks compute tiles
// of a band eight tiles high, so that they share their reads in the cache.
struct Tile {
  u32 m, n;
};

DEVICE Tile tile(u32 t, u32 rows, u32 columns) {
  u32 band = 8 * columns, first = t / band * 8, height = least(rows - first, 8u), in = t % band;
  return Tile{first + in % height, in / height};
}

// summedIn returns which factor's panels a block adds up along k, 0 for none: the blocks at an edge of the
// result do that for their rows of a or columns of b.
DEVICE u32 summedIn(const Result &r, Tile t) { return r.summed == 1 && t.n == 0 ? 1 : r.summed == 2 && t.m == 0 ? 2 : 0; }

template <typename E, typename T> DEVICE void storeSum(const Result &r, T sum, u32 i) {
  if (sizeof(E) == 2 && r.sumsHalf) ((E *)r.sums)[i] = rounded<E>(sum);
  else ((T *)r.sums)[i] = sum;
}

// writeSums writes a part's sums of B rows or columns from row, of which there are rows in all. groups of them, in shared
// memory, are added up. E is the type of the operands. finishSums adds up those of all parts, in the block for which joined returns true.
template <u32 B, typename E, typename T> DEVICE void writeSums(const Result &r, const T *all, u32 groups, u32 row, u32 rows) {
  if (thread() >= B || row + thread() >= rows) return;
  T sum = 0;
  for (u32 g = 0; g < groups; g++) sum += all[g * B + thread()];
  if (r.parts > 1) ((T *)r.ofParts)[(u64)blockY() * rows + row + thread()] = sum;
  else storeSum<E>(r, sum, row + thread());
}
template <u32 B, typename E, typename T> DEVICE void finishSums(const Result &r, u32 row, u32 rows) {
  if (r.parts <= 1 || thread() >= B || row + thread() >= rows) return;
  const T *all = (const T *)r.ofParts + row + thread();
  T sum = 0;
  for (u32 p = 0; p < r.parts; p++) sum += all[(u64)p * rows];
  storeSum<E>(r, sum, row + thread());
}

// Strided is an operand in memory: element (row, k) is at row·rowStride + k·kStride.
template <typename E> struct Strided {
  const E *data;
  i64 rowStride, kStride;
  u32 rows, depth;
  struct Row { i64 at; bool in; };
  struct K { i64 at; bool in; };
  MEMBER Row row(u32 r) const { return Row{(i64)r * rowStride, r < rows}; }
  MEMBER K k(u32 i) const { return K{(i64)i * kStride, i < depth}; }
  MEMBER E at(Row r, K k) const { return r.in && k.in ? data[r.at + k.at] : E{}; }
};
