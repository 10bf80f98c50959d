// A stub of libcuda.so.1 whose device memory is host memory, to test that calls reach the
// driver with the right arguments. Its only kernel, "axpy", computes y[i] += a x[i] from
// parameters {y, x, n, a}; it checks all arguments of a launch. The tests compile it with
// cc.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>

typedef uintptr_t handle;
static handle current;
static int fail_init, version = 12040;

// The tests make calls fail through the environment.
__attribute__((constructor)) static void configure(void) {
  if (getenv("FAKE_CUDA_INIT")) fail_init = atoi(getenv("FAKE_CUDA_INIT"));
  if (getenv("FAKE_CUDA_VERSION")) version = atoi(getenv("FAKE_CUDA_VERSION"));
}

#define NEED(condition) if (!(condition)) { fprintf(stderr, "%s: %s\n", __func__, #condition); return 1; }
enum { CONTEXT = 0xc0, STREAM = 0x57, EVENT = 0xe0, MODULE = 0x30, FUNCTION = 0xf0, POOL = 0x900 };

int cuInit(unsigned flags) { NEED(flags == 0); return fail_init; }
int cuDriverGetVersion(int *v) { *v = version; return 0; }
int cuDeviceGetCount(int *n) { *n = 2; return 0; }
int cuDeviceGet(int *d, int i) { *d = 7 + i; return 0; }
int cuDeviceGetName(char *name, int n, int d) { snprintf(name, n, "Device %d", d); return 0; }
int cuDeviceGetUuid_v2(void *u, int d) { for (int i = 0; i < 16; i++) ((unsigned char *)u)[i] = i; (void)d; return 0; }
int cuDeviceGetPCIBusId(char *id, int n, int d) { snprintf(id, n, "0000:%02x:00.0", d); return 0; }
int cuDeviceTotalMem_v2(size_t *n, int d) { NEED(d >= 7); *n = (size_t)80 << 30; return 0; }
int cuDeviceGetAttribute(int *v, int a, int d) {
  NEED(d >= 7);
  *v = a == 75 ? 9 : a == 76 ? 0 : a == 20 ? 3 : a == 18 ? 0 : a == 115 ? 1 : 1000 + a;
  return 0;
}
int cuDevicePrimaryCtxRetain(handle *c, int d) { *c = CONTEXT + d; return 0; }
int cuDevicePrimaryCtxRelease_v2(int d) { NEED(d == 7); return 0; }
int cuDeviceGetDefaultMemPool(handle *p, int d) { *p = POOL + d; return 0; }
int cuMemPoolSetAttribute(handle p, int a, void *v) { NEED(p == POOL + 7 && a == 4 && *(uint64_t *)v == UINT64_MAX); return 0; }
int cuMemPoolTrimTo(handle p, size_t keep) { NEED(p == POOL + 7 && keep == 0); return 0; }
int cuCtxSetCurrent(handle c) { current = c; return 0; }

#define READY NEED(current == CONTEXT + 7)
int cuCtxSynchronize(void) { READY return 0; }
int cuMemGetInfo_v2(size_t *f, size_t *t) { READY *f = 123; *t = 456; return 0; }
int cuMemAllocAsync(uint64_t *p, size_t n, handle s) { READY NEED(s == STREAM); if (n > 1 << 20) return 2; *p = (uint64_t)malloc(n); return 0; }
int cuMemFreeAsync(uint64_t p, handle s) { READY NEED(s == STREAM); free((void *)p); return 0; }
int cuMemAlloc_v2(uint64_t *p, size_t n) { (void)p; (void)n; return 1; }
int cuMemFree_v2(uint64_t p) { (void)p; return 1; }

