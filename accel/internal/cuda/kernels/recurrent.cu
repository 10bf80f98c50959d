// recurrent: a step of a recurrent layer and of its gradient, each in one launch.
//
// A block computes 8 hidden units of 32 sequences: the product of the state before and the
// weight, and then the cell, so that gates and states pass through memory once. Its 8 warps
// split the depth of the product, whose parts meet in shared memory. Layers are small: what
// counts is the latency of a step. At 512 units and 64 sequences there are 128 blocks, which
// load 8 MB from L2.
//
// Both factors have rows of a multiple of 32 elements, with zeros behind their own. The order of
// k is the same in both and otherwise arbitrary, so a thread loads 16 bytes that are neighbors.
//
// variants: f32 bf16 f16
#if defined(IS_f32)
#include "device.h"
typedef float element;
#else
#include "mma.h"
#endif

constexpr u32 tileRows = 32, tileUnits = 8, warps = 8;

#if defined(IS_f32)
typedef float Quad __attribute__((ext_vector_type(4)));
#endif

// The types of a tensor in memory: float32, bfloat16, float16.
DEVICE float load(const void *p, u32 kind, i64 i) {
  if (kind == 0) return ((const float *)p)[i];
  return kind == 1 ? number(((const bf16 *)p)[i]) : number(((const f16 *)p)[i]);
}

DEVICE float sigmoid(float x) { return 1.f / (1.f + exponential(-x)); }

// hyperbolic is tanh; for small x, the polynomial is that of Cephes.
DEVICE float hyperbolic(float x) {
  float a = x < 0 ? -x : x;
  if (a < 0.625f) {
    float z = x * x;
    float p = fused(fused(fused(fused(-5.70498872745e-3f, z, 2.06390887954e-2f), z, -5.37397155531e-2f), z, 1.33314422036e-1f), z, -3.33332819422e-1f);
    return fused(p * z, x, x);
  }
  float y = 1.f - 2.f / (exponential(2.f * a) + 1.f);
  return x < 0 ? -y : y;
}

// stored is x rounded to the type of the factors.
DEVICE float stored(float x) { return number(rounded<element>(x)); }

// products sums, for the sequence and the unit of each thread, the products of the rows of a and
// of b. b has a row for each gate and unit; the gates are apart rows of each other.
template <u32 gates> DEVICE void products(float (&sum)[gates], const element *a, const element *b, u32 apart, u32 depth, u32 sequences, u32 hidden) {
  constexpr u32 columns = gates * tileUnits, pitch = columns + 1;
  static SHARED float parts[warps][tileRows][pitch];
  u32 row = blockY() * tileRows, unit = block() * tileUnits;
  float (*mine)[pitch] = parts[warp()];
#if defined(IS_f32)
  float d[columns];
#pragma unroll
  for (u32 j = 0; j < columns; j++) d[j] = 0;
  const float *x = a + (u64)least(row + lane(), sequences - 1) * depth;
#pragma unroll 1
  for (u32 k = warp() * 4; k < depth; k += warps * 4) {
    Quad v = *(const Quad *)(x + k);
#pragma unroll
    for (u32 j = 0; j < columns; j++) {
      u32 u = least(unit + j % tileUnits, hidden - 1);
      Quad w = *(const Quad *)(b + (u64)(j / tileUnits * apart + u) * depth + k);
#pragma unroll
      for (u32 i = 0; i < 4; i++) d[j] = fused(v[i], w[i], d[j]);
    }
  }
#pragma unroll
  for (u32 j = 0; j < columns; j++) mine[lane()][j] = d[j];
#else
  float d[2][gates][4];
#pragma unroll
  for (u32 i = 0; i < 2; i++)
#pragma unroll
    for (u32 j = 0; j < gates; j++)
#pragma unroll
      for (u32 q = 0; q < 4; q++) d[i][j][q] = 0;
  u32 group = lane() / 4, at = lane() % 4 * 8;
  const element *x[4], *w[gates];
#pragma unroll
  for (u32 i = 0; i < 4; i++) x[i] = a + (u64)least(row + group + i * 8, sequences - 1) * depth + at;
#pragma unroll
  for (u32 j = 0; j < gates; j++) w[j] = b + (u64)(j * apart + least(unit + group, hidden - 1)) * depth + at;
  constexpr u32 ahead = gates == 1 ? 4 : 2; // loads in flight
#pragma unroll 1
  for (u32 k = warp() * 32; k < depth; k += ahead * warps * 32) {
    Four v[ahead][4], z[ahead][gates];
#pragma unroll
    for (u32 s = 0; s < ahead; s++) {
      u32 from = k + s * warps * 32;
      bool in = from < depth;
#pragma unroll
      for (u32 i = 0; i < 4; i++) v[s][i] = in ? *(const Four *)(x[i] + from) : Four{0, 0, 0, 0};
#pragma unroll
      for (u32 j = 0; j < gates; j++) z[s][j] = in ? *(const Four *)(w[j] + from) : Four{0, 0, 0, 0};
    }
#pragma unroll
    for (u32 s = 0; s < ahead; s++)
#pragma unroll
      for (u32 h = 0; h < 4; h += 2)
#pragma unroll
        for (u32 i = 0; i < 2; i++) {
          u32 f[4] = {v[s][i * 2][h], v[s][i * 2 + 1][h], v[s][i * 2][h + 1], v[s][i * 2 + 1][h + 1]};
#pragma unroll
          for (u32 j = 0; j < gates; j++) multiply(d[i][j], f, z[s][j][h], z[s][j][h + 1]);
        }
  }
#pragma unroll
  for (u32 i = 0; i < 2; i++)
#pragma unroll
    for (u32 j = 0; j < gates; j++)
#pragma unroll
      for (u32 q = 0; q < 4; q++) mine[i * 16 + group + q / 2 * 8][j * tileUnits + lane() % 4 * 2 + q % 2] = d[i][j][q];
#endif
  barrier();
#pragma unroll
  for (u32 j = 0; j < gates; j++) {
    float s = 0;
#pragma unroll
    for (u32 p = 0; p < warps; p++) s += parts[p][thread() / tileUnits][j * tileUnits + thread() % tileUnits];
    sum[j] = s;
  }
}

