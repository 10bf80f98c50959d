// Calls into libcuda.so.1, which is opened at run time: a table of its
// functions, and C functions around them, which make the context current in
// the calling thread first, so that Go may call from any thread. The
// declarations are those of the CUDA driver API; handles are uintptr_t.
#ifndef QUERN_CUDA_SHIM_H
#define QUERN_CUDA_SHIM_H

#include <stddef.h>
#include <stdint.h>

typedef uintptr_t handle;
typedef uint64_t address;

// Numbers of cuda.h.
enum {
  not_supported = 801,
  jit_error_log = 5,
  jit_error_log_bytes = 6,
  stream_non_blocking = 1,
  event_no_timing = 2,
  host_portable = 1,
  pool_release_threshold = 4,
  memory_host = 1,
  memory_device = 2,
  attribute_cluster = 4,
  port_programmatic = 1,
  dependency_programmatic = 1,
  capture_relaxed = 2,
  no_interleave = 0,
  promote_256 = 3,
};

// Markers of the list of parameters that are one block of bytes.
#define PARAMS_END ((void *)0)
#define PARAMS_POINTER ((void *)1)
#define PARAMS_BYTES ((void *)2)

// CUDA_KERNEL_NODE_PARAMS_v1
typedef struct {
  handle function;
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared;
  void **params;
  void **extra;
} kernel_node;

// CUDA_MEMCPY3D_v2
typedef struct {
  size_t x, y, z, lod;
  unsigned type;
  const void *host;
  address device;
  void *array, *reserved;
  size_t pitch, height;
} copy_side;
typedef struct {
  copy_side source, destination;
  size_t width, rows, depth;
} copy_node;

// CUDA_MEMSET_NODE_PARAMS_v1
typedef struct {
  address destination;
  size_t pitch;
  unsigned value, element;
  size_t width, rows;
} fill_node;

// CUlaunchAttribute, with the value of a cluster dimension
typedef struct {
  unsigned id, pad;
  union {
    char bytes[64];
    uint64_t widest; // for the alignment of the union
    struct { unsigned x, y, z; } cluster;
  } value;
} launch_attribute;

// CUlaunchConfig
typedef struct {
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared;
  handle stream;
  launch_attribute *attributes;
  unsigned count;
} launch_config;

// CUgraphEdgeData
typedef struct {
  unsigned char from_port, to_port, type, reserved[5];
} edge_data;

// X(name, parameters, arguments): functions without a context, and with one.
#define WITHOUT_CONTEXT(X) \
  X(cuInit, (unsigned flags), (flags)) \
  X(cuDriverGetVersion, (int *version), (version)) \
  X(cuDeviceGetCount, (int *count), (count)) \
  X(cuDeviceGet, (int *device, int ordinal), (device, ordinal)) \
  X(cuDeviceGetName, (char *name, int bytes, int device), (name, bytes, device)) \
  X(cuDeviceGetUuid_v2, (void *uuid, int device), (uuid, device)) \
  X(cuDeviceGetPCIBusId, (char *id, int bytes, int device), (id, bytes, device)) \
  X(cuDeviceTotalMem_v2, (size_t *bytes, int device), (bytes, device)) \
  X(cuDeviceGetAttribute, (int *value, int attribute, int device), (value, attribute, device)) \
  X(cuDevicePrimaryCtxRetain, (handle *context, int device), (context, device)) \
  X(cuDevicePrimaryCtxRelease_v2, (int device), (device)) \
  X(cuDeviceGetDefaultMemPool, (handle *pool, int device), (pool, device)) \
  X(cuMemPoolSetAttribute, (handle pool, int attribute, void *value), (pool, attribute, value)) \
  X(cuMemPoolTrimTo, (handle pool, size_t keep), (pool, keep)) \
  X(cuCtxSetCurrent, (handle context), (context))