// Pageable memory is copied at the next synchronization, as by a GPU that reads the host's
// pages directly.
static struct { char *at; size_t n; } pinned[16];
static struct { void *to; const void *from; size_t n; } late[16];
static int lates;
static void arrive(void) {
  for (int i = 0; i < lates; i++) memcpy(late[i].to, late[i].from, late[i].n);
  lates = 0;
}
static int copy_host(void *to, const void *from, size_t n, const char *host) {
  for (int i = 0; i < 16; i++)
    if (pinned[i].at && host >= pinned[i].at && host + n <= pinned[i].at + pinned[i].n) {
      arrive();
      memcpy(to, from, n);
      return 0;
    }
  NEED(lates < 16);
  late[lates].to = to, late[lates].from = from, late[lates++].n = n;
  return 0;
}
int cuMemHostAlloc(void **p, size_t n, unsigned flags) {
  READY
  NEED(flags == 1);
  *p = malloc(n);
  for (int i = 0; i < 16; i++)
    if (!pinned[i].at) {
      pinned[i].at = *p, pinned[i].n = n;
      return 0;
    }
  return 2;
}
int cuMemFreeHost(void *p) {
  READY
  for (int i = 0; i < 16; i++) if (pinned[i].at == p) pinned[i].at = NULL;
  free(p);
  return 0;
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t n, handle s) { READY NEED(s == STREAM); return copy_host((void *)to, from, n, from); }
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t n, handle s) { READY NEED(s == STREAM); return copy_host(to, (void *)from, n, to); }
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t n, handle s) { READY NEED(s == STREAM); memcpy((void *)to, (void *)from, n); return 0; }

static int fill(uint64_t p, unsigned v, int width, size_t n) {
  for (size_t i = 0; i < n; i++) memcpy((char *)p + width * i, &v, width);
  return 0;
}
int cuMemsetD8Async(uint64_t p, unsigned char v, size_t n, handle s) { READY NEED(s == STREAM); return fill(p, v, 1, n); }
int cuMemsetD16Async(uint64_t p, unsigned short v, size_t n, handle s) { READY NEED(s == STREAM); return fill(p, v, 2, n); }
int cuMemsetD32Async(uint64_t p, unsigned v, size_t n, handle s) { READY NEED(s == STREAM); return fill(p, v, 4, n); }

int cuModuleLoadDataEx(handle *m, const void *image, unsigned n, int *options, void **values) {
  READY
  NEED(n == 2 && options[0] == 5 && options[1] == 6 && (size_t)values[1] > 100);
  static const unsigned char cubin[] = {0x7f, 'E', 'L', 'F', 2, 0, 0, 0, 'x', 'y'};
  if (!memcmp(image, cubin, 4)) { NEED(!memcmp(image, cubin, sizeof cubin)); *m = MODULE; return 0; } // not only up to a zero
  if (!strstr(image, ".version")) { strcpy(values[0], "line 1: no version"); return 218; }
  *m = MODULE;
  return 0;
}
int cuModuleUnload(handle m) { READY NEED(m == MODULE); return 0; }
int cuModuleGetFunction(handle *f, handle m, const char *name) { READY NEED(m == MODULE); if (strcmp(name, "axpy")) return 500; *f = FUNCTION; return 0; }
int cuModuleGetGlobal_v2(uint64_t *p, size_t *n, handle m, const char *name) { READY NEED(m == MODULE && !strcmp(name, "g")); *p = 0x1000; *n = 24; return 0; }
int cuFuncGetAttribute(int *v, int a, handle f) { READY NEED(f == FUNCTION); *v = a == 6 ? 90 : 10 + a; return 0; }
int cuFuncSetAttribute(handle f, int a, int v) { READY NEED(f == FUNCTION && a == 8 && v == 100000); return 0; }
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, handle f, int threads, size_t shared) { READY NEED(f == FUNCTION && threads == 128 && shared == 2048); *n = 5; return 0; }

static int capturing, captured;

struct params { float *y, *x; uint32_t n; float a; };

