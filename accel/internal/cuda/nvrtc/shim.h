// Calls into libnvrtc, which is opened at run time: a table of its functions. The declarations are those of nvrtc.h; programs are
// uintptr_t.
#ifndef QUERN_NVRTC_SHIM_H
#define QUERN_NVRTC_SHIM_H

#include <stddef.h>
#include <stdint.h>

typedef uintptr_t handle;

// X(name, parameters)
#define FUNCTIONS(X) \
  X(nvrtcCreateProgram, (handle *p, const char *source, const char *name, int headers, const char *const *texts, const char *const *names)) \
  X(nvrtcDestroyProgram, (handle *p)) \
  X(nvrtcAddNameExpression, (handle p, const char *name)) \
  X(nvrtcCompileProgram, (handle p, int count, const char *const *options)) \
  X(nvrtcGetProgramLogSize, (handle p, size_t *bytes)) \
  X(nvrtcGetProgramLog, (handle p, char *log)) \
  X(nvrtcGetPTXSize, (handle p, size_t *bytes)) \
  X(nvrtcGetPTX, (handle p, char *ptx)) \
  X(nvrtcGetLoweredName, (handle p, const char *name, const char **lowered))

#define FIELD(name, parameters) int(*name) parameters;
typedef struct {
  FUNCTIONS(FIELD)
  const char *(*nvrtcGetErrorString)(int status);
} table;
#undef FIELD

// quern_nvrtc_symbols are the names of the functions of the table in its order; NULL is the end.
extern const char *const quern_nvrtc_symbols[];
const char *quern_nvrtc_status(table *t, int status);

int quern_nvrtc_create(table *t, handle *p, const char *source, const char *name, int headers, char *const *texts, char *const *names);
int quern_nvrtc_destroy(table *t, handle p);
int quern_nvrtc_name(table *t, handle p, const char *name);
int quern_nvrtc_compile(table *t, handle p, int count, char *const *options);
// quern_nvrtc_log and quern_nvrtc_ptx allocate a text, which the caller frees.
int quern_nvrtc_log(table *t, handle p, char **text);
int quern_nvrtc_ptx(table *t, handle p, char **text);
// quern_nvrtc_lowered stores the name in the PTX, which lives as long as the program.
int quern_nvrtc_lowered(table *t, handle p, const char *name, const char **lowered);

#endif
