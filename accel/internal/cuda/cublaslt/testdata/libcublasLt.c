// A stub of libcublasLt.so.13 that computes on host memory, to test that calls reach the
// library with the right arguments. It only accepts the sizes of attributes that cublasLt.h
// documents.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uintptr_t handle;
enum { LIBRARY = 0x1b, INVALID = 7, NOT_SUPPORTED = 15 };
#define NEED(condition) if (!(condition)) { fprintf(stderr, "%s: %s\n", __func__, #condition); return INVALID; }

size_t cublasLtGetVersion(void) { return 130401; }
size_t cublasLtGetCudartVersion(void) { return 13020; }
const char *cublasLtGetStatusName(int status) { return status == INVALID ? "CUBLAS_STATUS_INVALID_VALUE" : status == NOT_SUPPORTED ? "CUBLAS_STATUS_NOT_SUPPORTED" : "CUBLAS_STATUS_OTHER"; }
static int libraries, objects;
int cublasLtCreate(handle *l) { libraries++; *l = LIBRARY; return getenv("FAKE_CUBLASLT_CREATE") ? atoi(getenv("FAKE_CUBLASLT_CREATE")) : 0; }
int cublasLtDestroy(handle l) { NEED(l == LIBRARY && libraries && !objects); libraries--; return 0; }

// An object is a list of attributes with their sizes.
struct object { int kind; int size[40]; char value[40][8]; };
static int make(handle *h, int kind) { struct object *o = calloc(1, sizeof *o); o->kind = kind; objects++; *h = (handle)o; return 0; }
static int drop(handle h, int kind) { struct object *o = (void *)h; NEED(o->kind == kind); objects--; free(o); return 0; }
static int set(handle h, int kind, int a, const void *v, size_t n) {
  struct object *o = (void *)h;
  NEED(o->kind == kind && a >= 0 && a < 40 && n <= 8);
  o->size[a] = n;
  memcpy(o->value[a], v, n);
  return 0;
}
static int get(handle h, int kind, int a, void *v, size_t n, size_t *written) {
  struct object *o = (void *)h;
  NEED(o->kind == kind && a >= 0 && a < 40 && (!o->size[a] || o->size[a] == (int)n));
  memcpy(v, o->value[a], n);
  *written = n;
  return 0;
}
static int64_t number(handle h, int a) {
  struct object *o = (void *)h;
  int64_t v = 0;
  memcpy(&v, o->value[a], o->size[a]);
  return v;
}
enum { DESC = 1, LAYOUT, PREFERENCE };

// Sizes of attributes by number.
static int desc_size(int a) { return a == 8 || a == 11 || a == 12 || a == 17 || a == 18 ? 8 : 4; }
static int layout_size(int a) { return a == 2 || a == 3 || a == 4 || a == 6 ? 8 : 4; }
static int preference_size(int a) { return a == 1 ? 8 : 4; }

int cublasLtMatmulDescCreate(handle *d, int compute, int scale) {
  NEED((compute == 68 || compute == 77) && scale == 0 || compute == 70 && scale == 1);
  make(d, DESC);
  return set(*d, DESC, 0, &compute, 4);
}
int cublasLtMatmulDescDestroy(handle d) { return drop(d, DESC); }
int cublasLtMatmulDescSetAttribute(handle d, int a, const void *v, size_t n) { NEED((int)n == desc_size(a)); return set(d, DESC, a, v, n); }
int cublasLtMatmulDescGetAttribute(handle d, int a, void *v, size_t n, size_t *w) { NEED((int)n == desc_size(a)); return get(d, DESC, a, v, n, w); }
int cublasLtMatrixLayoutCreate(handle *l, int type, uint64_t rows, uint64_t cols, int64_t lead) {
  NEED(lead >= (int64_t)rows);
  make(l, LAYOUT);
  int one = 1;
  int64_t none = 0;
  return set(*l, LAYOUT, 0, &type, 4) || set(*l, LAYOUT, 2, &rows, 8) || set(*l, LAYOUT, 3, &cols, 8) || set(*l, LAYOUT, 4, &lead, 8) ||
         set(*l, LAYOUT, 5, &one, 4) || set(*l, LAYOUT, 6, &none, 8);
}
int cublasLtMatrixLayoutDestroy(handle l) { return drop(l, LAYOUT); }
int cublasLtMatrixLayoutSetAttribute(handle l, int a, const void *v, size_t n) { NEED((int)n == layout_size(a)); return set(l, LAYOUT, a, v, n); }
int cublasLtMatrixLayoutGetAttribute(handle l, int a, void *v, size_t n, size_t *w) { NEED((int)n == layout_size(a)); return get(l, LAYOUT, a, v, n, w); }
int cublasLtMatmulPreferenceCreate(handle *p) { return make(p, PREFERENCE); }
int cublasLtMatmulPreferenceDestroy(handle p) { return drop(p, PREFERENCE); }
int cublasLtMatmulPreferenceSetAttribute(handle p, int a, const void *v, size_t n) { NEED((int)n == preference_size(a)); return set(p, PREFERENCE, a, v, n); }
int cublasLtMatmulPreferenceGetAttribute(handle p, int a, void *v, size_t n, size_t *w) { NEED((int)n == preference_size(a)); return get(p, PREFERENCE, a, v, n, w); }

