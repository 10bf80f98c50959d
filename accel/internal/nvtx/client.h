// The program's side of NVTX 3; see doc.go.
#ifndef QUERN_NVTX_CLIENT_H
#define QUERN_NVTX_CLIENT_H

#include <stdint.h>

// Opens a tool's library. 0: it has begun; 1: it cannot be opened; 2: it is none of
// NVTX; 3: it refuses.
int quern_nvtx_open(const char *path);

// Ranges, by nvtxRangeStartA and nvtxRangeEnd of the tool, where it has them.
uint64_t quern_nvtx_begin(const char *name);
void quern_nvtx_end(uint64_t range);

#endif
