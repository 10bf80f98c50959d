//go:build linux && cgo

#include "shim.h"

#include <string.h>

#include <string.h>

// Numbers of nccl.h.
enum {
  config_magic = 0xcafebeef,
  config_version = 21400, // NCCL_VERSION(2,14,0), the first with a config
  op_sum = 0,
};

#define NAME(name, parameters) #name,
const char *const quern_nccl_symbols[] = {FUNCTIONS(NAME) "ncclGetErrorString", "ncclGetLastError", NULL};
#undef NAME

const char *quern_nccl_status(table *t, int status) { return t->ncclGetErrorString(status); }

const char *quern_nccl_words(table *t, handle c) { return t->ncclGetLastError(c); }

int quern_nccl_unique(table *t, unique *id) { return t->ncclGetUniqueId(id); }

int quern_nccl_join(table *t, handle *c, int size, const unique *id, int rank) {
  config how;
  memset(&how, 0, sizeof how); // also the padding, which later versions use for a field
  how.size = sizeof how, how.magic = config_magic, how.version = config_version;
  return t->ncclCommInitRankConfig(c, size, *id, rank, &how);
}

int quern_nccl_state(table *t, handle c, int *state) { return t->ncclCommGetAsyncError(c, state); }

int quern_nccl_sum(table *t, handle c, uint64_t at, size_t count, int type, handle stream) {
  return t->ncclAllReduce((const void *)(uintptr_t)at, (void *)(uintptr_t)at, count, type, op_sum, c, stream);
}

int quern_nccl_finalize(table *t, handle c) { return t->ncclCommFinalize(c); }

int quern_nccl_destroy(table *t, handle c) { return t->ncclCommDestroy(c); }

int quern_nccl_abort(table *t, handle c) { return t->ncclCommAbort(c); }
