// A fake of NVRTC, whose compiler copies the name, the source and the options.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  char text[1000], log[1000];
  char lowered[8][100];
  int names;
} program;

int nvrtcVersion(int *major, int *minor) {
  *major = 13, *minor = 5;
  return 0;
}

int nvrtcCreateProgram(program **p, const char *source, const char *name, int headers, const char **texts, const char **names) {
  if (!*name) return 3;
  *p = calloc(1, sizeof **p);
  snprintf((*p)->text, sizeof (*p)->text, "%s:%s", name, source);
  return 0;
}

int nvrtcDestroyProgram(program **p) {
  free(*p);
  *p = NULL;
  return 0;
}

int nvrtcAddNameExpression(program *p, const char *name) {
  if (!*name) return 10;
  snprintf(p->lowered[p->names++], 100, "_%s", name);
  return 0;
}

int nvrtcCompileProgram(program *p, int count, const char **options) {
  char *hash = strstr(p->text, ":#error");
  for (int i = 0; i < count; i++) {
    if (!strcmp(options[i], "-bad")) {
      strcpy(p->log, "option -bad\n");
      return 5;
    }
    strcat(strcat(p->text, " "), options[i]);
  }
  if (!hash) return 0;
  snprintf(p->log, sizeof p->log, "%.*s(1): error", (int)(hash - p->text), p->text);
  return 6;
}

int nvrtcGetProgramLogSize(program *p, size_t *bytes) {
  *bytes = strlen(p->log) + 1;
  return 0;
}

int nvrtcGetProgramLog(program *p, char *log) {
  strcpy(log, p->log);
  return 0;
}

int nvrtcGetPTXSize(program *p, size_t *bytes) {
  *bytes = strlen(p->text) + 1;
  return 0;
}

int nvrtcGetPTX(program *p, char *ptx) {
  strcpy(ptx, p->text);
  return 0;
}

int nvrtcGetLoweredName(program *p, const char *name, const char **lowered) {
  for (int i = 0; i < p->names; i++)
    if (!strcmp(p->lowered[i] + 1, name) && strcmp(name, "lost")) {
      *lowered = p->lowered[i];
      return 0;
    }
  return 10;
}

const char *nvrtcGetErrorString(int status) {
  static char text[20];
  snprintf(text, sizeof text, "status %d", status);
  return text;
}