static int axpy(handle f, unsigned shared, void **params, void **extra) {
  NEED(f == FUNCTION && shared == 64 && !params && extra[0] == (void *)1 && extra[2] == (void *)2 && !extra[4]);
  NEED(*(size_t *)extra[3] == sizeof(struct params));
  struct params p = *(struct params *)extra[1];
  if (!p.n) return 700;
  for (uint32_t i = 0; i < p.n; i++) p.y[i] += p.a * p.x[i];
  return 0;
}
int cuLaunchKernel(handle f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, handle s, void **params, void **extra) {
  READY
  NEED(gx == 2 && gy == 3 && gz == 1 && bx == 32 && by == 1 && bz == 4 && s == STREAM);
  if (capturing) { captured++; return 0; }
  return axpy(f, shared, params, extra);
}
struct attribute { unsigned id, pad, value[16]; };
struct config { unsigned g[3], b[3], shared; handle stream; struct attribute *attributes; unsigned count; };
int cuLaunchKernelEx(const struct config *c, handle f, void **params, void **extra) {
  READY
  NEED(c->g[0] == 2 && c->g[1] == 3 && c->b[2] == 4 && c->stream == STREAM && c->count == 1 && c->attributes->id == 4);
  NEED(c->attributes->value[0] == 2 && c->attributes->value[1] == 1 && c->attributes->value[2] == 1);
  return axpy(f, c->shared, params, extra);
}
int cuTensorMapEncodeTiled(void *map, int type, unsigned rank, uint64_t p, const uint64_t *shape, const uint64_t *strides, const unsigned *box, const unsigned *steps, int interleave, int swizzle, int promotion, int oob) {
  READY
  NEED((uintptr_t)map % 64 == 0 && type == 9 && rank == 2 && p == 0x1000 && shape[0] == 64 && shape[1] == 128 && strides[0] == 256);
  NEED(box[0] == 32 && box[1] == 16 && steps[1] == 1 && interleave == 0 && swizzle == 3 && promotion == 3 && oob == 1);
  memset(map, 0xab, 128);
  return 0;
}

int cuStreamCreate(handle *s, unsigned flags) { READY NEED(flags == 1); *s = STREAM; return 0; }
int cuStreamDestroy_v2(handle s) { READY NEED(s == STREAM); return 0; }
int cuStreamSynchronize(handle s) { READY NEED(s == STREAM); arrive(); return 0; }
int cuStreamWaitEvent(handle s, handle e, unsigned flags) { READY NEED(s == STREAM && e == EVENT && flags == 0); return 0; }
int cuEventCreate(handle *e, unsigned flags) { READY NEED(flags == 0 || flags == 2); *e = EVENT; return 0; }
int cuEventDestroy_v2(handle e) { READY NEED(e == EVENT); return 0; }
int cuEventRecord(handle e, handle s) { READY NEED(e == EVENT && s == STREAM); return 0; }
static int asked;
int cuEventQuery(handle e) { READY NEED(e == EVENT); return asked++ ? 0 : 600; }
int cuEventSynchronize(handle e) { READY NEED(e == EVENT); return 0; }
int cuEventElapsedTime(float *ms, handle a, handle b) { READY NEED(a == EVENT && b == EVENT); *ms = 1.5f; return 0; }

// One graph, whose nodes are numbered from 1 and depend on the one before.
struct kernel { handle f; unsigned g[3], b[3], shared; void **params, **extra; };
struct side { size_t x, y, z, lod; unsigned type; void *host; uint64_t device; void *array, *reserved; size_t pitch, height; };
struct copy { struct side from, to; size_t width, rows, depth; };
struct memset_node { uint64_t p; size_t pitch; unsigned value, element; size_t width, rows; };
static struct node { int kind; struct params params; struct copy copy; struct memset_node fill; handle part; } nodes[9];
static int count, open; // the node handles of a graph are valid while it is open
static int loose; // the node without a dependency that has not got one yet; 0 for none
enum { GRAPH = 0x99, EXECUTABLE = 0xee };

