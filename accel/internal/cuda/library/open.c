//go:build linux && cgo

#define _GNU_SOURCE
#include "open.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { trial_seconds = 20 };

// alone prepares a child process that may crash: with default signal handlers, without output
// or a core file, and with a time limit.
static void alone(void) {
  static const int fatal[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGALRM};
  struct sigaction usual = {.sa_handler = SIG_DFL};
  sigset_t none;
  struct rlimit nothing = {0, 0};
  for (unsigned i = 0; i < sizeof fatal / sizeof *fatal; i++) sigaction(fatal[i], &usual, NULL);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  setrlimit(RLIMIT_CORE, &nothing);
  int quiet = open("/dev/null", O_WRONLY);
  if (quiet >= 0) dup2(quiet, 1), dup2(quiet, 2);
  alarm(trial_seconds);
}

int quern_library_try(const char *path, uintptr_t function, int results) {
  int status;
  pid_t child = fork();
  if (child < 0) return 0;
  if (child == 0) {
    alone();
    if (function) quern_library_version(function, results);
    else dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    _exit(0);
  }
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return 0;
  return WIFSIGNALED(status) && WTERMSIG(status) != SIGALRM ? WTERMSIG(status) : 0;
}

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

long quern_library_version(uintptr_t symbol, int results) {
  int version = 0, minor = 0;
  switch (results) {
  case 0: return (long)((size_t(*)(void))symbol)();
  case 1: return ((int (*)(int *))symbol)(&version) ? -1 : version;
  }
  return ((int (*)(int *, int *))symbol)(&version, &minor) ? -1 : 10000 * version + 100 * minor;
}
