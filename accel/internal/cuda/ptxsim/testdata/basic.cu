// Kernels for the tests of the interpreter. Regenerate basic.ptx with
// ./generate.sh in this folder.
#define GLOBAL extern "C" __attribute__((global))
#define SHARED __attribute__((shared))
#define THREAD __nvvm_read_ptx_sreg_tid_x()
#define BLOCK __nvvm_read_ptx_sreg_ctaid_x()
#define THREADS __nvvm_read_ptx_sreg_ntid_x()
#define BLOCKS __nvvm_read_ptx_sreg_nctaid_x()
#define SYNC __syncthreads()

GLOBAL void axpy(float *y, const float *x, float a, int n) {
  for (int i = BLOCK * THREADS + THREAD; i < n; i += BLOCKS * THREADS) y[i] += a * x[i];
}

// The sum of a row of 16-bit brain floats by warp shuffles, then by shared memory.
GLOBAL void rowsum(float *out, const unsigned short *in, int columns) {
  SHARED static float part[32];
  const unsigned short *row = in + (unsigned long long)BLOCK * columns;
  float s = 0;
  for (int i = THREAD; i < columns; i += THREADS) s += __builtin_bit_cast(float, (unsigned)row[i] << 16);
  for (int o = 16; o; o >>= 1) s += __nvvm_shfl_sync_bfly_f32(~0u, s, o, 31);
  if (THREAD % 32 == 0) part[THREAD / 32] = s;
  SYNC;
  if (THREAD == 0) {
    float t = 0;
    for (int i = 0; i < THREADS / 32; i++) t += part[i];
    out[BLOCK] = t;
  }
}

GLOBAL void sgemm(float *c, const float *a, const float *b, int n) {
  SHARED static float as[32][33], bs[32][33];
  int tx = THREAD, ty = __nvvm_read_ptx_sreg_tid_y();
  int column = BLOCK * 32 + tx, row = __nvvm_read_ptx_sreg_ctaid_y() * 32 + ty;
  float s[4] = {0, 0, 0, 0};
  for (int k = 0; k < n; k += 32) {
    for (int r = 0; r < 32; r += 8) {
      as[ty + r][tx] = a[(row + r) * n + k + tx];
      bs[ty + r][tx] = b[(k + ty + r) * n + column];
    }
    SYNC;
    for (int p = 0; p < 32; p++)
      for (int r = 0; r < 4; r++) s[r] += as[ty + 8 * r][p] * bs[p][tx];
    SYNC;
  }
  for (int r = 0; r < 4; r++) c[(row + 8 * r) * n + column] = s[r];
}

// Collatz lengths: loops of different lengths in the lanes of a warp, with an
// early return, a switch and a call.
__attribute__((noinline, device)) static unsigned advance(unsigned long long *v) {
  switch (*v % 4) {
  case 0: *v /= 4; return 2;
  case 1: *v = 3 * *v + 1; return 1;
  case 2: *v /= 2; return 1;
  default: *v = (3 * *v + 1) / 2; return 2;
  }
}

GLOBAL void collatz(unsigned *steps, const unsigned *start, int n) {
  int i = BLOCK * THREADS + THREAD;
  if (i >= n) return;
  unsigned long long v = start[i];
  unsigned count = 0;
  while (v > 2) count += advance(&v);
  steps[i] = count + (v == 2);
}

// A histogram with atomic operations on shared and on global memory.
GLOBAL void histogram(unsigned *bins, const unsigned char *values, int n) {
  SHARED static unsigned local[256];
  for (int i = THREAD; i < 256; i += THREADS) local[i] = 0;
  SYNC;
  for (int i = BLOCK * THREADS + THREAD; i < n; i += BLOCKS * THREADS)
    __nvvm_atom_add_gen_i((int *)&local[values[i]], 1);
  SYNC;
  for (int i = THREAD; i < 256; i += THREADS) __nvvm_atom_add_gen_i((int *)&bins[i], local[i]);
}

// Local memory: sorts eight numbers by insertion, in an array that is indexed.
GLOBAL void sort8(int *v, const unsigned char *order) {
  int a[8], i = THREAD;
  for (int k = 0; k < 8; k++) a[order[k]] = v[8 * i + k];
  for (int k = 1; k < 8; k++)
    for (int j = k; j > 0 && a[order[j - 1]] > a[order[j]]; j--) {
      int t = a[order[j]];
      a[order[j]] = a[order[j - 1]];
      a[order[j - 1]] = t;
    }
  for (int k = 0; k < 8; k++) v[8 * i + k] = a[order[k]];
}
