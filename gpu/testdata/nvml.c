// A fake libnvidia-ml.so.1 with two GPUs. -DOLD omits the functions that an old
// driver lacks, -DINIT=9 makes the initialization fail with that code, and
// -DCOUNT=0 lists no GPU.
#include <string.h>

#ifndef INIT
#define INIT 0
#endif
#ifndef COUNT
#define COUNT 2
#endif

enum { SUCCESS = 0, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6 };

static int gpus[2]; // their addresses are the handles

int nvmlInit_v2(void) { return INIT; }
int nvmlShutdown(void) { return SUCCESS; }
const char *nvmlErrorString(int code) { return "fake"; }
int nvmlDeviceGetCount_v2(unsigned *n) { *n = COUNT; return SUCCESS; }

int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **h) {
	if (i >= COUNT) return INVALID_ARGUMENT;
	*h = &gpus[i];
	return SUCCESS;
}
int nvmlDeviceGetHandleByUUID(const char *id, void **h) {
	if (strcmp(id, "GPU-two")) return NOT_FOUND;
	*h = &gpus[1];
	return SUCCESS;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char *id, void **h) {
	if (strcmp(id, "0000:3b:00.0")) return NOT_FOUND;
	*h = &gpus[1];
	return SUCCESS;
}
int nvmlDeviceGetIndex(void *h, unsigned *i) { *i = h == &gpus[1]; return SUCCESS; }
int nvmlDeviceGetName(void *h, char *s, unsigned n) {
	strncpy(s, h == &gpus[0] ? "Fake one" : "Fake two", n);
	return SUCCESS;
}
int nvmlDeviceGetUtilizationRates(void *h, unsigned *u) { u[0] = 84; u[1] = 30; return SUCCESS; }
int nvmlDeviceGetMemoryInfo(void *h, unsigned long long *m) {
	m[0] = 150ull << 30; m[1] = 54ull << 30; m[2] = 96ull << 30; // total, free, used
	return SUCCESS;
}
int nvmlDeviceGetPowerUsage(void *h, unsigned *mw) { *mw = 350000; return SUCCESS; }
int nvmlDeviceGetTemperature(void *h, int sensor, unsigned *t) { *t = 61; return SUCCESS; }
int nvmlDeviceGetClockInfo(void *h, int clock, unsigned *mhz) { return NOT_SUPPORTED; }
#ifndef OLD
int nvmlDeviceGetCurrentClocksThrottleReasons(void *h, unsigned long long *reasons) { *reasons = h == &gpus[0] ? 0x4 | 0x20 : 1; return SUCCESS; }

// These counters are only right if both samples are of this GPU, one after the
// other: sample n has the value n.
struct support { unsigned version, supported; };
struct metric { unsigned id; int code; double value; const char *words[3]; };
struct get { unsigned version, count; int *from, *to; struct metric metrics[210]; };
static int samples[8], used, clock_;
int nvmlGpmQueryDeviceSupport(void *h, struct support *s) {
	if (s->version != 1) return INVALID_ARGUMENT;
	s->supported = h == &gpus[0];
	return SUCCESS;
}
int nvmlGpmSampleAlloc(int **s) { *s = &samples[used++ % 8]; return SUCCESS; }
int nvmlGpmSampleFree(int *s) { *s = 0; return SUCCESS; }
int nvmlGpmSampleGet(void *h, int *s) { *s = ++clock_; return SUCCESS; }
int nvmlGpmMetricsGet(struct get *g) {
	if (g->version != 1 || g->count != 4 || *g->to != *g->from + 1) return INVALID_ARGUMENT;
	for (unsigned i = 0; i < g->count; i++) {
		g->metrics[i].code = g->metrics[i].id == 10 ? NOT_SUPPORTED : SUCCESS;
		g->metrics[i].value = 10 * g->metrics[i].id + .5;
	}
	return SUCCESS;
}
int nvmlDeviceGetEnforcedPowerLimit(void *h, unsigned *mw) { *mw = 700000; return SUCCESS; }
int nvmlDeviceGetTotalEnergyConsumption(void *h, unsigned long long *mj) { *mj = 1234500; return SUCCESS; }
#endif
