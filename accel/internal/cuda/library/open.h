// Opening a library at run time.
#ifndef QUERN_CUDA_LIBRARY_H
#define QUERN_CUDA_LIBRARY_H

#include <stdint.h>

// quern_library_try loads a file in a child process, or calls a function as
// quern_library_version does if function is not 0. It returns the signal that killed the
// process: 0 if it exited normally or could not be started. A file that is damaged in the
// middle can only be detected by using it.
int quern_library_try(const char *path, uintptr_t function, int results);

// quern_library_open loads a file, or the library that the loader finds by name. On failure
// it returns NULL and stores the loader's message in reason.
void *quern_library_open(const char *path, char *reason, int bytes);
void quern_library_close(void *library);
uintptr_t quern_library_symbol(void *library, const char *name);

// quern_library_path stores the path of the file that contains a function; it returns 0 if
// unknown.
int quern_library_path(uintptr_t symbol, char *path, int bytes);

// quern_library_version calls a function that returns a version: size_t f(void), or with that many
// results int f(int *version) or int f(int *major, int *minor); it returns -1 if the call fails.
long quern_library_version(uintptr_t symbol, int results);

#endif
