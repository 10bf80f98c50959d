//go:build linux && cgo

#include "shim.h"

#include <string.h>

// Numbers of cublasLt.h, cublas_api.h and library_types.h.
enum {
  compute_32f = 68,
  compute_32f_fast_tf32 = 77,
  compute_64f = 70,
  type_32f = 0,
  type_64f = 1,
  desc_compute = 0,
  desc_trans_a = 3,
  desc_trans_b = 4,
  desc_epilogue = 7,
  desc_bias_pointer = 8,
  desc_aux_pointer = 11,
  desc_aux_lead = 12,
  desc_bias_type = 26,
  desc_scale_a = 17,
  desc_scale_b = 18,
  operation_none = 0,
  operation_trans = 1,
  epilogue_default = 1,
  epilogue_relu = 2,
  epilogue_bias = 4,
  epilogue_gelu = 32,
  epilogue_gelu_aux = 160,
  epilogue_dgelu = 192,
  epilogue_bgrad_a = 256,
  epilogue_bgrad_b = 512,
  layout_type = 0,
  layout_rows = 2,
  layout_cols = 3,
  layout_lead = 4,
  layout_batch = 5,
  layout_stride = 6,
  preference_workspace = 1,
  preference_reductions = 3,
  preference_align_a = 5,
  preference_align_b = 6,
  preference_align_c = 7,
  preference_align_d = 8,
  reduction_in_place = 1,
  reduction_compute_type = 2,
};

static const int gelu_epilogues[] = {0, epilogue_gelu, epilogue_gelu_aux, epilogue_dgelu};
static const int sum_epilogues[] = {0, epilogue_bgrad_a, epilogue_bgrad_b};

#define NAME(name, parameters) #name,
const char *const quern_blas_symbols[] = {FUNCTIONS(NAME) "cublasLtGetStatusName", NULL};
#undef NAME

const char *quern_blas_status(table *t, int status) { return t->cublasLtGetStatusName(status); }

int quern_blas_create(table *t, handle *library) { return t->cublasLtCreate(library); }

int quern_blas_destroy(table *t, handle library) { return t->cublasLtDestroy(library); }

// CALL returns with the status and the name of a call that fails.
#define CALL(name, ...) \
  do { \
    int status = t->name(__VA_ARGS__); \
    if (status) { \
      *call = #name; \
      return status; \
    } \
  } while (0)

static int layout(table *t, const matrix *m, int batch, handle *l, const char **call) {
  CALL(cublasLtMatrixLayoutCreate, l, m->type, m->rows, m->cols, m->lead);
  if (batch == 1) return 0;
  CALL(cublasLtMatrixLayoutSetAttribute, *l, layout_batch, &batch, sizeof batch);
  CALL(cublasLtMatrixLayoutSetAttribute, *l, layout_stride, &m->stride, sizeof m->stride);
  return 0;
}

