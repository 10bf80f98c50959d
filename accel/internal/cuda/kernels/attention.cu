// attention: softmax(q·kᵀ·scale + added)·v of queries [B, H, T, D], keys [B, H, S, D] and
// values [B, H, S, E] of any layout, and the gradients; see ir.Attention.
//
// Bound by arithmetic: 2·T·S·(D+E) operations per head forward; causal attention needs
// about half. Scores are computed in tiles of 64×64 and never stored: memory is linear in T
// and S. A block computes 64 rows by 64 columns of a result; wider heads take more blocks,
// which compute the scores again. The gradients recompute the scores from the logarithms of
// the row sums, in a kernel for queries, one for keys and one for values. No sum depends on
// the order of blocks.
//
// variants: f32 f64
#include "simt.h"

struct Headed {
  u64 data; // address
  i64 stride[4];
};

struct Heads {
  Headed q, k, v, dy;
  u64 added; // address, 0 for none
  i64 addedStride[4];
  double scale;
  u32 count, heads; // in the whole batch, and per example
  u32 t, s, d, e;
  u32 causal;
};

constexpr u32 side = 64;
constexpr int together = sizeof(real) == 4 ? 2 : 1; // blocks per SM

// placeOf returns where a row of a head is in a tensor [B, rows, heads, columns] whose rows are pitch
// elements apart.
DEVICE u64 placeOf(const Heads &g, u32 head, u32 row, u32 rows, u32 columns, u64 pitch) {
  return ((u64)(head / g.heads) * rows + row) * pitch + (u64)(head % g.heads) * columns;
}

DEVICE const real *headAt(const Headed &x, const Heads &g, u32 head) {
  return (const real *)x.data + (i64)(head / g.heads) * x.stride[0] + (i64)(head % g.heads) * x.stride[1];
}

struct Room {
  union {
    Panels<real, side, side> panels;
    real tile[side][side + 4]; // probabilities, or the scores' gradients
  };
  real factor[depthStep][side + 4];
};

// shared reduces over the 16 threads that hold a row's columns.
template <typename Op> DEVICE real acrossRow(real x) {
#pragma unroll
  for (int d = 8; d > 0; d >>= 1) x = Op::of(x, swap(x, d));
  return x;
}

// scoresOf turns dot products into scores. Rows are queries, or keys if turned. Masked
// scores are -Inf.
template <bool turned> DEVICE void scoresOf(real (&x)[4][4], const Heads &g, u32 head, u32 row, u32 column) {
  u32 ty = thread() / 16, tx = thread() % 16;
  const real *added = (const real *)g.added;
  if (added) added += (i64)(head / g.heads) * g.addedStride[0] + (i64)(head % g.heads) * g.addedStride[1];
#pragma unroll
  for (u32 i = 0; i < 4; i++)
#pragma unroll
    for (u32 j = 0; j < 4; j++) {
      u32 r = row + ty * 4 + i, c = column + tx * 4 + j;
      u32 query = turned ? c : r, key = turned ? r : c;
      bool seen = query < g.t && key < g.s && !(g.causal && key > query);
      real v = x[i][j] * (real)g.scale;
      if (added && seen) v += added[(i64)query * g.addedStride[2] + (i64)key * g.addedStride[3]];
      x[i][j] = seen ? v : minusInfinity<real>();
    }
}

// keep writes a thread's part of a tile to shared memory.
DEVICE void keep(Room &room, const real (&x)[4][4]) {
  u32 ty = thread() / 16, tx = thread() % 16;
#pragma unroll
  for (u32 i = 0; i < 4; i++)
#pragma unroll
    for (u32 j = 0; j < 4; j++) room.tile[ty * 4 + i][tx * 4 + j] = x[i][j];
  barrier();
}

// addProduct adds tile·m to sum, for the rows of m starting at from and the 64 columns
// starting at column.
DEVICE void addProduct(real (&sum)[4][4], Room &room, const real *m, i64 rowStride, i64 columnStride, u32 from, u32 rows, u32 column, u32 columns) {
  u32 ty = thread() / 16, tx = thread() % 16;
#pragma unroll 1
  for (u32 k = 0; k < side; k += depthStep) {
#pragma unroll
    for (u32 i = 0; i < depthStep / 4; i++) {
      u32 r = thread() / side + i * 4, c = thread() % side;
      bool in = from + k + r < rows && column + c < columns;
      room.factor[r][c] = in ? m[(i64)(from + k + r) * rowStride + (i64)(column + c) * columnStride] : 0;
    }
    barrier();
#pragma unroll 4
    for (u32 p = 0; p < depthStep; p++) {
      real x[4], z[4];
#pragma unroll
      for (u32 i = 0; i < 4; i++) x[i] = room.tile[ty * 4 + i][k + p], z[i] = room.factor[p][tx * 4 + i];
#pragma unroll
      for (u32 i = 0; i < 4; i++)
#pragma unroll
        for (u32 j = 0; j < 4; j++) sum[i][j] = fused(x[i], z[j], sum[i][j]);
    }
    barrier();
  }
}

