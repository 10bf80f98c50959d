// What all kernels share: indices, reductions over warps and blocks, conversions of 16-bit
// floats, exp and log. It needs no CUDA headers.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

#define DEVICE static __attribute__((device)) __attribute__((always_inline)) inline
// MEMBER is DEVICE for member functions.
#define MEMBER __attribute__((device)) __attribute__((always_inline)) inline
#define SHARED __attribute__((shared))
// KERNEL declares an entry point with the number of threads per block and the number of
// blocks that should fit on an SM. Its name ends in the variant, the element type that
// build.sh compiles the file for.
#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define KERNEL(name, threads, blocks) extern "C" __attribute__((global)) __attribute__((launch_bounds(threads, blocks))) void JOIN(name, VARIANT)

DEVICE u32 thread() { return __nvvm_read_ptx_sreg_tid_x(); }
DEVICE u32 block() { return __nvvm_read_ptx_sreg_ctaid_x(); }
DEVICE u32 blockY() { return __nvvm_read_ptx_sreg_ctaid_y(); }
DEVICE u32 blockZ() { return __nvvm_read_ptx_sreg_ctaid_z(); }
DEVICE u32 blocks() { return __nvvm_read_ptx_sreg_nctaid_x(); }
DEVICE u32 lane() { return thread() & 31; }
DEVICE u32 warp() { return thread() >> 5; }
DEVICE void barrier() { __syncthreads(); }

#ifdef REAL
typedef REAL real; // the type of the computation: float or double
#endif

template <typename A> DEVICE A least(A a, A b) { return a < b ? a : b; }
template <typename A> DEVICE A most(A a, A b) { return a > b ? a : b; }
DEVICE u32 up(u32 n, u32 to) { return (n + to - 1) / to; }

DEVICE float bits(u32 b) { return __builtin_bit_cast(float, b); }
DEVICE u32 bits(float f) { return __builtin_bit_cast(u32, f); }
DEVICE double bits64(u64 b) { return __builtin_bit_cast(double, b); }
DEVICE u64 bits64(double f) { return __builtin_bit_cast(u64, f); }

constexpr float minusInfinity32 = -__builtin_huge_valf();
template <typename T> DEVICE T minusInfinity() { return (T)minusInfinity32; }
template <typename T> DEVICE bool isNaN(T x) { return x != x; }

// 16-bit floats. The types are distinct so that templates can tell them apart.
struct alignas(2) bf16 { u16 b; };
struct alignas(2) f16 { u16 b; };

DEVICE float number(float x) { return x; }
DEVICE double number(double x) { return x; }
DEVICE float number(bf16 x) { return bits((u32)x.b << 16); }
DEVICE float number(f16 x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.b));
  return y;
}

// rounded rounds to the nearest value of a type; a 16-bit NaN has the same bits as on the
// host.
template <typename T> struct Rounded;
template <> struct Rounded<float> { DEVICE float of(float x) { return x; } };
template <> struct Rounded<double> { DEVICE double of(double x) { return x; } };
template <> struct Rounded<bf16> {
  DEVICE bf16 of(float x) {
    u16 y;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
    return bf16{isNaN(x) ? (u16)0x7fc0 : y};
  }
};
template <> struct Rounded<f16> {
  DEVICE f16 of(float x) {
    u16 y;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x));
    return f16{isNaN(x) ? (u16)((bits(x) >> 16 & 0x8000) | 0x7e00) : y};
  }
};
template <typename T, typename A> DEVICE T rounded(A x) { return Rounded<T>::of(x); }

// low and high are the numbers of two 16-bit floats.
template <typename E> DEVICE float low(u32 v) { return number(E{(u16)v}); }
template <typename E> DEVICE float high(u32 v) { return number(E{(u16)(v >> 16)}); }

// Shuffles across a warp, in which all 32 threads take part.
DEVICE u32 swap(u32 x, int distance) { return __nvvm_shfl_sync_bfly_i32(0xffffffffu, (int)x, distance, 0x1f); }
DEVICE int swap(int x, int distance) { return __nvvm_shfl_sync_bfly_i32(0xffffffffu, x, distance, 0x1f); }
DEVICE float swap(float x, int distance) { return bits(swap(bits(x), distance)); }
DEVICE double swap(double x, int distance) {
  u64 b = bits64(x);
  u64 low = swap((u32)b, distance), high = swap((u32)(b >> 32), distance);
  return bits64(high << 32 | low);
}

