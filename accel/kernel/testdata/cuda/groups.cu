// Cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void groupSums(const float *x, float *y) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  float v = cg::reduce(tile, x[block.thread_rank()], cg::plus<float>());
  if (tile.thread_rank() == 0) y[tile.meta_group_rank()] = v;
  block.sync();
  if (block.thread_rank() == 0) y[0] *= 2;
}

__global__ void groupMax(const int *x, int *y) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  int v = cg::reduce(warp, x[threadIdx.x], cg::greater<int>());
  if (warp.any(v > 5) && threadIdx.x == 0) y[0] = v + warp.size();
}