// Sizes of a layer. wide is hidden, rounded up to the rows of the factors.
struct Sizes {
  u32 sequences, hidden, wide, step;
  const int *lengths; // null for none

  MEMBER u32 sequence() const { return blockY() * tileRows + thread() / tileUnits; }
  MEMBER u32 unit() const { return block() * tileUnits + thread() % tileUnits; }
  MEMBER bool any() const { return block() * tileUnits < hidden; } // of the block's units is real
  MEMBER bool padding(u32 n) const { return lengths && (int)step >= lengths[n]; }
};

// Forward are the tensors of a step: the input's part x [N, gates·H], the weight [gates·H, wide],
// the states before and after it, as factors [N, wide] and as float32 [N, H], and the gates that
// the gradient needs. more is the state c before an LSTM's step, or the bias of a GRU.
struct Forward {
  const void *x;
  const element *weight, *before;
  element *after;
  const float *h, *more;
  float *nextH, *nextC, *saved;
  Sizes size;
  u32 kind, relu;
};

template <u32 gates> DEVICE bool begin(float (&g)[gates], const Forward &f) {
  if (f.size.any()) products<gates>(g, f.before, f.weight, f.size.hidden, f.size.wide, f.size.sequences, f.size.hidden);
  u32 n = f.size.sequence(), u = f.size.unit();
  if (n >= f.size.sequences) return false;
  if (u >= f.size.hidden) {
    f.after[(u64)n * f.size.wide + u] = rounded<element>(0.f);
    return false;
  }
  return true;
}

DEVICE float input(const Forward &f, u32 gates, u32 gate) {
  u32 n = f.size.sequence(), u = f.size.unit();
  return load(f.x, f.kind, ((i64)n * gates + gate) * f.size.hidden + u);
}

DEVICE void end(const Forward &f, float next) {
  u32 n = f.size.sequence(), u = f.size.unit();
  u64 i = (u64)n * f.size.hidden + u;
  next = f.size.padding(n) ? f.h[i] : stored(next);
  f.nextH[i] = next;
  f.after[(u64)n * f.size.wide + u] = rounded<element>(next);
}

KERNEL(recurrent_plain, 256, 2)(Forward f) {
  float g[1];
  if (!begin(g, f)) return;
  float v = g[0] + input(f, 1, 0);
  end(f, f.relu ? (v < 0 ? 0 : v) : hyperbolic(v));
}