int quern_blas_describe(table *t, const matmul *p, descriptors *d, const char **call) {
  memset(d, 0, sizeof *d);
  d->is_float64 = p->is_float64;
  CALL(cublasLtMatmulDescCreate, &d->desc, p->is_float64 ? compute_64f : p->tf32 ? compute_32f_fast_tf32 : compute_32f, p->is_float64 ? type_64f : type_32f);
  int trans_a = p->trans_a ? operation_trans : operation_none, trans_b = p->trans_b ? operation_trans : operation_none;
  CALL(cublasLtMatmulDescSetAttribute, d->desc, desc_trans_a, &trans_a, sizeof trans_a);
  CALL(cublasLtMatmulDescSetAttribute, d->desc, desc_trans_b, &trans_b, sizeof trans_b);
  int epilogue = (p->relu ? epilogue_relu : 0) | (p->bias ? epilogue_bias : 0) | gelu_epilogues[p->gelu] | sum_epilogues[p->summed];
  if (!epilogue) epilogue = epilogue_default;
  CALL(cublasLtMatmulDescSetAttribute, d->desc, desc_epilogue, &epilogue, sizeof epilogue);
  // The heuristic may check the alignment of addresses, so pass some with the guaranteed alignment.
  address bias = p->d.align, scale = sizeof(float);
  if (p->gelu > 1) {
    CALL(cublasLtMatmulDescSetAttribute, d->desc, desc_aux_pointer, &bias, sizeof bias);
    CALL(cublasLtMatmulDescSetAttribute, d->desc, desc_aux_lead, &p->d.lead, sizeof p->d.lead);
  }
  if (p->bias || p->summed) {
    CALL(cublasLtMatmulDescSetAttribute, d->desc, desc_bias_type, &p->d.type, sizeof p->d.type);
    CALL(cublasLtMatmulDescSetAttribute, d->desc, desc_bias_pointer, &bias, sizeof bias);
  }
  if (p->scales) {
    CALL(cublasLtMatmulDescSetAttribute, d->desc, desc_scale_a, &scale, sizeof scale);
    CALL(cublasLtMatmulDescSetAttribute, d->desc, desc_scale_b, &scale, sizeof scale);
  }
  int status = layout(t, &p->a, p->batch, &d->a, call);
  if (!status) status = layout(t, &p->b, p->batch, &d->b, call);
  if (!status) status = layout(t, &p->d, p->batch, &d->d, call);
  if (status) return status;
  CALL(cublasLtMatmulPreferenceCreate, &d->preference);
  uint64_t workspace = p->workspace;
  CALL(cublasLtMatmulPreferenceSetAttribute, d->preference, preference_workspace, &workspace, sizeof workspace);
  // Split sums are added in the accumulation type. The other reduction schemes round them
  // to the type of the result in between.
  uint32_t reductions = reduction_compute_type | (p->d.type == type_32f || p->is_float64 ? reduction_in_place : 0);
  CALL(cublasLtMatmulPreferenceSetAttribute, d->preference, preference_reductions, &reductions, sizeof reductions);
  CALL(cublasLtMatmulPreferenceSetAttribute, d->preference, preference_align_a, &p->a.align, sizeof p->a.align);
  CALL(cublasLtMatmulPreferenceSetAttribute, d->preference, preference_align_b, &p->b.align, sizeof p->b.align);
  CALL(cublasLtMatmulPreferenceSetAttribute, d->preference, preference_align_c, &p->d.align, sizeof p->d.align);
  CALL(cublasLtMatmulPreferenceSetAttribute, d->preference, preference_align_d, &p->d.align, sizeof p->d.align);
  return 0;
}

void quern_blas_forget(table *t, descriptors *d) {
  if (d->desc) t->cublasLtMatmulDescDestroy(d->desc);
  if (d->a) t->cublasLtMatrixLayoutDestroy(d->a);
  if (d->b) t->cublasLtMatrixLayoutDestroy(d->b);
  if (d->d) t->cublasLtMatrixLayoutDestroy(d->d);
  if (d->preference) t->cublasLtMatmulPreferenceDestroy(d->preference);
  memset(d, 0, sizeof *d);
}

static int read_layout(table *t, handle l, matrix *m, int *batch, const char **call) {
  size_t n;
  CALL(cublasLtMatrixLayoutGetAttribute, l, layout_type, &m->type, sizeof m->type, &n);
  CALL(cublasLtMatrixLayoutGetAttribute, l, layout_rows, &m->rows, sizeof m->rows, &n);
  CALL(cublasLtMatrixLayoutGetAttribute, l, layout_cols, &m->cols, sizeof m->cols, &n);
  CALL(cublasLtMatrixLayoutGetAttribute, l, layout_lead, &m->lead, sizeof m->lead, &n);
  CALL(cublasLtMatrixLayoutGetAttribute, l, layout_stride, &m->stride, sizeof m->stride, &n);
  CALL(cublasLtMatrixLayoutGetAttribute, l, layout_batch, batch, sizeof *batch, &n);
  return 0;
}

