//go:build linux && cgo

#include "shim.h"

#include <string.h>

#define NAME(name, parameters, arguments) #name,
const char *const quern_symbols[] = {WITHOUT_CONTEXT(NAME) WITH_CONTEXT(NAME) NULL};
const char *const quern_optional_symbols[] = {OPTIONAL(NAME) NULL};
#undef NAME

// Make the context current, or return with the error.
#define CURRENT \
  int result = d->cuCtxSetCurrent(context); \
  if (result) return result;

int quern_init(cuda_driver *d, int *version, int *count) {
  int result = d->cuDriverGetVersion(version); // works before cuInit
  if (result) return result;
  result = d->cuInit(0);
  if (result) return result;
  return d->cuDeviceGetCount(count);
}

int quern_device(cuda_driver *d, int ordinal, int *device, char *name, int name_bytes, char *pci, int pci_bytes, void *uuid, size_t *memory) {
  int result = d->cuDeviceGet(device, ordinal);
  if (!result) result = d->cuDeviceGetName(name, name_bytes, *device);
  if (!result) result = d->cuDeviceGetPCIBusId(pci, pci_bytes, *device);
  if (!result) result = d->cuDeviceGetUuid_v2(uuid, *device);
  if (!result) result = d->cuDeviceTotalMem_v2(memory, *device);
  return result;
}

int quern_attribute(cuda_driver *d, int attribute, int device, int *value) { return d->cuDeviceGetAttribute(value, attribute, device); }

int quern_retain(cuda_driver *d, int device, handle *context) { return d->cuDevicePrimaryCtxRetain(context, device); }

int quern_release(cuda_driver *d, int device) { return d->cuDevicePrimaryCtxRelease_v2(device); }

// Makes the pool keep freed memory. Otherwise each stream synchronization would return it to
// the system.
int quern_keep_pool(cuda_driver *d, int device) {
  handle pool;
  uint64_t all = UINT64_MAX;
  int result = d->cuDeviceGetDefaultMemPool(&pool, device);
  if (result) return result;
  return d->cuMemPoolSetAttribute(pool, pool_release_threshold, &all);
}

int quern_trim_pool(cuda_driver *d, int device) {
  handle pool;
  int result = d->cuDeviceGetDefaultMemPool(&pool, device);
  if (result) return result;
  return d->cuMemPoolTrimTo(pool, 0);
}

int quern_current(cuda_driver *d, handle context) { return d->cuCtxSetCurrent(context); }

int quern_sync(cuda_driver *d, handle context) { CURRENT return d->cuCtxSynchronize(); }

int quern_memory_info(cuda_driver *d, handle context, size_t *free, size_t *total) { CURRENT return d->cuMemGetInfo_v2(free, total); }

int quern_alloc(cuda_driver *d, handle context, address *p, size_t bytes, handle stream, int pools) {
  CURRENT
  return pools ? d->cuMemAllocAsync(p, bytes, stream) : d->cuMemAlloc_v2(p, bytes);
}

int quern_free(cuda_driver *d, handle context, address p, handle stream, int pools) {
  CURRENT
  if (pools) return d->cuMemFreeAsync(p, stream);
  result = d->cuStreamSynchronize(stream); // work before must have ended
  return result ? result : d->cuMemFree_v2(p);
}

int quern_alloc_host(cuda_driver *d, handle context, void **p, size_t bytes) { CURRENT return d->cuMemHostAlloc(p, bytes, host_portable); }

int quern_free_host(cuda_driver *d, handle context, void *p) { CURRENT return d->cuMemFreeHost(p); }

int quern_to_device(cuda_driver *d, handle context, address to, const void *from, size_t bytes, handle stream) {
  CURRENT return d->cuMemcpyHtoDAsync_v2(to, from, bytes, stream);
}

int quern_to_host(cuda_driver *d, handle context, void *to, address from, size_t bytes, handle stream) {
  CURRENT return d->cuMemcpyDtoHAsync_v2(to, from, bytes, stream);
}

int quern_copy(cuda_driver *d, handle context, address to, address from, size_t bytes, handle stream) {
  CURRENT return d->cuMemcpyDtoDAsync_v2(to, from, bytes, stream);
}

int quern_fill(cuda_driver *d, handle context, address p, unsigned value, int width, size_t count, handle stream) {
  CURRENT
  switch (width) {
  case 1: return d->cuMemsetD8Async(p, (unsigned char)value, count, stream);
  case 2: return d->cuMemsetD16Async(p, (unsigned short)value, count, stream);
  }
  return d->cuMemsetD32Async(p, value, count, stream);
}

