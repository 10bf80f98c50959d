// round8: a matrix [rows, columns] rounded to 8-bit floats with one scale, a power of two:
// see ir.Round8. round8_largest computes the largest magnitude in each block's part,
// round8_pack the elements: as bfloat16, packed row by row, and packed column by column,
// each if requested. The scale stays on the device.
//
// Bound by memory: x is read twice, and one byte is written for each order. Tiles of 64×64
// are transposed in shared memory; a store writes two neighbors.
//
// variants: e4m3_sm89 e5m2_sm89
#include "fp8.h"

#ifdef IS_e4m3
constexpr u32 endOfRange = 0x43e00000; // 448
#define FORMAT "e4m3x2"
#else
constexpr u32 endOfRange = 0x47600000; // 57344
#define FORMAT "e5m2x2"
#endif
constexpr int mostScale = 100; // see tensor.Float8Scale

enum Type : u32 { Float32 = 0, Float16 = 6, BFloat16 = 7 }; // numbered as in package tensor

DEVICE float load(const void *x, u32 type, u64 i) {
  switch (type) {
  case Float32: return ((const float *)x)[i];
  case Float16: return number(((const f16 *)x)[i]);
  default: return number(((const bf16 *)x)[i]);
  }
}

DEVICE float magnitude(float x) { return bits(bits(x) & 0x7fffffff); }

KERNEL(round8_largest, 256, 4)(float *largest, const void *x, u64 n, u32 type) {
  float top = 0;
  for (u64 from = (u64)block() * 1024 + thread(); from < n; from += (u64)blocks() * 1024) {
    float v[4];
#pragma unroll
    for (u32 j = 0; j < 4; j++) v[j] = from + j * 256 < n ? load(x, type, from + j * 256) : 0.f;
#pragma unroll
    for (u32 j = 0; j < 4; j++)
      if (magnitude(v[j]) > top) top = magnitude(v[j]); // never true for NaN
  }
  top = Team<256>::across<Largest>(top);
  if (thread() == 0) largest[block()] = top;
}

// exponentFor computes tensor.Float8Scale.
DEVICE int exponentFor(float largest) {
  u32 b = bits(largest);
  if (b == 0 || b == 0x7f800000) return 0;
  int top = (int)(endOfRange >> 23) - 127, e = top + 127 - (int)(b >> 23) - ((b & 0x7fffff) > (endOfRange & 0x7fffff) ? 1 : 0);
  return most(top - 127, least(e, mostScale));
}

// pair rounds two floats and packs them, the first in the low byte.
DEVICE u16 pair(float first, float second) {
  u16 y;
  asm("cvt.rn.satfinite." FORMAT ".f32 %0, %1, %2;" : "=h"(y) : "f"(second), "f"(first));
  return y;
}
DEVICE void numbers(u16 pair, float &first, float &second) {
  u32 y;
  asm("cvt.rn.f16x2." FORMAT " %0, %1;" : "=r"(y) : "h"(pair));
  first = number(f16{(u16)y}), second = number(f16{(u16)(y >> 16)});
}

struct Packed {
  u64 at, head; // 0 if not requested
  i64 pitch;
};

KERNEL(round8_pack, 256, 4)(bf16 *y, Packed plain, Packed turned, const void *x, const float *largest, u32 count, u32 rows, u32 columns, u32 type) {
  constexpr u32 side = 64, pitch = side + 4;
  static SHARED u8 tile[side * pitch];
  float top = Team<256>::across<Largest>(thread() < count ? largest[thread()] : 0.f);
  int e = exponentFor(top);
  float up = power(e), down = power(-e);
  if (block() == 0 && blockY() == 0 && thread() == 0) {
    if (plain.head) *(Head *)plain.head = Head{e, down};
    if (turned.head) *(Head *)turned.head = Head{e, down};
  }
  u32 column = block() * side, near = thread() % 32 * 2, far = thread() / 32;
#pragma unroll 1
  for (u32 row = blockY() * side; row < rows; row += 65535 * side) {
#pragma unroll
    for (u32 i = 0; i < side; i += 8) {
      u32 r = row + far + i, c = column + near;
      float v[2] = {0, 0};
#pragma unroll
      for (u32 j = 0; j < 2; j++)
        if (r < rows && c + j < columns) {
          v[j] = load(x, type, (u64)r * columns + c + j) * up;
          if (magnitude(v[j]) == __builtin_huge_valf()) v[j] = bits(0x7fc00000u);
        }
      u16 two = pair(v[0], v[1]);
      *(u16 *)(tile + (far + i) * pitch + near) = two;
      if (r >= rows || c >= columns) continue;
      if (plain.at) *(u16 *)(plain.at + (i64)r * plain.pitch + c) = two;
      if (y) {
        float first, second;
        numbers(two, first, second);
        u64 at = (u64)r * columns + c;
        y[at] = rounded<bf16>(first * down);
        if (c + 1 < columns) y[at + 1] = rounded<bf16>(second * down);
      }
    }
    if (!turned.at) continue;
    barrier();
#pragma unroll
    for (u32 i = 0; i < side; i += 8) {
      u32 r = row + near, c = column + far + i;
      if (r < rows && c < columns) *(u16 *)(turned.at + (i64)c * turned.pitch + r) = tile[near * pitch + far + i] | (u16)tile[(near + 1) * pitch + far + i] << 8;
    }
    barrier();
  }
}
