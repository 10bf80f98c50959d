// flash: attention of 16-bit queries, keys and values with heads of 32, 64 or 128 elements
// on tensor cores, and its gradients; see ir.Attention. Results are float32, gradients also
// rounded to the 16-bit type.
//
// Bound by arithmetic: 4·T·S·D operations per head forward, 14·T·S·D with the gradients,
// half of that if causal. Four warps compute 64 rows, 16 each; tiles of the other operand
// come through two stages of shared memory, by asynchronous copies. Scores stay in
// registers, where they are the first operand of the next matrix multiplication (Dao,
// arXiv:2307.08691). The gradient of the queries is a pass of its own, so that no two
// blocks add to the same element.
//
// variants: bf16_32 bf16_64 bf16_128 f16_32 f16_64 f16_128
#include "mma.h"

struct Headed {
  u64 data; // address; rows are D contiguous elements at multiples of 16 bytes
  i64 stride[3];
};

struct Heads {
  Headed q, k, v, dy;
  u64 added; // address, 0 for none
  i64 addedStride[4];
  float scale;
  u32 count, heads; // in the whole batch, and per example
  u32 t, s;
  u32 causal;
  u32 half; // whether added has the 16-bit type instead of float32
  u32 round; // whether the results are of the 16-bit type
};

constexpr float log2e = 1.44269504f, ln2 = 0.693147181f;
constexpr u32 side = 64; // rows per block

// Rows is rows of D elements in shared memory, in swizzled chunks of 16 bytes.
template <u32 D> struct Rows {
  static constexpr u32 bytes = D * 2, chunks = D / 8;
  DEVICE u32 place(u32 row, u32 chunk) { return row * bytes + (chunk ^ (D == 32 ? row >> 1 & 3 : row & 7)) * 16; }

  // fetch copies count rows starting at row; rows after the end become zeros.
  template <u32 count> DEVICE void fetch(u32 to, const element *from, i64 stride, u32 row, u32 end) {
#pragma unroll
    for (u32 i = 0; i < count * chunks / 128; i++) {
      u32 c = thread() + i * 128, r = c / chunks, in = row + r < end;
      copyAsync<16>(to + place(r, c % chunks), in ? from + (i64)(row + r) * stride + c % chunks * 8 : from, in ? 16 : 0);
    }
  }
  // first loads the first operand of mma: 16 rows, the 16 elements starting at k.
  DEVICE void first(u32 (&v)[4], u32 base, u32 row, u32 k) {
    Four f = loadMatrices(base + place(row + (lane() & 15), k / 8 + (lane() >> 4)));
    v[0] = f[0], v[1] = f[1], v[2] = f[2], v[3] = f[3];
  }
  // across loads the second operand for rows as columns (a·rowsᵀ): 16 rows.
  DEVICE void across(u32 (&v)[4], u32 base, u32 row, u32 k) {
    Four f = loadMatrices(base + place(row + (lane() & 7) + (lane() >> 4) * 8, k / 8 + (lane() >> 3 & 1)));
    v[0] = f[0], v[1] = f[1], v[2] = f[2], v[3] = f[3];
  }
  // along loads the second operand for sums over rows: 16 rows as k, 16 columns.
  DEVICE void along(u32 (&v)[4], u32 base, u32 row, u32 column) {
    Four f = loadTransposed(base + place(row + (lane() & 15), column / 8 + (lane() >> 4)));
    v[0] = f[0], v[1] = f[1], v[2] = f[2], v[3] = f[3];
  }
};

// pair packs two 16-bit floats, the first in the lower half.
DEVICE u32 pair(float low, float high) {
  u32 v;
#ifdef IS_f16
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(v) : "f"(high), "f"(low));
#else
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(v) : "f"(high), "f"(low));
#endif
  return v;
}

// products computes x = rows · columnsᵀ for the warp's 16 rows and 8·NT columns.
template <u32 D, u32 NT> DEVICE void products(float (&x)[NT][4], u32 rows, u32 row, u32 columns) {
#pragma unroll
  for (u32 j = 0; j < NT; j++) x[j][0] = x[j][1] = x[j][2] = x[j][3] = 0;
#pragma unroll
  for (u32 k = 0; k < D; k += 16) {
    u32 a[4];
    Rows<D>::first(a, rows, row, k);
#pragma unroll
    for (u32 j = 0; j < NT; j += 2) {
      u32 b[4];
      Rows<D>::across(b, columns, j * 8, k);
      multiply(x[j], a, b[0], b[1]);
      multiply(x[j + 1], a, b[2], b[3]);
    }
  }
}