int quern_load(cuda_driver *d, handle context, handle *module, const char *ptx, char *log, size_t log_bytes) {
  CURRENT
  int options[] = {jit_error_log, jit_error_log_bytes};
  void *values[] = {log, (void *)log_bytes};
  log[0] = 0;
  return d->cuModuleLoadDataEx(module, ptx, 2, options, values);
}

int quern_unload(cuda_driver *d, handle context, handle module) { CURRENT return d->cuModuleUnload(module); }

int quern_function(cuda_driver *d, handle context, handle *function, handle module, const char *name) {
  CURRENT return d->cuModuleGetFunction(function, module, name);
}

int quern_global(cuda_driver *d, handle context, address *p, size_t *bytes, handle module, const char *name) {
  CURRENT return d->cuModuleGetGlobal_v2(p, bytes, module, name);
}

int quern_function_attribute(cuda_driver *d, handle context, int *value, int attribute, handle function) {
  CURRENT return d->cuFuncGetAttribute(value, attribute, function);
}

int quern_set_function_attribute(cuda_driver *d, handle context, handle function, int attribute, int value) {
  CURRENT return d->cuFuncSetAttribute(function, attribute, value);
}

int quern_occupancy(cuda_driver *d, handle context, int *blocks, handle function, int threads, size_t shared) {
  CURRENT return d->cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared);
}

static int clustered(const launch *l) { return l->cluster[0] * l->cluster[1] * l->cluster[2] > 1; }

static launch_attribute cluster_of(const launch *l) {
  launch_attribute a;
  memset(&a, 0, sizeof a);
  a.id = attribute_cluster;
  a.value.cluster.x = l->cluster[0];
  a.value.cluster.y = l->cluster[1];
  a.value.cluster.z = l->cluster[2];
  return a;
}

int quern_launch(cuda_driver *d, handle context, launch l, void *params, size_t bytes, handle stream) {
  CURRENT
  void *extra[] = {PARAMS_POINTER, params, PARAMS_BYTES, &bytes, PARAMS_END};
  void **list = bytes ? extra : NULL;
  if (!clustered(&l))
    return d->cuLaunchKernel(l.function, l.grid[0], l.grid[1], l.grid[2], l.block[0], l.block[1], l.block[2], l.shared, stream, NULL, list);
  if (!d->cuLaunchKernelEx) return not_supported;
  launch_attribute cluster = cluster_of(&l);
  launch_config config = {l.grid[0], l.grid[1], l.grid[2], l.block[0], l.block[1], l.block[2], l.shared, stream, &cluster, 1};
  return d->cuLaunchKernelEx(&config, l.function, NULL, list);
}

int quern_stream_create(cuda_driver *d, handle context, handle *stream) { CURRENT return d->cuStreamCreate(stream, stream_non_blocking); }

int quern_stream_destroy(cuda_driver *d, handle context, handle stream) { CURRENT return d->cuStreamDestroy_v2(stream); }

int quern_stream_sync(cuda_driver *d, handle context, handle stream) { CURRENT return d->cuStreamSynchronize(stream); }

int quern_stream_wait(cuda_driver *d, handle context, handle stream, handle event) { CURRENT return d->cuStreamWaitEvent(stream, event, 0); }

int quern_event_create(cuda_driver *d, handle context, handle *event, int timed) {
  CURRENT return d->cuEventCreate(event, timed ? 0 : event_no_timing);
}

int quern_event_destroy(cuda_driver *d, handle context, handle event) { CURRENT return d->cuEventDestroy_v2(event); }

int quern_event_record(cuda_driver *d, handle context, handle event, handle stream) { CURRENT return d->cuEventRecord(event, stream); }

int quern_event_query(cuda_driver *d, handle context, handle event) { CURRENT return d->cuEventQuery(event); }

int quern_event_sync(cuda_driver *d, handle context, handle event) { CURRENT return d->cuEventSynchronize(event); }

int quern_event_elapsed(cuda_driver *d, handle context, float *milliseconds, handle from, handle to) {
  CURRENT return d->cuEventElapsedTime(milliseconds, from, to);
}

int quern_graph_create(cuda_driver *d, handle context, handle *graph) { CURRENT return d->cuGraphCreate(graph, 0); }

int quern_graph_destroy(cuda_driver *d, handle context, handle graph) { CURRENT return d->cuGraphDestroy(graph); }

static kernel_node kernel_of(const launch *l, void **extra) {
  kernel_node k = {l->function, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2], l->shared, NULL, extra};
  return k;
}