// votes returns a mask of the warp's threads for which the condition holds.
DEVICE u32 votes(bool yes) { return __nvvm_vote_ballot_sync(0xffffffffu, yes); }

struct Sum {
  template <typename T> DEVICE T of(T a, T b) { return a + b; }
  template <typename T> DEVICE T start() { return (T)0; }
};
struct Largest { // NaN counts as the largest
  template <typename T> DEVICE T of(T a, T b) { return b > a || isNaN(b) ? b : a; }
  template <typename T> DEVICE T start() { return minusInfinity<T>(); }
};

// acrossWarp reduces over the warp's threads; all get the same result.
template <typename Op, typename T> DEVICE T acrossWarp(T x) {
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) x = Op::of(x, swap(x, d));
  return x;
}

// Team is the threads that compute one row: a warp, or a block of 256. across reduces over
// the team; all threads get the same result.
template <int size> struct Team;
template <> struct Team<32> {
  static constexpr u32 size = 32;
  DEVICE u32 member() { return lane(); }
  DEVICE u32 row() { return block() * 8 + warp(); }
  DEVICE u32 rows() { return blocks() * 8; }
  template <typename Op, typename T> DEVICE T across(T x) { return acrossWarp<Op>(x); }
};
template <> struct Team<256> {
  static constexpr u32 size = 256;
  DEVICE u32 member() { return thread(); }
  DEVICE u32 row() { return block(); }
  DEVICE u32 rows() { return blocks(); }
  template <typename Op, typename T> DEVICE T across(T x) {
    static SHARED T part[8];
    x = acrossWarp<Op>(x);
    barrier(); // the partial results of the previous call have been read
    if (lane() == 0) part[warp()] = x;
    barrier();
    x = part[0];
#pragma unroll
    for (int i = 1; i < 8; i++) x = Op::of(x, part[i]);
    return x;
  }
};

// Blocks of a launch meet at these counters, which are zero between launches.
constexpr u32 maxMeetings = 1056;
static __attribute__((device)) u32 meetings[maxMeetings];

DEVICE u64 meeting(u32 i) { return (u64)(__attribute__((address_space(1))) u32 *)&meetings[i]; }

// last counts the blocks that have come to meeting i. In the last of n blocks it returns true to all
// threads, which see what all threads of the other blocks wrote before.
DEVICE bool last(u32 i, u32 n) {
  static SHARED u32 earlier;
  barrier();
  if (thread() == 0) {
    u32 count;
    asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(count) : "l"(meeting(i)), "r"(n - 1) : "memory");
    earlier = count;
  }
  barrier();
  return earlier == n - 1;
}

DEVICE float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
DEVICE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
DEVICE float root(float x) { return __nvvm_sqrt_rn_f(x); }
DEVICE double root(double x) { return __nvvm_sqrt_rn_d(x); }

