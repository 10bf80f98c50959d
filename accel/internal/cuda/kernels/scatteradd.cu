// scatteradd: y[index[i]] += x[i] for the rows of x, in the order of i. scatter_count
// finds, for each row of y, the number of rows of x that are added to it and the first of
// them; scatter_rows searches for them from there on, 32 indices at a time, and adds them,
// one block per row. No two threads add to the same element, so the bits are those of the
// host.
//
// Bound by memory for long rows. The search costs up to 1/32 of the length of the index for
// each row that is in it.
//
// variants: f32 f64
#include "device.h"

KERNEL(scatter_reset, 256, 4)(u32 *count, u32 *first, u32 rows) {
  for (u32 i = block() * 256 + thread(); i < rows; i += blocks() * 256) count[i] = 0, first[i] = ~0u;
}

KERNEL(scatter_count, 256, 4)(u32 *count, u32 *first, const int *index, Fault *fault, u32 n, u32 rows) {
  for (u32 i = block() * 256 + thread(); i < n; i += blocks() * 256) {
    u32 row = (u32)index[i];
    if (row >= rows) {
      report(fault, i, row);
      continue;
    }
    asm volatile("red.global.add.u32 [%0], 1;" ::"l"(count + row) : "memory");
    asm volatile("red.global.min.u32 [%0], %1;" ::"l"(first + row), "r"(i) : "memory");
  }
}

// A team computes a row; for long rows, as many columns as it has threads.
template <int size> DEVICE void scatter(real *y, const real *x, const u32 *count, const u32 *first, const int *index, u32 n, u32 rows, u64 length) {
  using Members = Team<size>;
  u32 pieces = (u32)((length + size - 1) / size);
  for (u64 t = Members::row(); t < (u64)rows * pieces; t += Members::rows()) {
    u32 row = (u32)(t / pieces);
    u64 column = t % pieces * size + Members::member();
    real sum = 0;
    u32 left = count[row];
    for (u32 i = left ? first[row] : n; i < n && left; i += 32) {
      bool here = i + lane() < n && (u32)index[i + lane()] == row;
      for (u32 found = votes(here); found; found &= found - 1, left--) {
        u32 j = i + (u32)__builtin_ctz(found);
        if (column < length) sum += x[(u64)j * length + column];
      }
    }
    if (column < length) y[(u64)row * length + column] = sum;
  }
}

KERNEL(scatter_rows_warp, 256, 4)(real *y, const real *x, const u32 *count, const u32 *first, const int *index, u32 n, u32 rows, u64 length) {
  scatter<32>(y, x, count, first, index, n, rows, length);
}
KERNEL(scatter_rows_block, 256, 4)(real *y, const real *x, const u32 *count, const u32 *first, const int *index, u32 n, u32 rows, u64 length) {
  scatter<256>(y, x, count, first, index, n, rows, length);
}
