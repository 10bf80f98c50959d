// Two dimensions: tiles in shared memory.
#define TILE 16

__global__ void transpose(const float *x, float *y, int rows, int columns) {
  __shared__ float tile[TILE][TILE + 1];
  int column = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;
  if (row < rows && column < columns) tile[threadIdx.y][threadIdx.x] = x[row * columns + column];
  __syncthreads();
  column = blockIdx.y * TILE + threadIdx.x, row = blockIdx.x * TILE + threadIdx.y;
  if (row < columns && column < rows) y[row * rows + column] = tile[threadIdx.x][threadIdx.y];
}

__global__ void matmul(const float *a, const float *b, float *c, int m, int n, int k) {
  __shared__ float as[TILE][TILE], bs[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int at = 0; at < k; at += TILE) {
    as[threadIdx.y][threadIdx.x] = row < m && at + threadIdx.x < k ? a[row * k + at + threadIdx.x] : 0;
    bs[threadIdx.y][threadIdx.x] = column < n && at + threadIdx.y < k ? b[(at + threadIdx.y) * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < TILE; i++) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

__global__ void stencil(const float *x, float *y, int rows, int columns) { // five points, with a halo
  __shared__ float s[TILE + 2][TILE + 2];
  int column = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;
  for (int i = threadIdx.y; i < TILE + 2; i += TILE)
    for (int j = threadIdx.x; j < TILE + 2; j += TILE) {
      int r = blockIdx.y * TILE + i - 1, c = blockIdx.x * TILE + j - 1;
      s[i][j] = r >= 0 && r < rows && c >= 0 && c < columns ? x[r * columns + c] : 0;
    }
  __syncthreads();
  if (row < rows && column < columns) {
    int i = threadIdx.y + 1, j = threadIdx.x + 1;
    y[row * columns + column] = s[i - 1][j] + s[i + 1][j] + s[i][j - 1] + s[i][j + 1] - 4 * s[i][j];
  }
}
