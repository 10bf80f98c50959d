// A profiler that writes the ranges of a program to the file NVTX_TEST_LOG: "begin 1 name"
// and "end 1". It sets the functions as a profiler does, with its own declarations. With
// -DFAIL its initialization fails; with -DPOOR it lacks InitializeInjectionNvtx2.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static FILE *out;
static uint64_t last;
static uint64_t begin(const char *name) {
  fprintf(out, "begin %llu %s\n", (unsigned long long)++last, name);
  fflush(out);
  return last;
}
static void end(uint64_t id) {
  fprintf(out, "end %llu\n", (unsigned long long)id);
  fflush(out);
}

struct callbacks { size_t size; int (*table)(int module, void ****table, unsigned *size); };
struct version { size_t size; uint32_t version, reserved; void (*set)(uint32_t); };

#ifndef POOR
int InitializeInjectionNvtx2(const void *(*get)(uint32_t)) {
#ifdef FAIL
  return 0;
#endif
  const struct callbacks *c = get(1);
  const struct version *v = get(3);
  if (!c || c->size < sizeof *c || !v || v->version != 3 || get(77)) return 0;
  v->set(3);
  // Each table has an entry for each function that a profiler may set, after a null entry.
  static const unsigned sizes[] = {0, 16, 9, 15, 7, 16, 7};
  for (int m = 1; m <= 6; m++) {
    void ***table;
    unsigned size;
    if (!c->table(m, &table, &size) || size != sizes[m] || table[0] || table[size]) return 0;
    for (unsigned i = 1; i < size; i++)
      if (!table[i]) return 0;
  }
  void ***core;
  if (c->table(0, &core, NULL) || c->table(7, &core, NULL) || !c->table(1, &core, NULL)) return 0;
  *core[5] = (void *)begin;
  *core[7] = (void *)end;
  out = fopen(getenv("NVTX_TEST_LOG"), "w");
  return out != NULL;
}
#endif
