//go:build linux && cgo

#include "shim.h"

#include <string.h>

// Numbers of nccl.h.
enum {
  config_magic = 0xcafebeef,
  config_version = 21400, // NCCL_VERSION(2,14,0), the first with a config
  op_sum = 0,
  invalid_argument = 4,
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

int quern_nccl_group_start(table *t) { return t->ncclGroupStart(); }

int quern_nccl_group_end(table *t) { return t->ncclGroupEnd(); }

int quern_nccl_queue(table *t, int op, uint64_t from, uint64_t to, size_t count, int type, int peer, handle c, handle stream) {
  const void *src = (const void *)(uintptr_t)from;
  void *dst = (void *)(uintptr_t)to;
  switch (op) { // in the order of type Op
  case 0: return t->ncclAllReduce(src, dst, count, type, op_sum, c, stream);
  case 1: return t->ncclReduceScatter(src, dst, count, type, op_sum, c, stream);
  case 2: return t->ncclAllGather(src, dst, count, type, c, stream);
  case 3: return t->ncclBroadcast(src, dst, count, type, peer, c, stream);
  case 4: return t->ncclSend(src, count, type, peer, c, stream);
  case 5: return t->ncclRecv(dst, count, type, peer, c, stream);
  }
  return invalid_argument;
}

int quern_nccl_finalize(table *t, handle c) { return t->ncclCommFinalize(c); }

int quern_nccl_destroy(table *t, handle c) { return t->ncclCommDestroy(c); }

int quern_nccl_abort(table *t, handle c) { return t->ncclCommAbort(c); }
