// Opening a library at run time.
#ifndef QUERN_CUDA_LIBRARY_H
#define QUERN_CUDA_LIBRARY_H

#include <stdint.h>

// quern_library_try loads a file, or calls a function as quern_library_version does if
// that is not 0, in a process of its own, and gives the signal that this ended with: 0
// if it ended well, or cannot be tried. A file that is damaged in its middle is seen by
// nothing but what happens to who uses it.
int quern_library_try(const char *path, uintptr_t function, int argument);

// quern_library_open loads a file, or what the loader finds by a name. NULL is
// given with the loader's words in reason.
void *quern_library_open(const char *path, char *reason, int bytes);
void quern_library_close(void *library);
uintptr_t quern_library_symbol(void *library, const char *name);

// quern_library_path gives the file that a function is in; 0 if it is unknown.
int quern_library_path(uintptr_t symbol, char *path, int bytes);

// quern_library_version calls size_t f(void), or int f(int *version); -1 if that
// fails.
long quern_library_version(uintptr_t symbol, int argument);

#endif
