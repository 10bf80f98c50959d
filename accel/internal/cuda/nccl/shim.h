// Calls into libnccl.so.2, which is opened at run time: a table of its functions. The
// declarations are those of nccl.h; communicators and streams are uintptr_t.
#ifndef QUERN_NCCL_SHIM_H
#define QUERN_NCCL_SHIM_H

#include <stddef.h>
#include <stdint.h>

typedef uintptr_t handle;

// ncclUniqueId
typedef struct {
  char bytes[128];
} unique;

// The first fields of ncclConfig_t. Its size is a field; the library treats later fields as
// not set.
typedef struct {
  size_t size;
  unsigned magic, version;
  int blocking;
} config;

// X(name, parameters)
#define FUNCTIONS(X) \
  X(ncclGetUniqueId, (unique *id)) \
  X(ncclCommInitRankConfig, (handle *c, int size, unique id, int rank, config *how)) \
  X(ncclCommGetAsyncError, (handle c, int *status)) \
  X(ncclAllReduce, (const void *from, void *to, size_t count, int type, int op, handle c, handle stream)) \
  X(ncclReduceScatter, (const void *from, void *to, size_t to_count, int type, int op, handle c, handle stream)) \
  X(ncclAllGather, (const void *from, void *to, size_t from_count, int type, handle c, handle stream)) \
  X(ncclBroadcast, (const void *from, void *to, size_t count, int type, int root, handle c, handle stream)) \
  X(ncclSend, (const void *from, size_t count, int type, int peer, handle c, handle stream)) \
  X(ncclRecv, (void *to, size_t count, int type, int peer, handle c, handle stream)) \
  X(ncclGroupStart, (void)) \
  X(ncclGroupEnd, (void)) \
  X(ncclCommFinalize, (handle c)) \
  X(ncclCommDestroy, (handle c)) \
  X(ncclCommAbort, (handle c))

#define FIELD(name, parameters) int(*name) parameters;
typedef struct {
  FUNCTIONS(FIELD)
  const char *(*ncclGetErrorString)(int status);
  const char *(*ncclGetLastError)(handle c);
} table;
#undef FIELD

// quern_nccl_symbols are the names of the functions of the table in its order; NULL is the end.
extern const char *const quern_nccl_symbols[];
const char *quern_nccl_status(table *t, int status);
const char *quern_nccl_words(table *t, handle c);

int quern_nccl_unique(table *t, unique *id);
// quern_nccl_join starts joining a group; quern_nccl_state returns the progress.
int quern_nccl_join(table *t, handle *c, int size, const unique *id, int rank);
// quern_nccl_state stores the state of a communicator in *state.
int quern_nccl_state(table *t, handle c, int *state);
int quern_nccl_group_start(table *t);
int quern_nccl_group_end(table *t);
// quern_nccl_queue calls the function that op numbers as type Op of the package.
int quern_nccl_queue(table *t, int op, uint64_t from, uint64_t to, size_t count, int type, int peer, handle c, handle stream);
int quern_nccl_finalize(table *t, handle c);
int quern_nccl_destroy(table *t, handle c);
int quern_nccl_abort(table *t, handle c);

#endif