#define WITH_CONTEXT(X) \
  X(cuCtxSynchronize, (void), ()) \
  X(cuMemGetInfo_v2, (size_t *free, size_t *total), (free, total)) \
  X(cuMemAllocAsync, (address *p, size_t bytes, handle stream), (p, bytes, stream)) \
  X(cuMemFreeAsync, (address p, handle stream), (p, stream)) \
  X(cuMemAlloc_v2, (address *p, size_t bytes), (p, bytes)) \
  X(cuMemFree_v2, (address p), (p)) \
  X(cuMemHostAlloc, (void **p, size_t bytes, unsigned flags), (p, bytes, flags)) \
  X(cuMemFreeHost, (void *p), (p)) \
  X(cuMemcpyHtoDAsync_v2, (address to, const void *from, size_t bytes, handle stream), (to, from, bytes, stream)) \
  X(cuMemcpyDtoHAsync_v2, (void *to, address from, size_t bytes, handle stream), (to, from, bytes, stream)) \
  X(cuMemcpyDtoDAsync_v2, (address to, address from, size_t bytes, handle stream), (to, from, bytes, stream)) \
  X(cuMemsetD8Async, (address p, unsigned char value, size_t count, handle stream), (p, value, count, stream)) \
  X(cuMemsetD16Async, (address p, unsigned short value, size_t count, handle stream), (p, value, count, stream)) \
  X(cuMemsetD32Async, (address p, unsigned value, size_t count, handle stream), (p, value, count, stream)) \
  X(cuModuleLoadDataEx, (handle *module, const void *image, unsigned count, int *options, void **values), (module, image, count, options, values)) \
  X(cuModuleUnload, (handle module), (module)) \
  X(cuModuleGetFunction, (handle *function, handle module, const char *name), (function, module, name)) \
  X(cuModuleGetGlobal_v2, (address *p, size_t *bytes, handle module, const char *name), (p, bytes, module, name)) \
  X(cuFuncGetAttribute, (int *value, int attribute, handle function), (value, attribute, function)) \
  X(cuFuncSetAttribute, (handle function, int attribute, int value), (function, attribute, value)) \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *blocks, handle function, int threads, size_t shared), (blocks, function, threads, shared)) \
  X(cuLaunchKernel, (handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, handle stream, void **params, void **extra), (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, params, extra)) \
  X(cuStreamCreate, (handle *stream, unsigned flags), (stream, flags)) \
  X(cuStreamDestroy_v2, (handle stream), (stream)) \
  X(cuStreamSynchronize, (handle stream), (stream)) \
  X(cuStreamWaitEvent, (handle stream, handle event, unsigned flags), (stream, event, flags)) \
  X(cuEventCreate, (handle *event, unsigned flags), (event, flags)) \
  X(cuEventDestroy_v2, (handle event), (event)) \
  X(cuEventRecord, (handle event, handle stream), (event, stream)) \
  X(cuEventQuery, (handle event), (event)) \
  X(cuEventSynchronize, (handle event), (event)) \
  X(cuEventElapsedTime, (float *milliseconds, handle from, handle to), (milliseconds, from, to)) \
  X(cuGraphCreate, (handle *graph, unsigned flags), (graph, flags)) \
  X(cuGraphDestroy, (handle graph), (graph)) \
  X(cuGraphAddKernelNode, (handle *node, handle graph, const handle *after, size_t count, const kernel_node *params), (node, graph, after, count, params)) \
  X(cuGraphAddMemcpyNode, (handle *node, handle graph, const handle *after, size_t count, const copy_node *params, handle context), (node, graph, after, count, params, context)) \
  X(cuGraphAddEventRecordNode, (handle *node, handle graph, const handle *after, size_t count, handle event), (node, graph, after, count, event)) \
  X(cuGraphAddMemsetNode, (handle *node, handle graph, const handle *after, size_t count, const fill_node *params, handle context), (node, graph, after, count, params, context)) \
  X(cuStreamBeginCapture_v2, (handle stream, int mode), (stream, mode)) \
  X(cuStreamEndCapture, (handle stream, handle *graph), (stream, graph)) \
  X(cuGraphAddChildGraphNode, (handle *node, handle graph, const handle *after, size_t count, handle part), (node, graph, after, count, part)) \
  X(cuGraphExecChildGraphNodeSetParams, (handle executable, handle node, handle part), (executable, node, part)) \
  X(cuGraphInstantiateWithFlags, (handle *executable, handle graph, unsigned long long flags), (executable, graph, flags)) \
  X(cuGraphExecDestroy, (handle executable), (executable)) \
  X(cuGraphExecKernelNodeSetParams, (handle executable, handle node, const kernel_node *params), (executable, node, params)) \
  X(cuGraphLaunch, (handle executable, handle stream), (executable, stream))

// Functions of later drivers; a call fails with CUDA_ERROR_NOT_SUPPORTED if they are
// missing.
#define OPTIONAL(X) \
  X(cuLaunchKernelEx, (const launch_config *config, handle function, void **params, void **extra), (config, function, params, extra)) \
  X(cuGraphKernelNodeSetAttribute, (handle node, int attribute, const void *value), (node, attribute, value)) \
  X(cuGraphAddDependencies_v2, (handle graph, const handle *from, const handle *to, const edge_data *edges, size_t count), (graph, from, to, edges, count)) \
  X(cuTensorMapEncodeTiled, (void *map, int type, unsigned rank, address p, const uint64_t *shape, const uint64_t *strides, const unsigned *box, const unsigned *steps, int interleave, int swizzle, int promotion, int fill), (map, type, rank, p, shape, strides, box, steps, interleave, swizzle, promotion, fill))

#define FIELD(name, parameters, arguments) int(*name) parameters;
typedef struct {
  WITHOUT_CONTEXT(FIELD) WITH_CONTEXT(FIELD) OPTIONAL(FIELD)
} cuda_driver;
#undef FIELD

// The names of the functions of the table in its order, first those of every driver; NULL is the end.
extern const char *const quern_symbols[];
extern const char *const quern_optional_symbols[];

