// Writes occupancy.json with the formula of NVIDIA's cuda_occupancy.h, which the wheel nvidia-cuda-runtime-cu12 contains:
//
//	g++ -I .../nvidia/cuda_runtime/include make_golden.cpp -o make_golden && ./make_golden > occupancy.json
//
// A row is: compute capability, threads, registers of a thread, bytes of shared memory; resident blocks, and the sum of 1 (warps), 2
// (registers), 4 (shared memory) and 8 (blocks) for what limits them. Barriers, which never limit them alone, are left out.
#include <cstdio>
#include <cuda_occupancy.h>

struct Device { int major, minor, threads; size_t shared; };

int main() {
  const Device devices[] = {{8, 0, 2048, 164}, {8, 6, 1536, 100}, {8, 9, 1536, 100}, {9, 0, 2048, 228}, {10, 0, 2048, 228}, {12, 0, 1536, 100}};
  const int threads[] = {32, 64, 96, 128, 192, 256, 320, 384, 512, 768, 1000, 1024};
  const int registers[] = {16, 24, 32, 37, 40, 48, 63, 64, 80, 96, 126, 128, 168, 200, 255};
  const size_t shared[] = {0, 1, 1024, 2048, 4224, 8192, 16384, 33792, 49152};
  int n = 0;
  for (auto &d : devices) for (int t : threads) for (int r : registers) for (size_t s : shared) {
    if (n++ % 13) continue;
    cudaOccDeviceProp p;
    p.computeMajor = d.major; p.computeMinor = d.minor; p.maxThreadsPerBlock = 1024; p.maxThreadsPerMultiprocessor = d.threads;
    p.regsPerBlock = p.regsPerMultiprocessor = 65536; p.warpSize = 32; p.numSms = 100; p.reservedSharedMemPerBlock = 1024;
    p.sharedMemPerBlock = 48 << 10; p.sharedMemPerMultiprocessor = d.shared << 10; p.sharedMemPerBlockOptin = (d.shared - 1) << 10;
    cudaOccFuncAttributes a;
    a.maxThreadsPerBlock = 1024; a.numRegs = r; a.sharedSizeBytes = s; a.maxDynamicSharedSizeBytes = 0; a.numBlockBarriers = 1;
    a.partitionedGCConfig = PARTITIONED_GC_OFF; a.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    cudaOccDeviceState state;
    state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
    cudaOccResult result;
    if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &p, &a, &state, t, 0)) return 1;
    printf("%s[%d,%d,%d,%zu,%d,%u]", n == 1 ? "[\n" : ",\n", 10 * d.major + d.minor, t, r, s, result.activeBlocksPerMultiprocessor,
           result.limitingFactors & 15);
  }
  printf("\n]\n");
}
