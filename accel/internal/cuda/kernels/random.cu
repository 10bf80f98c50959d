// random: the Philox4x32-10 generator, with the same bits as on the host.
//
// Bound by memory: 4 bytes per element. A thread computes four elements from one block of
// the generator.
//
// variants: any
#include "walk.h"

// bernoulli: see the generator in package ir. words are Keep, Scale, Key and Counter, in
// device memory because they change from run to run.
KERNEL(bernoulli, 256, 4)(float *y, const u64 *words, u64 n) {
  double keep = bits64(words[0]);
  u64 below = (u64)(keep * 4294967296.);
  float scale = (float)bits64(words[1]);
  u64 key = words[2], start = words[3];
  for (u64 b = first(); b < (n + 3) / 4; b += stride()) {
    u64 counter = start + b;
    u32 c0 = (u32)counter, c1 = (u32)(counter >> 32), c2 = 0, c3 = 0, k0 = (u32)key, k1 = (u32)(key >> 32);
#pragma unroll
    for (int round = 0; round < 10; round++) {
      u64 p = (u64)0xD2511F53u * c0, q = (u64)0xCD9E8D57u * c2;
      c0 = (u32)(q >> 32) ^ c1 ^ k0;
      c1 = (u32)q;
      c2 = (u32)(p >> 32) ^ c3 ^ k1;
      c3 = (u32)p;
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    u32 w[4] = {c0, c1, c2, c3};
#pragma unroll
    for (int j = 0; j < 4; j++)
      if (b * 4 + j < n) y[b * 4 + j] = w[j] < below ? scale : 0.f;
  }
}
