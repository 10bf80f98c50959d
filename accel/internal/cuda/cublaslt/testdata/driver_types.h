// What cublas_api.h wants of CUDA's headers, which are in other packages and
// not needed to read its numbers.
typedef struct CUstream_st *cudaStream_t;
