// A substitute for CUDA's headers, which cublas_api.h includes. They are in other packages
// and not needed to read its constants.
typedef struct CUstream_st *cudaStream_t;
