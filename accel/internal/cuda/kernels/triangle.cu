// triangle: x [rows, n], whose rows are those of matrices with m rows, with 0 on one side of a
// diagonal.
//
// Bound by memory: twice the bytes. There are kernels for elements of 1, 2, 4 and 8 bytes.
//
// variants: any
#include "walk.h"

template <typename E> DEVICE void triangle(E *y, const E *x, u64 rows, u64 m, u64 n, i64 diagonal, u32 upper) {
  for (u64 i = first(); i < rows * n; i += stride()) {
    u64 row = i / n;
    i64 right = (i64)(i - row * n) - (i64)(row % m); // of the main diagonal
    bool kept = upper ? right >= diagonal : right <= diagonal;
    y[i] = kept ? x[i] : (E)0;
  }
}

KERNEL(triangle1, 256, 4)(u8 *y, const u8 *x, u64 rows, u64 m, u64 n, i64 diagonal, u32 upper) { triangle(y, x, rows, m, n, diagonal, upper); }
KERNEL(triangle2, 256, 4)(u16 *y, const u16 *x, u64 rows, u64 m, u64 n, i64 diagonal, u32 upper) { triangle(y, x, rows, m, n, diagonal, upper); }
KERNEL(triangle4, 256, 4)(u32 *y, const u32 *x, u64 rows, u64 m, u64 n, i64 diagonal, u32 upper) { triangle(y, x, rows, m, n, diagonal, upper); }
KERNEL(triangle8, 256, 4)(u64 *y, const u64 *x, u64 rows, u64 m, u64 n, i64 diagonal, u32 upper) { triangle(y, x, rows, m, n, diagonal, upper); }