DEVICE Strided<real> factor(const Headed &x, const Heads &g, u32 head, u32 rows, u32 depth) {
  return Strided<real>{headAt(x, g, head), x.stride[2], x.stride[3], rows, depth};
}

// A block computes one tile of rows by one group of 64 columns of a head.
struct Piece {
  u32 head, row, column;
};

DEVICE Piece piece(u32 rows, u32 columns) {
  u32 tiles = up(rows, side), groups = most(up(columns, side), 1u);
  u32 head = block() / (tiles * groups), in = block() % (tiles * groups);
  return Piece{head, in / groups * side, in % groups * side};
}

// attention_forward: y [B, T, H, E], then the logarithms of the rows' sums.
KERNEL(attention_forward, 256, together)(real *y, Heads g) {
  static SHARED Room room;
  Piece p = piece(g.t, g.e);
  u32 ty = thread() / 16, tx = thread() % 16;
  Strided<real> q = factor(g.q, g, p.head, g.t, g.d), k = factor(g.k, g, p.head, g.s, g.d);
  real out[4][4] = {}, top[4], sum[4];
#pragma unroll
  for (u32 i = 0; i < 4; i++) top[i] = minusInfinity<real>(), sum[i] = 0;
  u32 last = g.causal ? least(g.s, p.row + side) : g.s; // keys that some query of the block sees
#pragma unroll 1
  for (u32 column = 0; column < last; column += side) {
    real x[4][4];
    simtSum<real, side, side, 4, 4, true, true>(x, room.panels, q, k, p.row, column, 0, up(g.d, depthStep));
    scoresOf<false>(x, g, p.head, p.row, column);
#pragma unroll
    for (u32 i = 0; i < 4; i++) {
      real high = Largest::of(Largest::of(x[i][0], x[i][1]), Largest::of(x[i][2], x[i][3]));
      high = Largest::of(top[i], acrossRow<Largest>(high));
      real from = high == minusInfinity<real>() ? 0 : high; // all scores so far are -Inf
      real had = exponential(top[i] - from), added = 0;
#pragma unroll
      for (u32 j = 0; j < 4; j++) {
        x[i][j] = exponential(x[i][j] - from);
        added += x[i][j];
        out[i][j] *= had;
      }
      sum[i] = sum[i] * had + acrossRow<Sum>(added);
      top[i] = high;
    }
    keep(room, x);
    addProduct(out, room, headAt(g.v, g, p.head), g.v.stride[2], g.v.stride[3], column, g.s, p.column, g.e);
  }
  real *sums = y + (u64)g.count * g.t * g.e + (u64)p.head * g.t;
#pragma unroll
  for (u32 i = 0; i < 4; i++) {
    u32 row = p.row + ty * 4 + i;
    if (row >= g.t) continue;
    real share = sum[i] == 0 ? 0 : 1 / sum[i]; // the query sees no key
    real *to = y + placeOf(g, p.head, row, g.t, g.e, (u64)g.heads * g.e);
#pragma unroll
    for (u32 j = 0; j < 4; j++) {
      u32 c = p.column + tx * 4 + j;
      if (c < g.e) to[c] = out[i][j] * share;
    }
    if (tx == 0 && p.column == 0) sums[row] = sum[i] == 0 ? 0 : top[i] + logarithm(sum[i]);
  }
}

// deltas: Σ dy·y of each query, one warp per query. y is the output of
// attention_forward, or of flash_forward, which may be of 16 bits.
template <typename T> DEVICE void deltas(real *delta, const T *y, const Heads &g) {
  for (u64 i = (u64)block() * 8 + warp(); i < (u64)g.count * g.t; i += (u64)blocks() * 8) {
    u32 head = (u32)(i / g.t), row = (u32)(i % g.t);
    const real *slope = headAt(g.dy, g, head) + (i64)row * g.dy.stride[2];
    const T *from = y + placeOf(g, head, row, g.t, g.e, (u64)g.heads * g.e);
    real sum = 0;
    for (u32 c = lane(); c < g.e; c += 32) sum = fused((real)number(from[c]), slope[(i64)c * g.dy.stride[3]], sum);
    sum = acrossWarp<Sum>(sum);
    if (lane() == 0) delta[i] = sum;
  }
}

KERNEL(attention_delta, 256, 4)(real *delta, const void *y, u64 kind, Heads g) {
  typed((u32)kind, [&](auto t) __attribute__((always_inline)) { deltas(delta, (const decltype(t) *)y, g); });
}

// probabilities turns scores into the results of softmax, using the row sums.
template <bool turned> DEVICE void probabilities(real (&x)[4][4], const Heads &g, const real *sums, u32 head, u32 row, u32 column) {
  scoresOf<turned>(x, g, head, row, column);
#pragma unroll
  for (u32 i = 0; i < 4; i++)
#pragma unroll
    for (u32 j = 0; j < 4; j++) {
      u32 query = turned ? column + thread() % 16 * 4 + j : row + thread() / 16 * 4 + i;
      real shift = query < g.t ? sums[(u64)head * g.t + query] : 0;
      x[i][j] = exponential(x[i][j] - shift);
    }
}

