// Calls into libcublasLt, which is opened at run time: a table of its functions,
// and C functions that create descriptors. The declarations are those of
// cublasLt.h; handles and descriptors are uintptr_t.
#ifndef QUERN_CUBLASLT_SHIM_H
#define QUERN_CUBLASLT_SHIM_H

#include <stddef.h>
#include <stdint.h>

typedef uintptr_t handle;
typedef uint64_t address;

// cublasLtMatmulAlgo_t and cublasLtMatmulHeuristicResult_t
typedef struct {
  uint64_t data[8];
} algorithm;
typedef struct {
  algorithm algorithm;
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
} heuristic;

// X(name, parameters)
#define FUNCTIONS(X) \
  X(cublasLtCreate, (handle *library)) \
  X(cublasLtDestroy, (handle library)) \
  X(cublasLtMatmulDescCreate, (handle *d, int compute, int scale)) \
  X(cublasLtMatmulDescDestroy, (handle d)) \
  X(cublasLtMatmulDescSetAttribute, (handle d, int attribute, const void *value, size_t bytes)) \
  X(cublasLtMatmulDescGetAttribute, (handle d, int attribute, void *value, size_t bytes, size_t *written)) \
  X(cublasLtMatrixLayoutCreate, (handle *l, int type, uint64_t rows, uint64_t cols, int64_t lead)) \
  X(cublasLtMatrixLayoutDestroy, (handle l)) \
  X(cublasLtMatrixLayoutSetAttribute, (handle l, int attribute, const void *value, size_t bytes)) \
  X(cublasLtMatrixLayoutGetAttribute, (handle l, int attribute, void *value, size_t bytes, size_t *written)) \
  X(cublasLtMatmulPreferenceCreate, (handle *p)) \
  X(cublasLtMatmulPreferenceDestroy, (handle p)) \
  X(cublasLtMatmulPreferenceSetAttribute, (handle p, int attribute, const void *value, size_t bytes)) \
  X(cublasLtMatmulPreferenceGetAttribute, (handle p, int attribute, void *value, size_t bytes, size_t *written)) \
  X(cublasLtMatmulAlgoGetHeuristic, (handle library, handle d, handle a, handle b, handle c, handle y, handle p, int wanted, heuristic *found, int *count)) \
  X(cublasLtMatmul, (handle library, handle d, const void *alpha, address a, handle al, address b, handle bl, const void *beta, address c, handle cl, address y, handle yl, const algorithm *how, address work, size_t bytes, handle stream))

#define FIELD(name, parameters) int(*name) parameters;
typedef struct {
  FUNCTIONS(FIELD)
  const char *(*cublasLtGetStatusName)(int status);
} table;
#undef FIELD

typedef struct {
  int type;
  uint64_t rows, cols;
  int64_t lead, stride;
  unsigned align;
} matrix;

typedef struct {
  matrix a, b, d;
  int trans_a, trans_b, batch, tf32, bias, relu;
  int gelu;   // 1: apply it, 2: and store its argument, 3: multiply with its slope
  int summed; // 1: a factor a, 2: b
  int scales; // of a and b, for 8-bit floats
  int is_float64;   // float64
  size_t workspace;
} matmul;

typedef struct {
  address d, a, b, bias, work, scale_a, scale_b, argument, sums;
} addresses;

// The descriptors of a multiplication: one of the operation, one of each matrix, and the
// preferences for the heuristic.
typedef struct {
  handle desc, a, b, d, preference;
  int is_float64;
} descriptors;

// quern_blas_symbols are the names of the functions of the table in its order; NULL is the end.
extern const char *const quern_blas_symbols[];
const char *quern_blas_status(table *t, int status);

int quern_blas_create(table *t, handle *library);
int quern_blas_destroy(table *t, handle library);

// The functions below return the name of the call that failed in *call.
int quern_blas_describe(table *t, const matmul *p, descriptors *d, const char **call);
void quern_blas_forget(table *t, descriptors *d);
// quern_blas_read reads the descriptors back.
int quern_blas_read(table *t, const descriptors *d, matmul *p, const char **call);
int quern_blas_plans(table *t, handle library, const descriptors *d, int wanted, heuristic *found, int *count, const char **call);
int quern_blas_run(table *t, handle library, const descriptors *d, const algorithm *how, const addresses *at, size_t bytes, handle stream, const char **call);

#endif
