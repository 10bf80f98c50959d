// Calls into libcudnn, which is opened at run time: a table of its functions, and C
// functions around them that create descriptors. The declarations are those of
// cudnn_graph.h; handles and descriptors are uintptr_t.
#ifndef QUERN_CUDNN_SHIM_H
#define QUERN_CUDNN_SHIM_H

#include <stddef.h>
#include <stdint.h>

typedef uintptr_t handle;
typedef uint64_t address;

// X(name, parameters)
#define FUNCTIONS(X) \
  X(cudnnCreate, (handle *library)) \
  X(cudnnDestroy, (handle library)) \
  X(cudnnSetStream, (handle library, handle stream)) \
  X(cudnnBackendCreateDescriptor, (int kind, handle *d)) \
  X(cudnnBackendDestroyDescriptor, (handle d)) \
  X(cudnnBackendSetAttribute, (handle d, int attribute, int type, int64_t count, const void *values)) \
  X(cudnnBackendGetAttribute, (handle d, int attribute, int type, int64_t room, int64_t *count, void *values)) \
  X(cudnnBackendFinalize, (handle d)) \
  X(cudnnBackendExecute, (handle library, handle plan, handle pack))

#define FIELD(name, parameters) int(*name) parameters;
typedef struct {
  FUNCTIONS(FIELD)
  const char *(*cudnnGetErrorString)(int status);
  void (*cudnnGetLastErrorString)(char *text, size_t bytes);
} table;
#undef FIELD

typedef struct {
  int kind, type, channels_last;
  int64_t x[4], w[4], y[4], align_x, align_w, align_y;
  int64_t stride[2], padding[2], dilation[2];
} convolution;

// The description of a convolution for cuDNN. The device is 0 if the library has a handle.
typedef struct {
  handle x, w, y, convolution, operation, graph, device;
} descriptors;

enum { max_engines = 64, max_knobs = 32 };

// An engine that can compute it, with its knobs set.
typedef struct {
  handle config, engine, plan;
  int64_t number; // of the engine
  int64_t workspace;
  uint32_t notes, behavior; // one bit each
  int known;                // number of knobs
  struct {
    int type; // a value of cudnnBackendKnobType_t
    int64_t value;
  } knobs[max_knobs];
} engine;

// quern_dnn_symbols are the names of the functions of the table in its order; NULL is the end.
extern const char *const quern_dnn_symbols[];
const char *quern_dnn_status(table *t, int status);
void quern_dnn_words(table *t, char *text, size_t bytes);

int quern_dnn_create(table *t, handle *library);
int quern_dnn_destroy(table *t, handle library);

// The functions below return the name of the call that failed in *call.

// quern_dnn_device creates a device from its description in JSON; no such GPU needs to be present.
int quern_dnn_device(table *t, const char *json, handle *device, const char **call);
int quern_dnn_describe(table *t, handle library, const convolution *c, descriptors *d, const char **call);
void quern_dnn_forget(table *t, descriptors *d);

// quern_dnn_engines returns at most max_engines engines of the heuristic with the given
// mode.
int quern_dnn_engines(table *t, const descriptors *d, int mode, engine *engines, int *count, const char **call);
// quern_dnn_plan finalizes an engine's execution plan.
int quern_dnn_plan(table *t, handle library, const descriptors *d, engine *w, const char **call);
void quern_dnn_drop(table *t, engine *w);
int quern_dnn_run(table *t, handle library, const engine *w, address x, address filter, address y, address work, handle stream, const char **call);

#endif
