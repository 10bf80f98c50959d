// A substitute for the compiler's header, which the headers of the pip packages include. It
// is not needed to read their constants.
#define __host__
#define __device__
#define __forceinline__ inline
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __align__(n) __attribute__((aligned(n)))
#define __CUDA_ARCH_HAS_FEATURE__(x) 0
#define CUDARTAPI
#define CUDAAPI
#define CUDARTAPI_CDECL
#define __inline_hint__
#define __location__(a)
#define __no_return__
#define __noinline__
#define __annotate__(a)
#define __constant__
#define __shared__
#define __managed__
#define __global__
