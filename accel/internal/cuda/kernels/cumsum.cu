// cumsum: y[o, i, c] = Σ x[o, 0…i, c], or the sums from the end, accumulated in float64.
//
// Bound by memory: 8 bytes per float32 element. A warp computes a line, 32 elements at a
// time, with a scan across the warp; where neighboring lines are contiguous, one thread
// computes a line.
//
// variants: f32 f64
#include "device.h"

DEVICE double shiftUp(double x, int distance) {
  u64 b = bits64(x);
  u32 low = (u32)__nvvm_shfl_sync_up_i32(0xffffffffu, (int)(u32)b, distance, 0);
  u32 high = (u32)__nvvm_shfl_sync_up_i32(0xffffffffu, (int)(u32)(b >> 32), distance, 0);
  return bits64((u64)high << 32 | low);
}

KERNEL(cumsum_rows, 256, 4)(real *y, const real *x, u64 rows, u64 n, u32 reverse) {
  for (u64 row = (u64)block() * 8 + warp(); row < rows; row += (u64)blocks() * 8) {
    double carry = 0;
    for (u64 from = 0; from < n; from += 32) {
      u64 i = from + lane(), at = row * n + (reverse ? n - 1 - i : i);
      double v = i < n ? (double)x[at] : 0;
#pragma unroll
      for (int d = 1; d < 32; d <<= 1) {
        double below = shiftUp(v, d);
        if ((int)lane() >= d) v += below;
      }
      v += carry;
      if (i < n) y[at] = (real)v;
      u64 b = bits64(v);
      u32 low = (u32)__nvvm_shfl_sync_idx_i32(0xffffffffu, (int)(u32)b, 31, 0x1f);
      u32 high = (u32)__nvvm_shfl_sync_idx_i32(0xffffffffu, (int)(u32)(b >> 32), 31, 0x1f);
      carry = bits64((u64)high << 32 | low);
    }
  }
}

KERNEL(cumsum_columns, 256, 4)(real *y, const real *x, u64 outer, u64 n, u64 inner, u32 reverse) {
  for (u64 t = (u64)block() * 256 + thread(); t < outer * inner; t += (u64)blocks() * 256) {
    u64 at = t / inner * n * inner + t % inner;
    double sum = 0;
    for (u64 i = 0; i < n; i++) {
      u64 p = at + (reverse ? n - 1 - i : i) * inner;
      sum += (double)x[p];
      y[p] = (real)sum;
    }
  }
}
