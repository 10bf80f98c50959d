// What cudnn_graph_v9.h wants of CUDA's headers, which are in other packages and not
// needed to read its numbers.
#include <stddef.h>
typedef struct CUstream_st *cudaStream_t;
typedef struct CUgraph_st *cudaGraph_t;