KERNEL(recurrent_lstm, 256, 1)(Forward f) {
  float g[4];
  if (!begin(g, f)) return;
#pragma unroll
  for (u32 j = 0; j < 4; j++) g[j] = j == 2 ? hyperbolic(g[j] + input(f, 4, j)) : sigmoid(g[j] + input(f, 4, j));
  u32 n = f.size.sequence(), u = f.size.unit();
#pragma unroll
  for (u32 j = 0; j < 4; j++) f.saved[((u64)n * 4 + j) * f.size.hidden + u] = g[j];
  u64 i = (u64)n * f.size.hidden + u;
  float c = f.more[i], next = g[1] * c + g[0] * g[2];
  f.nextC[i] = f.size.padding(n) ? c : next;
  end(f, g[3] * hyperbolic(next));
}

KERNEL(recurrent_gru, 256, 1)(Forward f) {
  float g[3];
  if (!begin(g, f)) return;
  u32 n = f.size.sequence(), u = f.size.unit(), hidden = f.size.hidden;
#pragma unroll
  for (u32 j = 0; j < 3; j++) g[j] += f.more[j * hidden + u];
  float r = sigmoid(g[0] + input(f, 3, 0)), z = sigmoid(g[1] + input(f, 3, 1));
  float candidate = hyperbolic(input(f, 3, 2) + r * g[2]);
  float *saved = f.saved + (u64)n * 4 * hidden + u;
  saved[0] = r, saved[hidden] = z, saved[2 * hidden] = g[2], saved[3 * hidden] = candidate;
  end(f, candidate + z * (f.h[(u64)n * hidden + u] - candidate));
}

// Slope is the gradient of the states [state, T+1, N, H] from an element on: count elements from
// first on, 0 elsewhere.
struct Slope {
  const void *dy;
  i64 first, count;
  u32 kind, unused;

  // of returns the gradient of element u of a row that starts at an element of all states.
  MEMBER float of(i64 row, u32 hidden, u32 u) const {
    row -= first;
    return row < 0 || row + hidden > count ? 0.f : load(dy, kind, row + u);
  }
};

// Backward are the tensors of a step's gradient: the gradients of the gates of the step that was
// computed before it, as factors [N, gates·wide] (null for the first), the weight [H, gates·wide],
// the gradients of the states [N, H] in progress, those of all states, what the forward pass
// saved, and the gradients of the gates of this step.
struct Backward {
  const element *later, *weight;
  element *factors;
  float *dh, *dc, *slopes;
  const float *saved, *h, *c, *nextH, *nextC;
  Slope dy;
  i64 rowH, rowC; // of the states after the step
  Sizes size;
  u32 relu, depth;
};

// change starts a step: it returns the gradient of the state after it.
template <u32 gates> DEVICE bool change(float &dh, const Backward &f) {
  float g[1] = {0};
  if (f.later && f.size.any()) products<1>(g, f.later, f.weight, 0, f.depth, f.size.sequences, f.size.hidden);
  u32 n = f.size.sequence(), u = f.size.unit(), hidden = f.size.hidden;
  if (n >= f.size.sequences) return false;
  if (u >= hidden) {
    if (f.factors)
#pragma unroll
      for (u32 j = 0; j < gates; j++) f.factors[((u64)n * gates + j) * f.size.wide + u] = rounded<element>(0.f);
    return false;
  }
  u64 i = (u64)n * hidden + u;
  dh = g[0] + (f.later ? f.dh[i] : 0.f) + f.dy.of(f.rowH + (i64)n * hidden, hidden, u);
  return true;
}

// put stores the gradients of the gates; kept is how many of them the weight is multiplied by.
template <u32 gates, u32 kept> DEVICE void put(const Backward &f, const float (&slope)[gates]) {
  u32 n = f.size.sequence(), u = f.size.unit();
#pragma unroll
  for (u32 j = 0; j < gates; j++) {
    f.slopes[((u64)n * gates + j) * f.size.hidden + u] = stored(slope[j]);
    if (j < kept) f.factors[((u64)n * kept + j) * f.size.wide + u] = rounded<element>(slope[j]);
  }
}

