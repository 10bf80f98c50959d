// gather: rows selected by indices, and other ops with indices.
//
// Bound by memory: twice the bytes of the rows. Rows are moved by elements of 16 bytes
// where their length and address allow it. Every index is checked.
//
// variants: any
#include "walk.h"

// gather: y[i] = x[index[i]], rows of length elements of 1, 4 or 16 bytes. A row that does
// not exist becomes 0 and is reported.
template <typename E> DEVICE void gather(E *y, const E *x, const int *index, Fault *fault, u64 count, u64 length, u32 available) {
  for (u64 i = first(); i < count * length; i += stride()) {
    u64 column = i, row = split(column, length);
    int from = index[row];
    E v = {};
    if ((u32)from < available)
      v = x[(u64)from * length + column];
    else if (column == 0)
      report(fault, row, (u32)from);
    y[i] = v;
  }
}

KERNEL(gather1, 256, 4)(u8 *y, const u8 *x, const int *index, Fault *fault, u64 count, u64 length, u32 available) { gather(y, x, index, fault, count, length, available); }
KERNEL(gather4, 256, 4)(u32 *y, const u32 *x, const int *index, Fault *fault, u64 count, u64 length, u32 available) { gather(y, x, index, fault, count, length, available); }
KERNEL(gather16, 256, 4)(Wide *y, const Wide *x, const int *index, Fault *fault, u64 count, u64 length, u32 available) { gather(y, x, index, fault, count, length, available); }

// index_check reports indices that are not below available, for rows of no elements, where
// gather has nothing to do, and before scatteradd.
KERNEL(index_check, 256, 4)(const int *index, Fault *fault, u64 count, u32 available) {
  for (u64 i = first(); i < count; i += stride())
    if ((u32)index[i] >= available) report(fault, i, (u32)index[i]);
}

// onehot: y[i, c] is 1 for c = index[i], else 0.
KERNEL(onehot, 256, 4)(float *y, const int *index, Fault *fault, u64 count, u32 classes) {
  for (u64 i = first(); i < count * classes; i += stride()) {
    u64 column = i, row = split(column, classes);
    int hot = index[row];
    y[i] = (u32)hot == column ? 1.f : 0.f;
    if (column == 0 && (u32)hot >= classes) report(fault, row, (u32)hot);
  }
}

// index: converts 64-bit x in 0..size-1 to 32 bits. A value out of range is reported as 0;
// index_value then finds the value for the error message.
KERNEL(index, 256, 4)(int *y, const i64 *x, Fault *fault, u64 n, u64 size) {
  for (u64 i = first(); i < n; i += stride()) {
    i64 v = x[i];
    if ((u64)v >= size) report(fault, i, 0), v = 0;
    y[i] = (int)v;
  }
}

KERNEL(index_value, 32, 1)(i64 *value, const i64 *x, const Fault *fault, u64 n) {
  u64 i = fault->first >> 32;
  if (thread() == 0 && fault->first != ~0ull && i < n) *value = x[i];
}