struct algorithm { uint64_t data[8]; };
struct heuristic { struct algorithm how; size_t workspace; int state; float waves; int reserved[4]; };
int cublasLtMatmulAlgoGetHeuristic(handle l, handle d, handle a, handle b, handle c, handle y, handle p, int wanted, struct heuristic *found, int *count) {
  NEED(l == LIBRARY && ((struct object *)d)->kind == DESC && ((struct object *)p)->kind == PREFERENCE && wanted > 0 && c == y);
  if (number(a, 2) == 13) return NOT_SUPPORTED;
  NEED(number(a, 2) != 17);
  NEED(number(p, 3) == (number(y, 0) < 2 ? 3 : 2));
  int eight = number(a, 0) >= 28;
  NEED(!eight == !number(d, 17) && !eight == !number(d, 18) && (number(d, 0) == 70) == (number(a, 0) == 1));
  NEED(!(number(d, 7) & (4 | 256 | 512)) || number(d, 8) && number(d, 8) % number(p, 8) == 0);
  NEED(!(number(d, 7) & 128) == !number(d, 11) && number(d, 11) % 16 == 0 && number(d, 12) % 8 == 0 && (!number(d, 12) || number(d, 12) == number(y, 4)));
  *count = wanted < 4 ? wanted : 4;
  for (int i = 0; i < *count; i++) {
    memset(&found[i], 0, sizeof found[i]);
    for (int j = 0; j < 8; j++) found[i].how.data[j] = 100 * i + j;
    found[i].workspace = i == 2 ? number(p, 1) + 1 : 256 * i; // the third exceeds the limit
    found[i].state = i == 1 ? NOT_SUPPORTED : 0;              // the second is not supported
  }
  return 0;
}

// An 8-bit float with some bits of fraction.
static double eight(unsigned char b, int fraction) {
  int exponent = (b & 127) >> fraction, f = b & ((1 << fraction) - 1), bias = fraction == 3 ? 7 : 15;
  double v = exponent ? ldexp((1 << fraction) + f, exponent - bias - fraction) : ldexp(f, 1 - bias - fraction);
  return b >> 7 ? -v : v;
}
static double at(const void *m, handle l, int turned, int row, int col, int batch) {
  if (turned) { int r = row; row = col; col = r; }
  int64_t i = row + col * number(l, 4) + batch * number(l, 6);
  switch (number(l, 0)) {
  case 1: return ((const double *)m)[i];
  case 28: return eight(((const unsigned char *)m)[i], 3);
  case 29: return eight(((const unsigned char *)m)[i], 2);
  }
  return ((const float *)m)[i];
}
// GELU in the form with tanh, and its slope.
static double inner(double x) { return 0.7978845608028654 * (x + 0.044715 * x * x * x); }
static double gelu(double x) { return x / 2 * (1 + tanh(inner(x))); }
static double slope(double x) {
  double t = tanh(inner(x));
  return (1 + t) / 2 + x / 2 * (1 - t * t) * 0.7978845608028654 * (1 + 3 * 0.044715 * x * x);
}
static double one(int is_float64, const void *p) { return is_float64 ? *(const double *)p : *(const float *)p; }

// Multiplies matrices of float32, float64 and 8-bit floats, with results in float32 and float64.
int cublasLtMatmul(handle l, handle d, const void *alpha, const void *a, handle al, const void *b, handle bl, const void *beta,
                   const void *c, handle cl, void *y, handle yl, const struct algorithm *how, void *work, size_t bytes, handle stream) {
  int is_float64 = number(d, 0) == 70;
  NEED(l == LIBRARY && one(is_float64, alpha) == 1 && one(is_float64, beta) == 0 && c == y && cl == yl && stream == 0x57 && number(yl, 0) == is_float64);
  for (int j = 1; j < 8; j++) NEED(how->data[j] == how->data[0] + j);
  NEED(bytes == 256 * (how->data[0] / 100));
  if (bytes) memset(work, 0, bytes);
  int trans_a = number(d, 3), trans_b = number(d, 4), epilogue = number(d, 7), k = number(al, trans_a ? 2 : 3);
  NEED(k == number(bl, trans_b ? 3 : 2) && number(al, trans_a ? 3 : 2) == number(yl, 2) && number(bl, trans_b ? 2 : 3) == number(yl, 3));
  const float *bias = epilogue & 4 ? (const float *)number(d, 8) : NULL;
  NEED(!bias || number(d, 26) == number(yl, 0));
  float *argument = epilogue & 128 ? (float *)number(d, 11) : NULL, *sums = epilogue & (256 | 512) ? (float *)number(d, 8) : NULL;
  NEED(!sums || number(d, 26) == number(yl, 0));
  for (int i = 0; sums && i < (epilogue & 256 ? number(yl, 2) : number(yl, 3)); i++) {
    sums[i] = 0;
    for (int j = 0; j < k; j++) sums[i] += epilogue & 256 ? at(a, al, trans_a, i, j, 0) : at(b, bl, trans_b, j, i, 0);
  }
  double scale = 1;
  for (int i = 17; i <= 18; i++)
    if (number(d, i)) scale *= *(const float *)number(d, i);
  for (int n = 0; n < number(yl, 5); n++)
    for (int col = 0; col < number(yl, 3); col++)
      for (int row = 0; row < number(yl, 2); row++) {
        double sum = 0;
        for (int i = 0; i < k; i++) sum += at(a, al, trans_a, row, i, n) * at(b, bl, trans_b, i, col, n);
        sum = sum * scale + (bias ? bias[row] : 0);
        if (epilogue & 2 && sum < 0) sum = 0;
        int64_t to = row + col * number(yl, 4) + n * number(yl, 6);
        if ((epilogue & ~4) == 160) argument[to] = sum;
        if (epilogue & 32) sum = gelu(sum);
        if (epilogue == 192) sum *= slope(argument[to]);
        if (is_float64) ((double *)y)[to] = sum;
        else ((float *)y)[to] = sum;
      }
  return 0;
}
