// cast: converts x, of any layout, to another element type. The result type is the
// kernel's; the type of x is a parameter, numbered as in package tensor.
//
// Bound by memory: the bytes of both. Values that do not fit the type convert as Go does on
// amd64: to the smallest 32-bit or 64-bit integer, of which 8-bit types keep the lowest
// bits.
//
// variants: any
#include "walk.h"

enum Type : u32 { Float32, Float64, Int32, Int64, Uint8, Bool, Float16, BFloat16 };

DEVICE i64 whole64(double x) { return x >= -9223372036854775808. && x < 9223372036854775808. ? (i64)x : (i64)0x8000000000000000ull; }
DEVICE int whole32(double x) { return x > -2147483649. && x < 2147483648. ? (int)x : (int)0x80000000u; }

template <typename E> struct To {
  DEVICE E from(float x) { return (E)x; }
  DEVICE E from(double x) { return (E)x; }
  DEVICE E from(i64 x) { return (E)x; }
};
template <> struct To<int> {
  DEVICE int from(float x) { return whole32(x); }
  DEVICE int from(double x) { return whole32(x); }
  DEVICE int from(i64 x) { return (int)x; }
};
template <> struct To<i64> {
  DEVICE i64 from(float x) { return whole64(x); }
  DEVICE i64 from(double x) { return whole64(x); }
  DEVICE i64 from(i64 x) { return x; }
};
template <> struct To<u8> {
  DEVICE u8 from(float x) { return (u8)whole32(x); }
  DEVICE u8 from(double x) { return (u8)whole32(x); }
  DEVICE u8 from(i64 x) { return (u8)x; }
};
template <> struct To<bool> {
  DEVICE bool from(float x) { return x != 0; }
  DEVICE bool from(double x) { return x != 0; }
  DEVICE bool from(i64 x) { return x != 0; }
};
template <> struct To<f16> {
  DEVICE f16 from(float x) { return rounded<f16>(x); }
  DEVICE f16 from(double x) { return rounded<f16>((float)x); }
  DEVICE f16 from(i64 x) { return rounded<f16>((float)x); }
};
template <> struct To<bf16> {
  DEVICE bf16 from(float x) { return rounded<bf16>(x); }
  DEVICE bf16 from(double x) { return rounded<bf16>((float)x); }
  DEVICE bf16 from(i64 x) { return rounded<bf16>((float)x); }
};

template <typename E> DEVICE E converted(const void *x, u32 type, i64 i) {
  switch (type) {
  case Float32: return To<E>::from(((const float *)x)[i]);
  case Float64: return To<E>::from(((const double *)x)[i]);
  case Int32: return To<E>::from((i64)((const int *)x)[i]);
  case Int64: return To<E>::from(((const i64 *)x)[i]);
  case Float16: return To<E>::from(number(((const f16 *)x)[i]));
  case BFloat16: return To<E>::from(number(((const bf16 *)x)[i]));
  default: return To<E>::from((i64)((const u8 *)x)[i]);
  }
}

template <typename E> DEVICE void cast(E *y, const void *x, u64 n, u32 type, const Layout &l) {
  for (u64 i = first(); i < n; i += stride()) y[i] = converted<E>(x, type, l.rank == 0 ? 0 : place(l, i));
}

KERNEL(cast_float32, 256, 4)(float *y, const void *x, u64 n, u32 type, Layout l) { cast(y, x, n, type, l); }
KERNEL(cast_float64, 256, 4)(double *y, const void *x, u64 n, u32 type, Layout l) { cast(y, x, n, type, l); }
KERNEL(cast_int32, 256, 4)(int *y, const void *x, u64 n, u32 type, Layout l) { cast(y, x, n, type, l); }
KERNEL(cast_int64, 256, 4)(i64 *y, const void *x, u64 n, u32 type, Layout l) { cast(y, x, n, type, l); }
KERNEL(cast_uint8, 256, 4)(u8 *y, const void *x, u64 n, u32 type, Layout l) { cast(y, x, n, type, l); }
KERNEL(cast_bool, 256, 4)(bool *y, const void *x, u64 n, u32 type, Layout l) { cast(y, x, n, type, l); }
KERNEL(cast_float16, 256, 4)(f16 *y, const void *x, u64 n, u32 type, Layout l) { cast(y, x, n, type, l); }
KERNEL(cast_bfloat16, 256, 4)(bf16 *y, const void *x, u64 n, u32 type, Layout l) { cast(y, x, n, type, l); }
