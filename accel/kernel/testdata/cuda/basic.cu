// Threads on their own: arithmetic, control flow, structs, vectors, templates.

__global__ void saxpy(int n, float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

struct Affine {
  float scale;
  double shift;
  int steps[2];
};

__global__ void affine(Affine f, float *x, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    x[i] = f.scale * x[i] + (float)f.shift + f.steps[i & 1];
}

__global__ void scale4(float4 *x, float a, int n) {
  int i = threadIdx.x;
  if (i < n) {
    float4 v = x[i];
    x[i] = make_float4(a * v.x, v.y, v.z, -v.w);
  }
}

template <typename T, int N> __global__ void powers(const T *x, T *y, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  T p = 1;
#pragma unroll
  for (int k = 0; k < N; k++) p *= x[i];
  y[i] = p;
}
template __global__ void powers<double, 5>(const double *, double *, int);
template __global__ void powers<int, 3>(const int *, int *, int);

__global__ void bitsOf(const unsigned *x, int *out, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  unsigned v = x[i];
  out[8 * i] = __popc(v);
  out[8 * i + 1] = __clz(v);
  out[8 * i + 2] = __ffs(v);
  out[8 * i + 3] = (int)__brev(v);
  out[8 * i + 4] = (int)__byte_perm(v, 0x01020304, 0x5140);
  out[8 * i + 5] = (int)v / 7;
  out[8 * i + 6] = (int)v % 7;
  out[8 * i + 7] = (int)__umulhi(v, v);
}

__global__ void functions(const float *x, float *y, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  float v = x[i], *to = y + 12 * i;
  to[0] = sinf(v), to[1] = cosf(v), to[2] = expf(v), to[3] = logf(fabsf(v) + 1), to[4] = tanhf(v), to[5] = erff(v);
  to[6] = powf(fabsf(v), 1.5f), to[7] = rsqrtf(v * v + 1), to[8] = atan2f(v, 2), to[9] = fmodf(v, 0.7f), to[10] = cbrtf(v), to[11] = rintf(v);
}

__global__ void doubles(const double *x, double *y, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  double v = x[i], *to = y + 6 * i;
  to[0] = sin(v), to[1] = exp(v), to[2] = log1p(fabs(v)), to[3] = sqrt(fabs(v)), to[4] = v / 3, to[5] = floor(v * 10);
}

__global__ void collatz(int *x, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  int v = i + 1, steps = 0;
  while (v != 1) {
    switch (v % 2) {
    case 0: v /= 2; break;
    default: v = 3 * v + 1;
    }
    steps++;
  }
  x[i] = steps;
}

__noinline__ __device__ float horner(const float *c, int n, float x) {
  float v = 0;
  while (n-- > 0) v = v * x + c[n];
  return v;
}

__global__ void polynomial(const float *c, int n, float *x) { x[threadIdx.x] = horner(c, n, x[threadIdx.x]); }

__global__ void sortedEight(int *x) { // an array in local memory
  int v[8], *at = x + 8 * threadIdx.x;
  for (int i = 0; i < 8; i++) v[i] = at[i];
  for (int i = 1; i < 8; i++)
    for (int j = i; j > 0 && v[j - 1] > v[j]; j--) {
      int t = v[j];
      v[j] = v[j - 1], v[j - 1] = t;
    }
  for (int i = 0; i < 8; i++) at[i] = v[i];
}

__constant__ float weights[5] = {1, 4, 6, 4, 1};
__device__ int launches;

__global__ void blur(const float *x, float *y, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = -2; k <= 2; k++) sum += weights[k + 2] * x[min(max(i + k, 0), n - 1)];
  y[i] = sum / 16;
}

__global__ void count(int *out) { out[0] = ++launches; }

extern "C" __global__ void plain(float *x, long long n, unsigned char add) {
  if (threadIdx.x < n) x[threadIdx.x] += add;
}
