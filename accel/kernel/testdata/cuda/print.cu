// printf and assert.
#include <cassert>

__global__ void hello(int n, const float *x) {
  int i = threadIdx.x;
  if (i >= n) return;
  printf("thread %d of block %u: %5.2f|%-6d|%+.1e|%g|%c|%s|%%|%x|%lld|%05d\n", i, blockIdx.x, x[i], i * 100, x[i], x[i] / 3, 'a' + i,
         i % 2 ? "odd" : "even", 255u + i, -5000000000LL, -i);
}

__global__ void positive(const float *x) {
  assert(x[threadIdx.x] > 0);
  if (threadIdx.x == 0) printf("none is negative\n");
}
