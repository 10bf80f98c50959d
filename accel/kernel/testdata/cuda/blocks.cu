// Threads of a block together: shared memory, shuffles, votes, atomics.

__inline__ __device__ float warpSum(float v) {
  for (int n = 16; n > 0; n /= 2) v += __shfl_down_sync(0xffffffff, v, n);
  return v;
}

__global__ void sum(const float *x, float *out, int n) {
  __shared__ float parts[32];
  float v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += x[i];
  v = warpSum(v);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = warpSum(threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0);
    if (threadIdx.x == 0) atomicAdd(out, v);
  }
}

__global__ void argmax(const int *x, unsigned long long *best, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicMax(best, (unsigned long long)x[i] << 32 | (unsigned)i);
}

__global__ void histogram(const unsigned char *x, int *bins, int n) {
  __shared__ int own[16];
  if (threadIdx.x < 16) own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[x[i] / 16], 1);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

__global__ void scan(int *x) { // Hillis and Steele
  __shared__ int s[2][256];
  int i = threadIdx.x, from = 0;
  s[0][i] = x[i];
  __syncthreads();
  for (int n = 1; n < blockDim.x; n *= 2, from = 1 - from) {
    s[1 - from][i] = s[from][i] + (i >= n ? s[from][i - n] : 0);
    __syncthreads();
  }
  x[i] = s[from][i];
}

__global__ void scanWarp(int *x) {
  int v = x[threadIdx.x];
  for (int n = 1; n < 32; n *= 2) {
    int w = __shfl_up_sync(0xffffffff, v, n);
    if (threadIdx.x >= n) v += w;
  }
  x[threadIdx.x] = v;
}

__global__ void butterfly(float *x) {
  float v = x[threadIdx.x];
  for (int mask = 16; mask > 0; mask /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, mask, 32));
  x[threadIdx.x] = v - __shfl_sync(0xffffffff, x[threadIdx.x], 3);
}

__global__ void votes(const int *x, int *out) {
  int v = x[threadIdx.x];
  unsigned positive = __ballot_sync(0xffffffff, v > 0);
  int any = __any_sync(0xffffffff, v > 100), all = __all_sync(0xffffffff, v > -100);
  unsigned same = __match_any_sync(0xffffffff, v);
  out[4 * threadIdx.x] = (int)positive, out[4 * threadIdx.x + 1] = any, out[4 * threadIdx.x + 2] = all, out[4 * threadIdx.x + 3] = (int)same;
}

__global__ void compact(const int *x, int *out, int *n, int length) { // keeps what is positive, one atomic for each warp
  int i = threadIdx.x, lane = i % 32;
  bool keep = i < length && x[i] > 0;
  unsigned mask = __ballot_sync(0xffffffff, keep);
  int base = 0;
  if (lane == 0) base = atomicAdd(n, __popc(mask));
  base = __shfl_sync(0xffffffff, base, 0);
  if (keep) out[base + __popc(mask & ((1u << lane) - 1))] = x[i];
}

__global__ void exchange(float *x) { // within a warp, by shared memory
  __shared__ float s[32];
  s[threadIdx.x] = x[threadIdx.x];
  __syncwarp();
  x[threadIdx.x] = s[31 - threadIdx.x];
}

__global__ void softmax(const float *x, float *y, int columns) { // a block for each row
  extern __shared__ float row[];
  __shared__ float result;
  x += blockIdx.x * columns, y += blockIdx.x * columns;
  float top = -INFINITY;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    row[i] = x[i];
    top = fmaxf(top, row[i]);
  }
  for (int n = 16; n > 0; n /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, n));
  float total = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) total += row[i] = expf(row[i] - top);
  total = warpSum(total);
  if (threadIdx.x == 0) result = total;
  __syncwarp();
  for (int i = threadIdx.x; i < columns; i += blockDim.x) y[i] = row[i] / result;
}

__global__ void layerNorm(const float *__restrict__ x, const float *__restrict__ weight, float *__restrict__ y, int columns, float epsilon) {
  __shared__ float mean, scale;
  const float *row = x + blockIdx.x * columns;
  float sum = 0, squares = 0;
  for (int i = threadIdx.x; i < columns; i += 32) sum += row[i], squares += row[i] * row[i];
  sum = warpSum(sum), squares = warpSum(squares);
  if (threadIdx.x == 0) {
    mean = sum / columns;
    scale = rsqrtf(squares / columns - mean * mean + epsilon);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < columns; i += 32) y[blockIdx.x * columns + i] = (row[i] - mean) * scale * weight[i];
}

__global__ void lastBlock(const float *x, float *parts, unsigned *done, float *out) { // sums in one launch, with a fence
  __shared__ bool last;
  float v = warpSum(x[blockIdx.x * 32 + threadIdx.x]);
  if (threadIdx.x == 0) {
    atomicExch(&parts[blockIdx.x], v);
    __threadfence();
    last = atomicInc(done, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float total = 0;
    for (int i = 0; i < gridDim.x; i++) total += atomicAdd(&parts[i], 0.0f);
    *out = total;
  }
}

__global__ void spread(int *x) { // compare and swap: the maximum by hand
  int v = threadIdx.x * 37 % 101 + 1;
  int seen = atomicCAS(&x[threadIdx.x % 4], 0, v);
  while (seen != 0 && seen < v) {
    int assumed = seen;
    seen = atomicCAS(&x[threadIdx.x % 4], assumed, v);
    if (seen == assumed) break;
  }
}