static int begin(handle *n, handle g, const handle *after, size_t k) {
  READY
  NEED(g == GRAPH && !loose && k == (count > 0) && (!k || *after == (handle)count));
  *n = ++count;
  return 0;
}
int cuGraphCreate(handle *g, unsigned flags) { READY NEED(flags == 0); *g = GRAPH; count = loose = 0; open = 1; return 0; }
int cuGraphDestroy(handle g) { READY NEED(g == GRAPH || g >= 0x700); if (g == GRAPH) open = 0; return 0; }
static int set_kernel(struct node *n, const struct kernel *k) {
  NEED(k->f == FUNCTION && k->g[0] == 2 && k->g[1] == 3 && k->g[2] == 1 && k->b[0] == 32 && k->b[2] == 4 && k->shared == 64 && !k->params);
  NEED(k->extra[0] == (void *)1 && *(size_t *)k->extra[3] == sizeof(struct params));
  n->kind = 1;
  n->params = *(struct params *)k->extra[1];
  return 0;
}
int cuGraphAddKernelNode(handle *n, handle g, const handle *after, size_t k, const struct kernel *p) {
  if (k || !count) return begin(n, g, after, k) || set_kernel(&nodes[count], p);
  READY
  NEED(g == GRAPH && !loose);
  *n = loose = ++count;
  return set_kernel(&nodes[count], p);
}
struct edge { unsigned char from, to, type, reserved[5]; };
int cuGraphAddDependencies_v2(handle g, const handle *from, const handle *to, const struct edge *e, size_t n) {
  READY
  NEED(g == GRAPH && n == 1 && loose && *to == (handle)loose && *from == *to - 1);
  NEED(e->from == 1 && e->to == 0 && e->type == 1 && !memcmp(e->reserved, "\0\0\0\0\0", 5));
  NEED(nodes[*from].kind == 1 && nodes[*to].kind == 1); // such edges are between kernels only
  loose = 0;
  return 0;
}
int cuGraphKernelNodeSetAttribute(handle n, int a, const void *v) { NEED(n && a == 4 && *(unsigned *)v == 2); return 0; }
int cuGraphAddMemcpyNode(handle *n, handle g, const handle *after, size_t k, const struct copy *c, handle context) {
  NEED(context == current && c->width < 1u << 31 && c->rows == 1 && c->depth == 1 && c->from.pitch == c->width && c->to.pitch == c->width && c->from.height == 1 && c->to.height == 1);
  nodes[count + 1].kind = 2;
  nodes[count + 1].copy = *c;
  return begin(n, g, after, k);
}
int cuGraphAddMemsetNode(handle *n, handle g, const handle *after, size_t k, const struct memset_node *f, handle context) {
  NEED(context == current && f->rows == 1);
  nodes[count + 1].kind = 3;
  nodes[count + 1].fill = *f;
  return begin(n, g, after, k);
}
int cuGraphAddEventRecordNode(handle *n, handle g, const handle *after, size_t k, handle e) {
  NEED(e == EVENT);
  return begin(n, g, after, k);
}
// A captured stream runs nothing and returns a graph whose handle encodes the number of
// launches in it.
enum { PART = 0x700 };
int cuStreamBeginCapture_v2(handle s, int mode) { READY NEED(s == STREAM && mode == 2 && !capturing); capturing = 1; captured = 0; return 0; }
int cuStreamEndCapture(handle s, handle *g) { READY NEED(s == STREAM && capturing); capturing = 0; *g = PART + captured; return captured > 8 ? 901 : 0; }
int cuGraphAddChildGraphNode(handle *n, handle g, const handle *after, size_t k, handle part) {
  NEED(part > PART);
  nodes[count + 1].kind = 4;
  nodes[count + 1].part = part;
  return begin(n, g, after, k);
}
int cuGraphExecChildGraphNodeSetParams(handle x, handle n, handle part) {
  READY
  NEED(x == EXECUTABLE && open && n <= (handle)count && nodes[n].kind == 4);
  return part == nodes[n].part ? 0 : part == PART + 3 ? 910 : 1; // the manual allows both codes
}
int cuGraphInstantiateWithFlags(handle *x, handle g, unsigned long long flags) { READY NEED(g == GRAPH && flags == 0 && !loose); *x = EXECUTABLE; return 0; }
int cuGraphExecDestroy(handle x) { READY NEED(x == EXECUTABLE); return 0; }
int cuGraphExecKernelNodeSetParams(handle x, handle n, const struct kernel *p) { READY NEED(x == EXECUTABLE && open && n <= (handle)count); return set_kernel(&nodes[n], p); }
static void *start(struct side *s) { return s->type == 1 ? s->host : (void *)s->device; }
int cuGraphLaunch(handle x, handle s) {
  READY
  NEED(x == EXECUTABLE && s == STREAM);
  for (int i = 1; i <= count; i++) {
    struct node *n = &nodes[i];
    struct params p = n->params;
    if (n->kind == 1) for (uint32_t j = 0; j < p.n; j++) p.y[j] += p.a * p.x[j];
    if (n->kind == 2) memcpy(start(&n->copy.to), start(&n->copy.from), n->copy.width);
    if (n->kind == 3) fill(n->fill.p, n->fill.value, n->fill.element, n->fill.width);
  }
  return 0;
}