// addProducts computes out += p · m for the warp's 16 rows, p of 8·NT columns in registers,
// m in shared memory.
template <u32 D, u32 NT> DEVICE void addProducts(float (&out)[D / 8][4], const float (&p)[NT][4], u32 m) {
#pragma unroll
  for (u32 k = 0; k < NT; k += 2) {
    u32 a[4] = {pair(p[k][0], p[k][1]), pair(p[k][2], p[k][3]), pair(p[k + 1][0], p[k + 1][1]), pair(p[k + 1][2], p[k + 1][3])};
#pragma unroll
    for (u32 j = 0; j < D / 8; j += 2) {
      u32 b[4];
      Rows<D>::along(b, m, k * 8, j * 8);
      multiply(out[j], a, b[0], b[1]);
      multiply(out[j + 1], a, b[2], b[3]);
    }
  }
}

// scoresOf turns dot products into scores times log₂ e. Rows are queries, or keys if
// turned.
template <bool turned, u32 NT> DEVICE void scoresOf(float (&x)[NT][4], const Heads &g, u32 head, u32 row, u32 column) {
  float scale = g.scale * log2e;
#pragma unroll
  for (u32 j = 0; j < NT; j++)
#pragma unroll
    for (u32 q = 0; q < 4; q++) x[j][q] *= scale;
  u32 rows = turned ? g.s : g.t, columns = turned ? g.t : g.s, last = column + NT * 8;
  bool crosses = g.causal && (turned ? row + side - 1 > column : last - 1 > row);
  if (last <= columns && row + side <= rows && !crosses && !g.added) return;
#pragma unroll
  for (u32 j = 0; j < NT; j++)
#pragma unroll
    for (u32 q = 0; q < 4; q++) {
      u32 r = row + warp() * 16 + lane() / 4 + q / 2 * 8, c = column + j * 8 + lane() % 4 * 2 + q % 2;
      u32 query = turned ? c : r, key = turned ? r : c;
      bool seen = query < g.t && key < g.s && !(g.causal && key > query);
      if (g.added && seen) {
        i64 at = (i64)(head / g.heads) * g.addedStride[0] + (i64)(head % g.heads) * g.addedStride[1] + (i64)query * g.addedStride[2] + (i64)key * g.addedStride[3];
        x[j][q] += (g.half ? number(((const element *)g.added)[at]) : ((const float *)g.added)[at]) * log2e;
      }
      if (!seen) x[j][q] = minusInfinity32;
    }
}

DEVICE const element *headAt(const Headed &x, const Heads &g, u32 head) {
  return (const element *)x.data + (i64)(head / g.heads) * x.stride[0] + (i64)(head % g.heads) * x.stride[1];
}

// acrossFour reduces over the four threads that hold a row.
template <typename Op> DEVICE float acrossFour(float x) {
  x = Op::of(x, swap(x, 1));
  return Op::of(x, swap(x, 2));
}

// Place is a block's head and first row. With causal, rows that see more keys start first.
struct Place {
  u32 head, row;
};

DEVICE Place placeOf(u32 rows, bool reversed) {
  u32 tiles = up(rows, side), head = block() / tiles, t = block() % tiles;
  return Place{head, (reversed ? tiles - 1 - t : t) * side};
}