KERNEL(recurrent_plain_gradient, 256, 2)(Backward f) {
  float dh;
  if (!change<1>(dh, f)) return;
  u32 n = f.size.sequence();
  u64 i = (u64)n * f.size.hidden + f.size.unit();
  bool padding = f.size.padding(n);
  float next = f.nextH[i], slope[1];
  slope[0] = padding ? 0.f : f.relu ? (next > 0 ? dh : 0.f) : (1 - next * next) * dh;
  put<1, 1>(f, slope);
  f.dh[i] = padding ? dh : 0.f;
}

KERNEL(recurrent_lstm_gradient, 256, 2)(Backward f) {
  float dh;
  if (!change<4>(dh, f)) return;
  u32 n = f.size.sequence(), u = f.size.unit(), hidden = f.size.hidden;
  u64 i = (u64)n * hidden + u;
  float dc = (f.later ? f.dc[i] : 0.f) + f.dy.of(f.rowC + (i64)n * hidden, hidden, u);
  float slope[4] = {0, 0, 0, 0};
  if (!f.size.padding(n)) {
    const float *saved = f.saved + (u64)n * 4 * hidden + u;
    float in = saved[0], forget = saved[hidden], candidate = saved[2 * hidden], out = saved[3 * hidden];
    float t = hyperbolic(f.nextC[i]);
    slope[3] = out * (1 - out) * dh * t;
    dc += (1 - t * t) * out * dh;
    slope[0] = in * (1 - in) * dc * candidate;
    slope[1] = forget * (1 - forget) * dc * f.c[i];
    slope[2] = (1 - candidate * candidate) * dc * in;
    dc *= forget;
    dh = 0;
  }
  put<4, 4>(f, slope);
  f.dh[i] = dh;
  f.dc[i] = dc;
}

KERNEL(recurrent_gru_gradient, 256, 2)(Backward f) {
  float dh;
  if (!change<3>(dh, f)) return;
  u32 n = f.size.sequence(), u = f.size.unit(), hidden = f.size.hidden;
  u64 i = (u64)n * hidden + u;
  float slope[4] = {0, 0, 0, 0};
  if (!f.size.padding(n)) {
    const float *saved = f.saved + (u64)n * 4 * hidden + u;
    float reset = saved[0], update = saved[hidden], part = saved[2 * hidden], candidate = saved[3 * hidden];
    slope[1] = update * (1 - update) * dh * (f.h[i] - candidate);
    float passed = dh * update;
    slope[3] = (1 - candidate * candidate) * (dh - passed);
    slope[2] = slope[3] * reset;
    slope[0] = reset * (1 - reset) * slope[3] * part;
    dh = passed;
  }
  put<4, 3>(f, slope);
  f.dh[i] = dh;
}

// recurrent_initial adds to the gradient of the initial state h what comes from the first step.
KERNEL(recurrent_initial, 256, 2)(Backward f) {
  float dh;
  if (change<1>(dh, f)) f.dh[(u64)f.size.sequence() * f.size.hidden + f.size.unit()] = dh;
}

// recurrent_state copies an initial state [N, H] to the states and, unless factors is null, to
// the factors [N, wide].
KERNEL(recurrent_state, 256, 4)(float *to, element *factors, const void *from, u32 kind, u32 sequences, u32 hidden, u32 wide, u32 round) {
  for (u32 i = block() * 256 + thread(); i < sequences * wide; i += blocks() * 256) {
    u32 n = i / wide, u = i - n * wide;
    float v = 0;
    if (u < hidden) {
      v = load(from, kind, (i64)n * hidden + u);
      if (round) v = stored(v);
      to[(u64)n * hidden + u] = v;
    }
    if (factors) factors[i] = rounded<element>(v);
  }
}

// recurrent_weight makes factors of a weight [gates·H, H]: [gates·H, wide], or transposed
// [H, gates·wide].
KERNEL(recurrent_weight, 256, 4)(element *to, const void *from, u32 kind, u32 gates, u32 hidden, u32 wide, u32 transposed) {
  u32 rows = transposed ? hidden : gates * hidden, columns = transposed ? gates * wide : wide;
  for (u32 i = block() * 256 + thread(); i < rows * columns; i += blocks() * 256) {
    u32 row = i / columns, column = i - row * columns;
    u32 gate = column / wide, u = column - gate * wide;
    i64 at = transposed ? (i64)(gate * hidden + u) * hidden + row : (i64)row * hidden + u;
    to[i] = rounded<element>(u < hidden ? load(from, kind, at) : 0.f);
  }
}
