// 16-bit floats and matrix units.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

__global__ void halfSaxpy(int n, float a, const __half *x, __half *y) {
  int i = threadIdx.x;
  if (i < n) y[i] = __hfma(__float2half(a), x[i], y[i]);
}

__global__ void half2Scale(__half2 *x, int n) {
  int i = threadIdx.x;
  if (i < n) x[i] = __hmul2(__hadd2(x[i], __float2half2_rn(1)), __halves2half2(__float2half(2), __float2half(-0.5f)));
}

__global__ void bfloatGelu(const __nv_bfloat16 *x, __nv_bfloat16 *y, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  float v = __bfloat162float(x[i]);
  y[i] = __float2bfloat16(v / (1 + expf(-1.702f * v)));
}

// A warp for each 16×16 tile of c = a b, with b transposed in memory.
__global__ void wmmaHalf(const half *a, const half *b, float *c, int n, int k) {
  int row = 16 * blockIdx.y, column = 16 * blockIdx.x;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  for (int at = 0; at < k; at += 16) {
    wmma::load_matrix_sync(fa, a + row * k + at, k);
    wmma::load_matrix_sync(fb, b + column * k + at, k);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  for (int i = 0; i < fc.num_elements; i++) fc.x[i] *= 0.5f;
  wmma::store_matrix_sync(c + row * n + column, fc, n, wmma::mem_row_major);
}

__global__ void wmmaTF32(const float *a, const float *b, float *c) { // 16×8 times 8×16
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> fc;
  wmma::load_matrix_sync(fc, c, 16, wmma::mem_row_major);
  wmma::load_matrix_sync(fa, a, 8);
  wmma::load_matrix_sync(fb, b, 16);
  for (int i = 0; i < fa.num_elements; i++) fa.x[i] = wmma::__float_to_tf32(fa.x[i]);
  for (int i = 0; i < fb.num_elements; i++) fb.x[i] = wmma::__float_to_tf32(fb.x[i]);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_col_major);
}

__global__ void wmmaBytes(const unsigned char *a, const unsigned char *b, int *c) { // 16×16 times 16×16 by shared memory
  __shared__ __align__(32) unsigned char s[256];
  for (int i = threadIdx.x; i < 256; i += 32) s[i] = a[i];
  __syncwarp();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, unsigned char, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, unsigned char, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> fc;
  wmma::fill_fragment(fc, 7);
  wmma::load_matrix_sync(fa, s, 16);
  wmma::load_matrix_sync(fb, b, 16);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

__global__ void mmaHalf(const unsigned *a, const unsigned *b, float *c) { // 16×16 times 16×8, with b transposed in memory
  int g = threadIdx.x / 4, t = threadIdx.x % 4;
  unsigned a0 = a[g * 8 + t], a1 = a[(g + 8) * 8 + t], a2 = a[g * 8 + t + 4], a3 = a[(g + 8) * 8 + t + 4];
  unsigned b0 = b[g * 8 + t], b1 = b[g * 8 + t + 4];
  float d[4] = {1, 1, 1, 1};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  for (int i = 0; i < 4; i++) c[(g + 8 * (i / 2)) * 8 + 2 * t + i % 2] = d[i];
}