// write stores the warp's 16 rows of a head in a result [B, rows, heads, D], whose rows are pitch
// elements apart, in float32 or rounded.
template <u32 D, bool round> DEVICE void write(void *y, const float (&x)[D / 8][4], const Heads &g, u32 head, u32 row, u32 rows, u64 pitch, float upper, float lower) {
  u64 first = (u64)(head / g.heads) * rows, column = (u64)(head % g.heads) * D;
#pragma unroll
  for (u32 j = 0; j < D / 8; j++)
#pragma unroll
    for (u32 half = 0; half < 2; half++) {
      u32 r = row + warp() * 16 + lane() / 4 + half * 8;
      typedef float Two __attribute__((ext_vector_type(2)));
      float f = half ? lower : upper;
      u64 at = (first + r) * pitch + column + j * 8 + lane() % 4 * 2;
      if (r >= rows) continue;
      if (round)
        *(u32 *)((element *)y + at) = (u32)rounded<element>(x[j][half * 2] * f).b | (u32)rounded<element>(x[j][half * 2 + 1] * f).b << 16;
      else
        *(Two *)((float *)y + at) = Two{x[j][half * 2] * f, x[j][half * 2 + 1] * f};
    }
}

template <u32 D> DEVICE void writeResult(void *y, const float (&x)[D / 8][4], const Heads &g, u32 head, u32 row, u32 rows, u64 pitch, float upper = 1, float lower = 1) {
  if (g.round) write<D, true>(y, x, g, head, row, rows, pitch, upper, lower);
  else write<D, false>(y, x, g, head, row, rows, pitch, upper, lower);
}

// y [B, T, H, D] and the logarithms of the rows' sums.
template <u32 D> DEVICE void forward(void *y, float *sums, const Heads &g) {
  constexpr u32 NT = side / 8, tileBytes = side * Rows<D>::bytes;
  u32 base = sharedAddress(dynamicShared), ring = base + tileBytes;
  Place p = placeOf(g.t, g.causal);
  const element *k = headAt(g.k, g, p.head), *v = headAt(g.v, g, p.head);
  Rows<D>::template fetch<side>(base, headAt(g.q, g, p.head), g.q.stride[2], p.row, g.t);
  u32 last = g.causal ? least(g.s, p.row + side) : g.s, count = up(last, side);

  float out[D / 8][4], top[2] = {minusInfinity32, minusInfinity32}, sum[2] = {0, 0};
#pragma unroll
  for (u32 j = 0; j < D / 8; j++) out[j][0] = out[j][1] = out[j][2] = out[j][3] = 0;
#pragma unroll 1
  for (u32 s = 0; s <= count; s++) {
    if (s > 1) barrier(); // all warps have read the stage that is replaced
    if (s < count) {
      u32 to = ring + s % 2 * 2 * tileBytes;
      Rows<D>::template fetch<side>(to, k, g.k.stride[2], s * side, g.s);
      Rows<D>::template fetch<side>(to + tileBytes, v, g.v.stride[2], s * side, g.s);
    }
    commitCopies();
    if (s == 0) continue;
    awaitCopies<1>();
    barrier();
    u32 at = ring + (s - 1) % 2 * 2 * tileBytes;
    float x[NT][4];
    products<D, NT>(x, base, warp() * 16, at);
    scoresOf<false, NT>(x, g, p.head, p.row, (s - 1) * side);
#pragma unroll
    for (u32 h = 0; h < 2; h++) {
      float high = top[h];
#pragma unroll
      for (u32 j = 0; j < NT; j++) high = Largest::of(high, Largest::of(x[j][h * 2], x[j][h * 2 + 1]));
      high = acrossFour<Largest>(high);
      float from = high == minusInfinity32 ? 0 : high; // all scores so far are -Inf
      float had = exp2Fast(top[h] - from), added = 0;
#pragma unroll
      for (u32 j = 0; j < NT; j++) {
        x[j][h * 2] = exp2Fast(x[j][h * 2] - from);
        x[j][h * 2 + 1] = exp2Fast(x[j][h * 2 + 1] - from);
        added += x[j][h * 2] + x[j][h * 2 + 1];
      }
#pragma unroll
      for (u32 j = 0; j < D / 8; j++) out[j][h * 2] *= had, out[j][h * 2 + 1] *= had;
      sum[h] = sum[h] * had + added;
      top[h] = high;
    }
    addProducts<D, NT>(out, x, at + tileBytes);
  }
  awaitCopies<0>();
  float share[2];
#pragma unroll
  for (u32 h = 0; h < 2; h++) {
    sum[h] = acrossFour<Sum>(sum[h]);
    share[h] = sum[h] == 0 ? 0 : 1 / sum[h]; // the query sees no key
    u32 row = p.row + warp() * 16 + lane() / 4 + h * 8;
    if (lane() % 4 == 0 && row < g.t) sums[(u64)p.head * g.t + row] = sum[h] == 0 ? 0 : top[h] * ln2 + logarithm(sum[h]);
  }
  writeResult<D>(y, out, g, p.head, p.row, g.t, (u64)g.heads * D, share[0], share[1]);
}

