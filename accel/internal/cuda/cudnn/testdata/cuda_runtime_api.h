// A substitute for CUDA's headers, which cudnn_graph_v9.h includes. They are in other
// packages and not needed to read its constants.
#include <stddef.h>
typedef struct CUstream_st *cudaStream_t;
typedef struct CUgraph_st *cudaGraph_t;