int quern_graph_kernel(cuda_driver *d, handle context, handle *node, handle graph, const handle *after, size_t count, launch l, void *params, size_t bytes) {
  CURRENT
  void *extra[] = {PARAMS_POINTER, params, PARAMS_BYTES, &bytes, PARAMS_END};
  kernel_node k = kernel_of(&l, bytes ? extra : NULL);
  if (clustered(&l) && !d->cuGraphKernelNodeSetAttribute) return not_supported;
  if (l.early && !d->cuGraphAddDependencies_v2) return not_supported;
  result = d->cuGraphAddKernelNode(node, graph, l.early ? NULL : after, l.early ? 0 : count, &k);
  if (!result && clustered(&l)) {
    launch_attribute cluster = cluster_of(&l);
    result = d->cuGraphKernelNodeSetAttribute(*node, attribute_cluster, &cluster.value);
  }
  edge_data edge = {port_programmatic, 0, dependency_programmatic, {0}};
  for (size_t i = 0; !result && l.early && i < count; i++)
    result = d->cuGraphAddDependencies_v2(graph, &after[i], node, &edge, 1);
  return result;
}

int quern_graph_copy(cuda_driver *d, handle context, handle *node, handle graph, const handle *after, size_t count, address to, address from, void *host, int to_host, size_t bytes) {
  CURRENT
  copy_node c;
  memset(&c, 0, sizeof c);
  c.source.type = c.destination.type = memory_device;
  c.source.device = from;
  c.destination.device = to;
  if (host) {
    copy_side *side = to_host ? &c.destination : &c.source;
    side->type = memory_host;
    side->host = host;
    side->device = 0;
  }
  c.width = c.source.pitch = c.destination.pitch = bytes;
  c.rows = c.depth = c.source.height = c.destination.height = 1;
  return d->cuGraphAddMemcpyNode(node, graph, after, count, &c, context);
}

int quern_graph_fill(cuda_driver *d, handle context, handle *node, handle graph, const handle *after, size_t count, address p, unsigned value, unsigned width, size_t elements) {
  CURRENT
  fill_node f = {p, 0, value, width, elements, 1};
  return d->cuGraphAddMemsetNode(node, graph, after, count, &f, context);
}

int quern_graph_event(cuda_driver *d, handle context, handle *node, handle graph, const handle *after, size_t count, handle event) {
  CURRENT return d->cuGraphAddEventRecordNode(node, graph, after, count, event);
}

// Libraries load their kernels at the first use, which stricter capture modes do not allow.
int quern_capture_begin(cuda_driver *d, handle context, handle stream) {
  CURRENT return d->cuStreamBeginCapture_v2(stream, capture_relaxed);
}

int quern_capture_end(cuda_driver *d, handle context, handle stream, handle *graph) {
  CURRENT return d->cuStreamEndCapture(stream, graph);
}

int quern_graph_part(cuda_driver *d, handle context, handle *node, handle graph, const handle *after, size_t count, handle part) {
  CURRENT return d->cuGraphAddChildGraphNode(node, graph, after, count, part);
}

int quern_graph_update_part(cuda_driver *d, handle context, handle executable, handle node, handle part) {
  CURRENT return d->cuGraphExecChildGraphNodeSetParams(executable, node, part);
}

int quern_graph_instantiate(cuda_driver *d, handle context, handle *executable, handle graph) {
  CURRENT return d->cuGraphInstantiateWithFlags(executable, graph, 0);
}

int quern_graph_exec_destroy(cuda_driver *d, handle context, handle executable) { CURRENT return d->cuGraphExecDestroy(executable); }

int quern_graph_update(cuda_driver *d, handle context, handle executable, handle node, launch l, void *params, size_t bytes) {
  CURRENT
  void *extra[] = {PARAMS_POINTER, params, PARAMS_BYTES, &bytes, PARAMS_END};
  kernel_node k = kernel_of(&l, bytes ? extra : NULL);
  return d->cuGraphExecKernelNodeSetParams(executable, node, &k);
}

int quern_graph_launch(cuda_driver *d, handle context, handle executable, handle stream) { CURRENT return d->cuGraphLaunch(executable, stream); }

int quern_tensor_map(cuda_driver *d, handle context, void *map, int type, unsigned rank, address p, const uint64_t *shape, const uint64_t *strides, const unsigned *box, const unsigned *steps, int swizzle, int fill) {
  CURRENT
  if (!d->cuTensorMapEncodeTiled) return not_supported;
  return d->cuTensorMapEncodeTiled(map, type, rank, p, shape, strides, box, steps, no_interleave, swizzle, promote_256, fill);
}