// delta: Σ dy·y of each query, one warp per query.
template <typename T> DEVICE void delta(float *delta, const T *y, const Heads &g) {
  for (u64 i = (u64)block() * 8 + warp(); i < (u64)g.count * g.t; i += (u64)blocks() * 8) {
    u32 head = (u32)(i / g.t), row = (u32)(i % g.t);
    const element *slope = headAt(g.dy, g, head) + (i64)row * g.dy.stride[2];
    const T *from = y + (((u64)(head / g.heads) * g.t + row) * g.heads + head % g.heads) * HEAD;
    float sum = 0;
    for (u32 c = lane(); c < HEAD; c += 32) sum = fused(number(from[c]), number(slope[c]), sum);
    sum = acrossWarp<Sum>(sum);
    if (lane() == 0) delta[i] = sum;
  }
}

KERNEL(flash_delta, 256, 4)(float *d, const void *y, u64 half, Heads g) {
  if (half) delta(d, (const element *)y, g);
  else delta(d, (const float *)y, g);
}

// queries: dq = ds·k with ds = p·(dy·vᵀ - delta)·scale.
template <u32 D> DEVICE void queries(void *dq, const float *sums, const float *delta, u64 pitch, const Heads &g) {
  constexpr u32 wide = D == 128 ? 32 : 64, NT = wide / 8; // keys at a time
  constexpr u32 rowBytes = side * Rows<D>::bytes, tileBytes = wide * Rows<D>::bytes;
  u32 base = sharedAddress(dynamicShared), ring = base + 2 * rowBytes;
  Place p = placeOf(g.t, g.causal);
  const element *k = headAt(g.k, g, p.head), *v = headAt(g.v, g, p.head);
  Rows<D>::template fetch<side>(base, headAt(g.q, g, p.head), g.q.stride[2], p.row, g.t);
  Rows<D>::template fetch<side>(base + rowBytes, headAt(g.dy, g, p.head), g.dy.stride[2], p.row, g.t);
  u32 last = g.causal ? least(g.s, p.row + side) : g.s, count = up(last, wide);

  float shift[2], less[2];
#pragma unroll
  for (u32 h = 0; h < 2; h++) {
    u32 row = p.row + warp() * 16 + lane() / 4 + h * 8;
    shift[h] = row < g.t ? sums[(u64)p.head * g.t + row] * log2e : 0;
    less[h] = row < g.t ? delta[(u64)p.head * g.t + row] : 0;
  }
  float out[D / 8][4];
#pragma unroll
  for (u32 j = 0; j < D / 8; j++) out[j][0] = out[j][1] = out[j][2] = out[j][3] = 0;
#pragma unroll 1
  for (u32 s = 0; s <= count; s++) {
    if (s > 1) barrier();
    if (s < count) {
      u32 to = ring + s % 2 * 2 * tileBytes;
      Rows<D>::template fetch<wide>(to, k, g.k.stride[2], s * wide, g.s);
      Rows<D>::template fetch<wide>(to + tileBytes, v, g.v.stride[2], s * wide, g.s);
    }
    commitCopies();
    if (s == 0) continue;
    awaitCopies<1>();
    barrier();
    u32 at = ring + (s - 1) % 2 * 2 * tileBytes;
    float x[NT][4], dp[NT][4];
    products<D, NT>(x, base, warp() * 16, at);
    scoresOf<false, NT>(x, g, p.head, p.row, (s - 1) * wide);
    products<D, NT>(dp, base + rowBytes, warp() * 16, at + tileBytes);
#pragma unroll
    for (u32 j = 0; j < NT; j++)
#pragma unroll
      for (u32 q = 0; q < 4; q++) x[j][q] = exp2Fast(x[j][q] - shift[q / 2]) * (dp[j][q] - less[q / 2]) * g.scale;
    addProducts<D, NT>(out, x, at);
  }
  awaitCopies<0>();
  writeResult<D>(dq, out, g, p.head, p.row, g.t, pitch);
}