int quern_blas_read(table *t, const descriptors *d, matmul *p, const char **call) {
  size_t n;
  int compute, epilogue, batch;
  address scale_a = 0, scale_b = 0;
  memset(p, 0, sizeof *p);
  CALL(cublasLtMatmulDescGetAttribute, d->desc, desc_compute, &compute, sizeof compute, &n);
  CALL(cublasLtMatmulDescGetAttribute, d->desc, desc_trans_a, &p->trans_a, sizeof p->trans_a, &n);
  CALL(cublasLtMatmulDescGetAttribute, d->desc, desc_trans_b, &p->trans_b, sizeof p->trans_b, &n);
  CALL(cublasLtMatmulDescGetAttribute, d->desc, desc_epilogue, &epilogue, sizeof epilogue, &n);
  CALL(cublasLtMatmulDescGetAttribute, d->desc, desc_scale_a, &scale_a, sizeof scale_a, &n);
  CALL(cublasLtMatmulDescGetAttribute, d->desc, desc_scale_b, &scale_b, sizeof scale_b, &n);
  p->scales = scale_a && scale_b;
  p->is_float64 = compute == compute_64f;
  p->tf32 = compute == compute_32f_fast_tf32;
  p->relu = (epilogue & epilogue_relu) != 0;
  p->bias = (epilogue & epilogue_bias) != 0;
  for (int i = 1; i < 4; i++)
    if ((epilogue & ~epilogue_bias) == gelu_epilogues[i]) p->gelu = i;
  for (int i = 1; i < 3; i++)
    if (epilogue == sum_epilogues[i]) p->summed = i;
  if (p->gelu > 1) {
    address argument = 0;
    int64_t lead = 0;
    CALL(cublasLtMatmulDescGetAttribute, d->desc, desc_aux_pointer, &argument, sizeof argument, &n);
    CALL(cublasLtMatmulDescGetAttribute, d->desc, desc_aux_lead, &lead, sizeof lead, &n);
    if (!argument || !lead) p->gelu = 0; // not stored
  }
  int status = read_layout(t, d->a, &p->a, &batch, call);
  if (!status) status = read_layout(t, d->b, &p->b, &batch, call);
  if (!status) status = read_layout(t, d->d, &p->d, &p->batch, call);
  if (status) return status;
  uint64_t workspace;
  CALL(cublasLtMatmulPreferenceGetAttribute, d->preference, preference_workspace, &workspace, sizeof workspace, &n);
  CALL(cublasLtMatmulPreferenceGetAttribute, d->preference, preference_align_a, &p->a.align, sizeof p->a.align, &n);
  CALL(cublasLtMatmulPreferenceGetAttribute, d->preference, preference_align_b, &p->b.align, sizeof p->b.align, &n);
  CALL(cublasLtMatmulPreferenceGetAttribute, d->preference, preference_align_d, &p->d.align, sizeof p->d.align, &n);
  p->workspace = workspace;
  return 0;
}

int quern_blas_plans(table *t, handle library, const descriptors *d, int wanted, heuristic *found, int *count, const char **call) {
  *count = 0;
  CALL(cublasLtMatmulAlgoGetHeuristic, library, d->desc, d->a, d->b, d->d, d->d, d->preference, wanted, found, count);
  return 0;
}

// Addresses of the bias, of sums, of an argument and of scales are part of the descriptor,
// and are read by the call.
int quern_blas_run(table *t, handle library, const descriptors *d, const algorithm *how, const addresses *at, size_t bytes, handle stream, const char **call) {
  static const float one = 1, zero = 0;
  static const double wide_one = 1, wide_zero = 0;
  if (at->bias) CALL(cublasLtMatmulDescSetAttribute, d->desc, desc_bias_pointer, &at->bias, sizeof at->bias);
  if (at->sums) CALL(cublasLtMatmulDescSetAttribute, d->desc, desc_bias_pointer, &at->sums, sizeof at->sums);
  if (at->argument) CALL(cublasLtMatmulDescSetAttribute, d->desc, desc_aux_pointer, &at->argument, sizeof at->argument);
  if (at->scale_a) CALL(cublasLtMatmulDescSetAttribute, d->desc, desc_scale_a, &at->scale_a, sizeof at->scale_a);
  if (at->scale_b) CALL(cublasLtMatmulDescSetAttribute, d->desc, desc_scale_b, &at->scale_b, sizeof at->scale_b);
  const void *alpha = d->is_float64 ? (const void *)&wide_one : &one, *beta = d->is_float64 ? (const void *)&wide_zero : &zero;
  CALL(cublasLtMatmul, library, d->desc, alpha, at->a, d->a, at->b, d->b, beta, at->d, d->d, at->d, d->d, how, at->work, bytes, stream);
  return 0;
}