int quern_init(cuda_driver *d, int *version, int *count);
int quern_device(cuda_driver *d, int ordinal, int *device, char *name, int name_bytes, char *pci, int pci_bytes, void *uuid, size_t *memory);
int quern_attribute(cuda_driver *d, int attribute, int device, int *value);
int quern_retain(cuda_driver *d, int device, handle *context);
int quern_release(cuda_driver *d, int device);
int quern_keep_pool(cuda_driver *d, int device);
int quern_trim_pool(cuda_driver *d, int device);
int quern_current(cuda_driver *d, handle context);

int quern_sync(cuda_driver *d, handle context);
int quern_memory_info(cuda_driver *d, handle context, size_t *free, size_t *total);
int quern_alloc(cuda_driver *d, handle context, address *p, size_t bytes, handle stream, int pools);
int quern_free(cuda_driver *d, handle context, address p, handle stream, int pools);
int quern_alloc_host(cuda_driver *d, handle context, void **p, size_t bytes);
int quern_free_host(cuda_driver *d, handle context, void *p);
int quern_to_device(cuda_driver *d, handle context, address to, const void *from, size_t bytes, handle stream);
int quern_to_host(cuda_driver *d, handle context, void *to, address from, size_t bytes, handle stream);
int quern_copy(cuda_driver *d, handle context, address to, address from, size_t bytes, handle stream);
int quern_fill(cuda_driver *d, handle context, address p, unsigned value, int width, size_t count, handle stream);

int quern_load(cuda_driver *d, handle context, handle *module, const char *ptx, char *log, size_t log_bytes);
int quern_unload(cuda_driver *d, handle context, handle module);
int quern_function(cuda_driver *d, handle context, handle *function, handle module, const char *name);
int quern_global(cuda_driver *d, handle context, address *p, size_t *bytes, handle module, const char *name);
int quern_function_attribute(cuda_driver *d, handle context, int *value, int attribute, handle function);
int quern_set_function_attribute(cuda_driver *d, handle context, handle function, int attribute, int value);
int quern_occupancy(cuda_driver *d, handle context, int *blocks, handle function, int threads, size_t shared);

// A launch: grid, block and cluster have three dimensions each; a cluster of one block means no
// cluster. The parameters are one block of bytes.
typedef struct {
  handle function;
  unsigned grid[3], block[3], cluster[3], shared;
  int early; // in a graph
} launch;
int quern_launch(cuda_driver *d, handle context, launch l, void *params, size_t bytes, handle stream);

int quern_stream_create(cuda_driver *d, handle context, handle *stream);
int quern_stream_destroy(cuda_driver *d, handle context, handle stream);
int quern_stream_sync(cuda_driver *d, handle context, handle stream);
int quern_stream_wait(cuda_driver *d, handle context, handle stream, handle event);
int quern_event_create(cuda_driver *d, handle context, handle *event, int timed);
int quern_event_destroy(cuda_driver *d, handle context, handle event);
int quern_event_record(cuda_driver *d, handle context, handle event, handle stream);
int quern_event_query(cuda_driver *d, handle context, handle event);
int quern_event_sync(cuda_driver *d, handle context, handle event);
int quern_event_elapsed(cuda_driver *d, handle context, float *milliseconds, handle from, handle to);

int quern_graph_create(cuda_driver *d, handle context, handle *graph);
int quern_graph_destroy(cuda_driver *d, handle context, handle graph);
int quern_graph_kernel(cuda_driver *d, handle context, handle *node, handle graph, const handle *after, size_t count, launch l, void *params, size_t bytes);
// host is NULL for a copy within the device; to_host is the direction.
int quern_graph_copy(cuda_driver *d, handle context, handle *node, handle graph, const handle *after, size_t count, address to, address from, void *host, int to_host, size_t bytes);
int quern_graph_event(cuda_driver *d, handle context, handle *node, handle graph, const handle *after, size_t count, handle event);
int quern_graph_fill(cuda_driver *d, handle context, handle *node, handle graph, const handle *after, size_t count, address p, unsigned value, unsigned width, size_t elements);
int quern_capture_begin(cuda_driver *d, handle context, handle stream);
int quern_capture_end(cuda_driver *d, handle context, handle stream, handle *graph);
int quern_graph_part(cuda_driver *d, handle context, handle *node, handle graph, const handle *after, size_t count, handle part);
int quern_graph_update_part(cuda_driver *d, handle context, handle executable, handle node, handle part);
int quern_graph_instantiate(cuda_driver *d, handle context, handle *executable, handle graph);
int quern_graph_exec_destroy(cuda_driver *d, handle context, handle executable);
int quern_graph_update(cuda_driver *d, handle context, handle executable, handle node, launch l, void *params, size_t bytes);
int quern_graph_launch(cuda_driver *d, handle context, handle executable, handle stream);

int quern_tensor_map(cuda_driver *d, handle context, void *map, int type, unsigned rank, address p, const uint64_t *shape, const uint64_t *strides, const unsigned *box, const unsigned *steps, int swizzle, int fill);

#endif
