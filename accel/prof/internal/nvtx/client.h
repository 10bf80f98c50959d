// The program's side of NVTX 3; see doc.go.
#ifndef QUERN_NVTX_CLIENT_H
#define QUERN_NVTX_CLIENT_H

#include <stdint.h>

// Loads a profiler's library. Returns 0 if it was initialized, 1 if it cannot be loaded, 2 if
// it is not an NVTX library, 3 if its initialization failed.
int quern_nvtx_open(const char *path);

// Ranges, by the profiler's nvtxRangeStartA and nvtxRangeEnd, if it has set them.
uint64_t quern_nvtx_begin(const char *name);
void quern_nvtx_end(uint64_t range);

#endif
