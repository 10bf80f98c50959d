//go:build linux && cgo && (amd64 || arm64)

#include "bind.h"

#include <dlfcn.h>
#include <stddef.h>

enum { FUNCTION_NOT_FOUND = 13 }; // NVML_ERROR_FUNCTION_NOT_FOUND of nvml.h

static int missing(void) { return FUNCTION_NOT_FOUND; }
static const char *missing_string(void) { return "the library has no nvmlErrorString"; }

// One pointer for each function; trampolines_linux_*.S jump through them.
#define FUNCTION(name) __attribute__((visibility("hidden"))) void *quern_pointer_##name = (void *)missing;
#include "functions.h"
#undef FUNCTION

static const struct {
  const char *name;
  void **pointer;
} functions[] = {
#define FUNCTION(name) {#name, &quern_pointer_##name},
#include "functions.h"
#undef FUNCTION
};

// nvmlErrorString returns text and not a code, so its initial pointer differs. A constructor
// sets it, because the initializer in the table above cannot depend on the name.
__attribute__((constructor)) static void without_library(void) { quern_pointer_nvmlErrorString = (void *)missing_string; }

const char *quern_nvml_bind(const char *path) {
  void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (!library) return dlerror();
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    void *found = dlsym(library, functions[i].name);
    if (found) *functions[i].pointer = found;
    else if (functions[i].pointer != &quern_pointer_nvmlErrorString) *functions[i].pointer = (void *)missing;
  }
  return NULL;
}
