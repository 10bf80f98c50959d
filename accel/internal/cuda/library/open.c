//go:build linux && cgo

#define _GNU_SOURCE
#include "open.h"

#include <dlfcn.h>
#include <stdio.h>

void *quern_library_open(const char *path, char *reason, int bytes) {
  void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (!library) {
    const char *words = dlerror();
    snprintf(reason, bytes, "%s", words ? words : "cannot be loaded");
  }
  return library;
}

void quern_library_close(void *library) { dlclose(library); }

uintptr_t quern_library_symbol(void *library, const char *name) { return (uintptr_t)dlsym(library, name); }

int quern_library_path(uintptr_t symbol, char *path, int bytes) {
  Dl_info info;
  if (!dladdr((void *)symbol, &info) || !info.dli_fname) return 0;
  snprintf(path, bytes, "%s", info.dli_fname);
  return 1;
}

long quern_library_version(uintptr_t symbol, int argument) {
  if (!argument) return (long)((size_t(*)(void))symbol)();
  int version = 0;
  return ((int (*)(int *))symbol)(&version) ? -1 : version;
}
