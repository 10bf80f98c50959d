// Compares the declarations of shim.h with those of the real cuda.h. It compiles
// where they agree; nothing of it runs.
#define __CUDA_API_VERSION_INTERNAL // older versions of functions are declared, too
#include <cuda.h>

#include "../shim.h"

#define SAME(a, b) static_assert(unsigned(a) == unsigned(b), #a " is not " #b)
#define PLACE(ours, field, theirs, other)                                              \
  static_assert(offsetof(ours, field) == offsetof(theirs, other) &&                    \
                    sizeof(((ours *)0)->field) == sizeof(((theirs *)0)->other),         \
                #ours "." #field " is not " #theirs "." #other)
#define SIZE(ours, theirs) static_assert(sizeof(ours) == sizeof(theirs) && alignof(ours) == alignof(theirs), #ours " is not " #theirs)

SIZE(handle, CUstream);
SIZE(address, CUdeviceptr);
SIZE(int, CUdevice);
SIZE(int, CUresult);

SIZE(kernel_node, CUDA_KERNEL_NODE_PARAMS_v1);
PLACE(kernel_node, function, CUDA_KERNEL_NODE_PARAMS_v1, func);
PLACE(kernel_node, grid_x, CUDA_KERNEL_NODE_PARAMS_v1, gridDimX);
PLACE(kernel_node, grid_y, CUDA_KERNEL_NODE_PARAMS_v1, gridDimY);
PLACE(kernel_node, grid_z, CUDA_KERNEL_NODE_PARAMS_v1, gridDimZ);
PLACE(kernel_node, block_x, CUDA_KERNEL_NODE_PARAMS_v1, blockDimX);
PLACE(kernel_node, block_y, CUDA_KERNEL_NODE_PARAMS_v1, blockDimY);
PLACE(kernel_node, block_z, CUDA_KERNEL_NODE_PARAMS_v1, blockDimZ);
PLACE(kernel_node, shared, CUDA_KERNEL_NODE_PARAMS_v1, sharedMemBytes);
PLACE(kernel_node, params, CUDA_KERNEL_NODE_PARAMS_v1, kernelParams);
PLACE(kernel_node, extra, CUDA_KERNEL_NODE_PARAMS_v1, extra);

SIZE(copy_node, CUDA_MEMCPY3D_v2);
PLACE(copy_node, source.x, CUDA_MEMCPY3D_v2, srcXInBytes);
PLACE(copy_node, source.y, CUDA_MEMCPY3D_v2, srcY);
PLACE(copy_node, source.z, CUDA_MEMCPY3D_v2, srcZ);
PLACE(copy_node, source.lod, CUDA_MEMCPY3D_v2, srcLOD);
PLACE(copy_node, source.type, CUDA_MEMCPY3D_v2, srcMemoryType);
PLACE(copy_node, source.host, CUDA_MEMCPY3D_v2, srcHost);
PLACE(copy_node, source.device, CUDA_MEMCPY3D_v2, srcDevice);
PLACE(copy_node, source.array, CUDA_MEMCPY3D_v2, srcArray);
PLACE(copy_node, source.pitch, CUDA_MEMCPY3D_v2, srcPitch);
PLACE(copy_node, source.height, CUDA_MEMCPY3D_v2, srcHeight);
PLACE(copy_node, destination.x, CUDA_MEMCPY3D_v2, dstXInBytes);
PLACE(copy_node, destination.y, CUDA_MEMCPY3D_v2, dstY);
PLACE(copy_node, destination.z, CUDA_MEMCPY3D_v2, dstZ);
PLACE(copy_node, destination.lod, CUDA_MEMCPY3D_v2, dstLOD);
PLACE(copy_node, destination.type, CUDA_MEMCPY3D_v2, dstMemoryType);
PLACE(copy_node, destination.host, CUDA_MEMCPY3D_v2, dstHost);
PLACE(copy_node, destination.device, CUDA_MEMCPY3D_v2, dstDevice);
PLACE(copy_node, destination.array, CUDA_MEMCPY3D_v2, dstArray);
PLACE(copy_node, destination.pitch, CUDA_MEMCPY3D_v2, dstPitch);
PLACE(copy_node, destination.height, CUDA_MEMCPY3D_v2, dstHeight);
PLACE(copy_node, width, CUDA_MEMCPY3D_v2, WidthInBytes);
PLACE(copy_node, rows, CUDA_MEMCPY3D_v2, Height);
PLACE(copy_node, depth, CUDA_MEMCPY3D_v2, Depth);

SIZE(fill_node, CUDA_MEMSET_NODE_PARAMS_v1);
PLACE(fill_node, destination, CUDA_MEMSET_NODE_PARAMS_v1, dst);
PLACE(fill_node, pitch, CUDA_MEMSET_NODE_PARAMS_v1, pitch);
PLACE(fill_node, value, CUDA_MEMSET_NODE_PARAMS_v1, value);
PLACE(fill_node, element, CUDA_MEMSET_NODE_PARAMS_v1, elementSize);
PLACE(fill_node, width, CUDA_MEMSET_NODE_PARAMS_v1, width);
PLACE(fill_node, rows, CUDA_MEMSET_NODE_PARAMS_v1, height);

SIZE(launch_attribute, CUlaunchAttribute);
PLACE(launch_attribute, id, CUlaunchAttribute, id);
PLACE(launch_attribute, value, CUlaunchAttribute, value);
PLACE(launch_attribute, value.cluster.x, CUlaunchAttribute, value.clusterDim.x);
PLACE(launch_attribute, value.cluster.z, CUlaunchAttribute, value.clusterDim.z);

SIZE(edge_data, CUgraphEdgeData);
PLACE(edge_data, from_port, CUgraphEdgeData, from_port);
PLACE(edge_data, to_port, CUgraphEdgeData, to_port);
PLACE(edge_data, type, CUgraphEdgeData, type);
PLACE(edge_data, reserved, CUgraphEdgeData, reserved);

SIZE(launch_config, CUlaunchConfig);
PLACE(launch_config, grid_x, CUlaunchConfig, gridDimX);
PLACE(launch_config, grid_z, CUlaunchConfig, gridDimZ);
PLACE(launch_config, block_x, CUlaunchConfig, blockDimX);
PLACE(launch_config, block_z, CUlaunchConfig, blockDimZ);
PLACE(launch_config, shared, CUlaunchConfig, sharedMemBytes);
PLACE(launch_config, stream, CUlaunchConfig, hStream);
PLACE(launch_config, attributes, CUlaunchConfig, attrs);
PLACE(launch_config, count, CUlaunchConfig, numAttrs);

SAME(not_supported, CUDA_ERROR_NOT_SUPPORTED);
SAME(jit_error_log, CU_JIT_ERROR_LOG_BUFFER);
SAME(jit_error_log_bytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME(stream_non_blocking, CU_STREAM_NON_BLOCKING);
SAME(event_no_timing, CU_EVENT_DISABLE_TIMING);
SAME(host_portable, CU_MEMHOSTALLOC_PORTABLE);
SAME(pool_release_threshold, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
SAME(memory_host, CU_MEMORYTYPE_HOST);
SAME(memory_device, CU_MEMORYTYPE_DEVICE);
SAME(attribute_cluster, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
SAME(port_programmatic, CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC);
SAME(dependency_programmatic, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
SAME(capture_relaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
SAME(no_interleave, CU_TENSOR_MAP_INTERLEAVE_NONE);
SAME(promote_256, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);

// Alike tells whether functions take arguments of the same sizes, one after the
// other: pointers, handles and numbers of 64 bits go into the same registers, and so
// do enumerations and numbers of 32 bits.
template <typename A, typename B> struct Alike { static constexpr bool value = false; };
template <> struct Alike<CUresult (*)(), int (*)()> { static constexpr bool value = true; };
template <typename A, typename... As, typename B, typename... Bs> struct Alike<CUresult (*)(A, As...), int (*)(B, Bs...)> {
  static constexpr bool value = sizeof(A) == sizeof(B) && Alike<CUresult (*)(As...), int (*)(Bs...)>::value;
};
#define ALIKE(name, parameters, arguments) static_assert(Alike<decltype(&::name), decltype(cuda_driver::name)>::value, #name " takes other arguments");
WITHOUT_CONTEXT(ALIKE) WITH_CONTEXT(ALIKE) OPTIONAL(ALIKE)