DEVICE float exp2Fast(float x) {
  float y;
  asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// exponential computes eˣ: x = t·ln 2 + r for an integer t, with ln 2 in two parts so that
// r is exact. The error is at most two ULP.
DEVICE float exponential(float x) {
  x = x > 105.f ? 105.f : x < -105.f ? -105.f : x; // keeps NaN
  float t;
  asm("cvt.rni.f32.f32 %0, %1;" : "=f"(t) : "f"(x * 1.44269504f));
  t = t > 127.f ? 127.f : t;
  float r = fused(t, -0.693359375f, x);
  r = fused(t, 2.12194440e-4f, r);
  return exp2Fast(r * 1.44269504f) * exp2Fast(t);
}

// The rational function is that of Cephes' exp.
DEVICE double exponential(double x) {
  if (x > 710.) return (double)__builtin_huge_valf();
  if (x < -746.) return 0;
  if (isNaN(x)) return x;
  double t = __nvvm_ceil_d(x * 1.4426950408889634 - 0.5);
  double r = fused(t, -6.93145751953125e-1, x);
  r = fused(t, -1.42860682030941723212e-6, r);
  double s = r * r;
  double p = r * fused(fused(1.26177193074810590878e-4, s, 3.02994407707441961300e-2), s, 9.99999999999999999910e-1);
  double q = fused(fused(fused(3.00198505138664455042e-6, s, 2.52448340349684104192e-3), s, 2.27265548208155028766e-1), s, 2.0);
  double y = 1 + 2 * p / (q - p);
  i64 n = (i64)t; // in two steps, so that neither overflows
  i64 half = n / 2;
  return y * bits64((u64)(half + 1023) << 52) * bits64((u64)(n - half + 1023) << 52);
}

// logarithm computes ln x, by the series of ln((1+s)/(1-s)) in fdlibm; the error is at most
// 1 ULP.
DEVICE float logarithm(float x) {
  if (!(x > 0.f)) return x == 0.f ? minusInfinity32 : bits(0x7fc00000u);
  if (x == __builtin_huge_valf()) return x;
  int e = 0;
  if (x < 1.17549435e-38f) x *= 8388608.f, e = -23;
  u32 b = bits(x) - 0x3f3504f3u; // √½
  e += (int)b >> 23;
  float f = bits((b & 0x7fffff) + 0x3f3504f3u) - 1.f;
  float s = f / (2.f + f), z = s * s, w = z * z;
  float r = fused(w, 0.24279078841f, 0.40000972152f) * w + fused(w, 0.28498786688f, 0.66666662693f) * z;
  float h = 0.5f * f * f;
  return s * (h + r) - h + f + (float)e * 0.693147181f;
}

DEVICE double logarithm(double x) {
  if (!(x > 0)) return x == 0 ? (double)minusInfinity32 : bits64(0x7ff8000000000000ull);
  if (x == (double)__builtin_huge_valf()) return x;
  int e = 0;
  if (x < 2.2250738585072014e-308) x *= 18014398509481984., e = -54;
  u64 b = bits64(x) - 0x3fe6a09e667f3bcdull; // √½
  e += (int)((i64)b >> 52);
  double f = bits64((b & 0xfffffffffffffull) + 0x3fe6a09e667f3bcdull) - 1;
  double s = f / (2 + f), z = s * s, w = z * z;
  double even = w * fused(w, fused(w, 1.531383769920937332e-01, 2.222219843214978396e-01), 3.999999999940941908e-01);
  double odd = z * fused(w, fused(w, fused(w, 1.479819860510058591e-01, 1.818357216161805012e-01), 2.857142874366239149e-01), 6.666666666666735130e-01);
  double h = 0.5 * f * f;
  return (double)e * 6.93147180369123816490e-01 - ((h - (s * (h + even + odd) + (double)e * 1.90821492927058770002e-10)) - f);
}

// tangent computes tanh x: 1 - 2/(e²ˣ + 1), or near 0 its series.
DEVICE float tangent(float x) {
  if ((x < 0 ? -x : x) < 0.3f) {
    float s = x * x, p = fused(fused(fused(fused(-0.00886323f, s, 0.02186949f), s, -0.05396825f), s, 0.13333333f), s, -0.33333333f);
    return fused(p * s, x, x);
  }
  return 1.f - 2.f / (exponential(x + x) + 1.f);
}

// Normal is the normal distribution's Φ and density at x; see package accel/internal/cuda/ptx for the polynomial.
struct Normal {
  float y, density;

  DEVICE Normal at(float x) {
    float h = x * 0.5f, square = x * h, low = fused(x, h, -square);
    float e = exponential(-square);
    float gaussian = square > 100.f ? 0.f : fused(e, -low, e); // e^(-x²/2), corrected by the rounding error of x²
    float q = 1.f / fused((x < 0 ? -x : x) * 0.70710678f, 0.5f, 1.f), p = -0.05649569660190564f;
    p = fused(p, q, 0.2714004896180982f);
    p = fused(p, q, -0.4582271511071928f);
    p = fused(p, q, 0.24226594245694902f);
    p = fused(p, q, 0.000670544573916354f);
    p = fused(p, q, 0.18941920899584205f);
    p = fused(p, q, 0.2472001887911886f);
    p = fused(p, q, 0.28160309216550417f);
    p = fused(p, q, 0.2821668709584521f);
    p = fused(p, q, -3.5253532771895024e-06f);
    float tail = p * 0.5f * gaussian;
    return Normal{x < 0 ? tail : 1.f - tail, gaussian * 0.39894228f};
  }
};

#ifdef REAL
// Tensors of 16-bit floats are computed in float32. Their kind is a parameter of the kernels of
// variant f32: 0 for real, 1 for bfloat16, 2 for float16.

// typed calls f with a value of the type, so that there is a loop for each and no loop has to
// branch.
template <typename F> DEVICE void typed(u32 kind, F f) {
  if (sizeof(real) == 8 || kind == 0) f(real());
  else if (kind == 1) f(bf16());
  else f(f16());
}

// putAs stores element i.
DEVICE void putAs(void *y, u32 kind, u64 i, real v) {
  if (sizeof(real) == 8 || kind == 0) ((real *)y)[i] = v;
  else if (kind == 1) ((bf16 *)y)[i] = rounded<bf16>((float)v);
  else ((f16 *)y)[i] = rounded<f16>((float)v);
}

// Exponentials is the maximum of a row and Σ exp(x - maximum), computed in one pass with
// eight loads in flight: a thread's sum is scaled down when a larger x comes (Milakov and
// Gimelshein, arXiv:1805.02867).
struct Exponentials {
  real top, sum;

  template <int size, typename T> DEVICE Exponentials of(const T *x, u32 n) {
    using Members = Team<size>;
    Exponentials e = {minusInfinity<real>(), 0};
    for (u32 from = Members::member(); from < n; from += 8 * size) {
      real v[8];
#pragma unroll
      for (u32 j = 0; j < 8; j++) v[j] = from + j * size < n ? number(x[from + j * size]) : minusInfinity<real>();
      real high = e.top;
#pragma unroll
      for (u32 j = 0; j < 8; j++) high = Largest::of(high, v[j]);
      real shift = high == minusInfinity<real>() ? 0 : high;
      e.sum *= exponential(e.top - shift);
#pragma unroll
      for (u32 j = 0; j < 8; j++) e.sum += exponential(v[j] - shift);
      e.top = high;
    }
    real top = Members::template across<Largest>(e.top);
    e.sum = Members::template across<Sum>(e.sum * exponential(e.top - top));
    e.top = top;
    return e;
  }
};
#endif

// Fault is where a kernel reports what is wrong with its input: the index of the first
// wrong element times 2³², plus a code or value. Its initial value is all ones.
struct Fault { u64 first; };
DEVICE void report(Fault *fault, u64 element, u32 what) {
  u64 key = element << 32 | what;
  asm volatile("red.global.min.u64 [%0], %1;" ::"l"(&fault->first), "l"(key) : "memory");
}

DEVICE u32 sharedAddress(const void *p) { return (u32)(u64)(__attribute__((address_space(3))) const void *)p; }

typedef u32 Four __attribute__((ext_vector_type(4)));
DEVICE u32 loadShared(u32 at) {
  u32 v;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(at) : "memory");
  return v;
}
DEVICE Four loadShared4(u32 at) {
  Four v;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(at) : "memory");
  return v;
}

// copyAsync copies size bytes to shared memory by cp.async: the first ones, bytes, from memory, and zeros for the others.
template <u32 size> DEVICE void copyAsync(u32 to, const void *from, u32 bytes) {
  auto global = (__attribute__((address_space(1))) const void *)from;
  if constexpr (size == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(bytes) : "memory");
  else asm volatile("cp.async.ca.shared.global [%0], [%1], %3, %2;" ::"r"(to), "l"(global), "r"(bytes), "n"(size) : "memory");
}
DEVICE void commitCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// awaitCopies waits until at most the newest groups, pending, are under way.
template <int pending> DEVICE void awaitCopies() { asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory"); }