// keys: dk = dsᵀ·q and dv = pᵀ·dy. Rows are keys; the block loops over tiles of queries.
template <u32 D> DEVICE void keys(void *dk, void *dv, const float *sums, const float *delta, u64 pitch, const Heads &g) {
  constexpr u32 wide = D == 128 ? 32 : 64, NT = wide / 8; // queries at a time
  constexpr u32 rowBytes = side * Rows<D>::bytes, tileBytes = wide * Rows<D>::bytes;
  u32 base = sharedAddress(dynamicShared), ring = base + 2 * rowBytes;
  Place p = placeOf(g.s, false);
  const element *q = headAt(g.q, g, p.head), *dy = headAt(g.dy, g, p.head);
  Rows<D>::template fetch<side>(base, headAt(g.k, g, p.head), g.k.stride[2], p.row, g.s);
  Rows<D>::template fetch<side>(base + rowBytes, headAt(g.v, g, p.head), g.v.stride[2], p.row, g.s);
  u32 from = g.causal ? p.row / wide : 0, count = up(g.t, wide);
  count = count > from ? count - from : 0;

  float outK[D / 8][4], outV[D / 8][4];
#pragma unroll
  for (u32 j = 0; j < D / 8; j++)
#pragma unroll
    for (u32 i = 0; i < 4; i++) outK[j][i] = outV[j][i] = 0;
#pragma unroll 1
  for (u32 s = 0; s <= count; s++) {
    if (s > 1) barrier();
    if (s < count) {
      u32 to = ring + s % 2 * 2 * tileBytes, row = (from + s) * wide;
      Rows<D>::template fetch<wide>(to, q, g.q.stride[2], row, g.t);
      Rows<D>::template fetch<wide>(to + tileBytes, dy, g.dy.stride[2], row, g.t);
    }
    commitCopies();
    if (s == 0) continue;
    awaitCopies<1>();
    barrier();
    u32 at = ring + (s - 1) % 2 * 2 * tileBytes, column = (from + s - 1) * wide;
    float x[NT][4], dp[NT][4];
    products<D, NT>(x, base, warp() * 16, at);
    scoresOf<true, NT>(x, g, p.head, p.row, column);
#pragma unroll
    for (u32 j = 0; j < NT; j++)
#pragma unroll
      for (u32 i = 0; i < 2; i++) {
        u32 query = column + j * 8 + lane() % 4 * 2 + i;
        float shift = query < g.t ? sums[(u64)p.head * g.t + query] * log2e : 0;
        x[j][i] = exp2Fast(x[j][i] - shift);
        x[j][i + 2] = exp2Fast(x[j][i + 2] - shift);
      }
    addProducts<D, NT>(outV, x, at + tileBytes);
    products<D, NT>(dp, base + rowBytes, warp() * 16, at + tileBytes);
#pragma unroll
    for (u32 j = 0; j < NT; j++)
#pragma unroll
      for (u32 i = 0; i < 2; i++) {
        u32 query = column + j * 8 + lane() % 4 * 2 + i;
        float less = query < g.t ? delta[(u64)p.head * g.t + query] : 0;
        x[j][i] *= (dp[j][i] - less) * g.scale;
        x[j][i + 2] *= (dp[j][i + 2] - less) * g.scale;
      }
    addProducts<D, NT>(outK, x, at);
  }
  awaitCopies<0>();
  writeResult<D>(dk, outK, g, p.head, p.row, g.s, pitch);
  writeResult<D>(dv, outV, g, p.head, p.row, g.s, pitch);
}

constexpr int together = HEAD == 128 ? 2 : 3; // blocks per SM

KERNEL(flash_forward, 128, together)(void *y, float *sums, Heads g) { forward<HEAD>(y, sums, g); }
KERNEL(flash_queries, 128, 2)(void *dq, const float *sums, const float *delta, u64 pitch, Heads g) { queries<HEAD>(dq, sums, delta, pitch, g); }
KERNEL(flash_keys, 128, 2)(void *dk, void *dv, const float *sums, const float *delta, u64 pitch, Heads g) { keys<HEAD>(dk, dv, sums, delta, pitch, g); }