// slopes computes the scores' gradients p·(dy·vᵀ - delta)·scale from the probabilities p.
template <bool turned> DEVICE void slopes(real (&x)[4][4], const Heads &g, Room &room, const real *delta, u32 head, u32 row, u32 column) {
  Strided<real> dy = factor(g.dy, g, head, g.t, g.e), v = factor(g.v, g, head, g.s, g.e);
  real dp[4][4];
  simtSum<real, side, side, 4, 4, true, true>(dp, room.panels, turned ? v : dy, turned ? dy : v, row, column, 0, up(g.e, depthStep));
#pragma unroll
  for (u32 i = 0; i < 4; i++)
#pragma unroll
    for (u32 j = 0; j < 4; j++) {
      u32 query = turned ? column + thread() % 16 * 4 + j : row + thread() / 16 * 4 + i;
      real shift = query < g.t ? delta[(u64)head * g.t + query] : 0;
      x[i][j] *= (dp[i][j] - shift) * (real)g.scale;
    }
}

// put writes a thread's part of a result [rows, columns] of a head.
DEVICE void put(real *y, const real (&x)[4][4], const Heads &g, const Piece &p, u32 rows, u32 columns, u64 pitch) {
#pragma unroll
  for (u32 i = 0; i < 4; i++)
#pragma unroll
    for (u32 j = 0; j < 4; j++) {
      u32 row = p.row + thread() / 16 * 4 + i, column = p.column + thread() % 16 * 4 + j;
      if (row < rows && column < columns) y[placeOf(g, p.head, row, rows, columns, pitch) + column] = x[i][j];
    }
}

// attention_queries: dq = ds·k. Rows are queries.
KERNEL(attention_queries, 256, together)(real *dq, const real *sums, const real *delta, u64 pitch, Heads g) {
  static SHARED Room room;
  Piece p = piece(g.t, g.d);
  Strided<real> q = factor(g.q, g, p.head, g.t, g.d), k = factor(g.k, g, p.head, g.s, g.d);
  real out[4][4] = {};
  u32 last = g.causal ? least(g.s, p.row + side) : g.s;
#pragma unroll 1
  for (u32 column = 0; column < last; column += side) {
    real x[4][4];
    simtSum<real, side, side, 4, 4, true, true>(x, room.panels, q, k, p.row, column, 0, up(g.d, depthStep));
    probabilities<false>(x, g, sums, p.head, p.row, column);
    slopes<false>(x, g, room, delta, p.head, p.row, column);
    keep(room, x);
    addProduct(out, room, k.data, k.rowStride, k.kStride, column, g.s, p.column, g.d);
  }
  put(dq, out, g, p, g.t, g.d, pitch);
}

// attention_keys: dk = dsᵀ·q. Rows are keys.
KERNEL(attention_keys, 256, together)(real *dk, const real *sums, const real *delta, u64 pitch, Heads g) {
  static SHARED Room room;
  Piece p = piece(g.s, g.d);
  Strided<real> q = factor(g.q, g, p.head, g.t, g.d), k = factor(g.k, g, p.head, g.s, g.d);
  real out[4][4] = {};
#pragma unroll 1
  for (u32 column = g.causal ? p.row : 0; column < g.t; column += side) {
    real x[4][4];
    simtSum<real, side, side, 4, 4, true, true>(x, room.panels, k, q, p.row, column, 0, up(g.d, depthStep));
    probabilities<true>(x, g, sums, p.head, p.row, column);
    slopes<true>(x, g, room, delta, p.head, p.row, column);
    keep(room, x);
    addProduct(out, room, q.data, q.rowStride, q.kStride, column, g.t, p.column, g.d);
  }
  put(dk, out, g, p, g.s, g.d, pitch);
}

// attention_values: dv = pᵀ·dy. Rows are keys.
KERNEL(attention_values, 256, together)(real *dv, const real *sums, u64 pitch, Heads g) {
  static SHARED Room room;
  Piece p = piece(g.s, g.e);
  Strided<real> q = factor(g.q, g, p.head, g.t, g.d), k = factor(g.k, g, p.head, g.s, g.d);
  real out[4][4] = {};
#pragma unroll 1
  for (u32 column = g.causal ? p.row : 0; column < g.t; column += side) {
    real x[4][4];
    simtSum<real, side, side, 4, 4, true, true>(x, room.panels, k, q, p.row, column, 0, up(g.d, depthStep));
    probabilities<true>(x, g, sums, p.head, p.row, column);
    keep(room, x);
    addProduct(out, room, headAt(g.dy, g, p.head), g.dy.stride[2], g.dy.stride[3], column, g.t, p.column, g.e);
  }
  put(dv, out, g, p, g.s, g.e, pitch);
}
