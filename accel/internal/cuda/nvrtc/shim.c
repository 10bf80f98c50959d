//go:build linux && cgo

#include "shim.h"

#include <stdlib.h>

enum { out_of_memory = 1 }; // NVRTC_ERROR_OUT_OF_MEMORY

#define NAME(name, parameters) #name,
const char *const quern_nvrtc_symbols[] = {FUNCTIONS(NAME) "nvrtcGetErrorString", NULL};
#undef NAME

const char *quern_nvrtc_status(table *t, int status) { return t->nvrtcGetErrorString(status); }

int quern_nvrtc_create(table *t, handle *p, const char *source, const char *name, int headers, char *const *texts, char *const *names) {
  return t->nvrtcCreateProgram(p, source, name, headers, (const char *const *)texts, (const char *const *)names);
}

int quern_nvrtc_destroy(table *t, handle p) { return t->nvrtcDestroyProgram(&p); }

int quern_nvrtc_name(table *t, handle p, const char *name) { return t->nvrtcAddNameExpression(p, name); }

int quern_nvrtc_compile(table *t, handle p, int count, char *const *options) {
  return t->nvrtcCompileProgram(p, count, (const char *const *)options);
}

static int text(handle p, int (*size)(handle, size_t *), int (*get)(handle, char *), char **text) {
  size_t bytes = 0;
  int status = size(p, &bytes);
  if (status) return status;
  if (!(*text = calloc(bytes + 1, 1))) return out_of_memory;
  return get(p, *text);
}

int quern_nvrtc_log(table *t, handle p, char **log) { return text(p, t->nvrtcGetProgramLogSize, t->nvrtcGetProgramLog, log); }

int quern_nvrtc_ptx(table *t, handle p, char **ptx) { return text(p, t->nvrtcGetPTXSize, t->nvrtcGetPTX, ptx); }

int quern_nvrtc_lowered(table *t, handle p, const char *name, const char **lowered) {
  return t->nvrtcGetLoweredName(p, name, lowered);
}
