//go:build linux

#include "client.h"

#include <dlfcn.h>
#include <stddef.h>

typedef void (*function)(void);

// NvtxCallbackModule, and the number of functions of each, including the invalid one.
enum { CORE = 1, CUDA, OPENCL, CUDART, CORE2, SYNC, MODULES };
enum { CORE_SIZE = 16, CUDA_SIZE = 9, OPENCL_SIZE = 15, CUDART_SIZE = 7, CORE2_SIZE = 16, SYNC_SIZE = 7, MOST = 16 };
enum { RANGE_START_A = 5, RANGE_END = 7 }; // NvtxCallbackIdCore

static const unsigned sizes[MODULES] = {0, CORE_SIZE, CUDA_SIZE, OPENCL_SIZE, CUDART_SIZE, CORE2_SIZE, SYNC_SIZE};

// The function pointers that the profiler writes, and the tables of their addresses. The
// entry of the invalid function and the last entry are null.
static function functions[MODULES][MOST];
static function *tables[MODULES][MOST + 1];

static int module_table(int module, function ***table, unsigned *size) {
  if (module <= 0 || module >= MODULES) return 0;
  for (unsigned i = 1; i < sizes[module]; i++) tables[module][i] = &functions[module][i];
  if (table) *table = tables[module];
  if (size) *size = sizes[module];
  return 1;
}

// NvtxExportTableCallbacks and NvtxExportTableVersionInfo
static const struct {
  size_t bytes;
  int (*module_table)(int, function ***, unsigned *);
} callbacks = {sizeof callbacks, module_table};

static void tool_version(uint32_t version) { (void)version; }
static const struct {
  size_t bytes;
  uint32_t version, reserved;
  void (*set)(uint32_t);
} version = {sizeof version, 3, 0, tool_version};

static const void *export_table(uint32_t id) {
  switch (id) { // NvtxExportTableID
  case 1: return &callbacks;
  case 3: return &version;
  }
  return NULL;
}

int quern_nvtx_open(const char *path) {
  void *library = dlopen(path, RTLD_LAZY);
  if (!library) return 1;
  int (*initialize)(const void *(*)(uint32_t)) = (int (*)(const void *(*)(uint32_t)))dlsym(library, "InitializeInjectionNvtx2");
  if (!initialize) {
    dlclose(library);
    return 2;
  }
  if (!initialize(export_table)) {
    for (int m = 0; m < MODULES; m++)
      for (int i = 0; i < MOST; i++) functions[m][i] = NULL;
    dlclose(library);
    return 3;
  }
  return 0;
}

uint64_t quern_nvtx_begin(const char *name) {
  uint64_t (*start)(const char *) = (uint64_t (*)(const char *))functions[CORE][RANGE_START_A];
  return start ? start(name) : 0;
}

void quern_nvtx_end(uint64_t range) {
  void (*end)(uint64_t) = (void (*)(uint64_t))functions[CORE][RANGE_END];
  if (end) end(range);
}
