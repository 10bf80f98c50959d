// What kernels for compute capability 9.0 share: tensor maps, barriers in shared memory,
// and copies with the tensor memory accelerator (TMA).
#pragma once
#include "matmul.h"

// Map is a tensor map, encoded by the driver: what to copy and how. It must stay in the
// parameters (__grid_constant__), for which this compiler has no keyword: MAP stores the
// address of parameter i of an entry in a new variable.
struct alignas(64) Map {
  u64 opaque[16];
};
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define MAP(to, name, i) \
  u64 to;                \
  asm volatile("{\n\t.reg .b64 p;\n\tmov.b64 p, " TEXT(JOIN(name, VARIANT)) "_param_" #i ";\n\tcvta.param.u64 %0, p;\n\t}" : "=l"(to))

DEVICE void initBarrier(u32 at, u32 arrivals) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(arrivals) : "memory"); }
// barriersMade makes the barriers that initBarrier wrote visible to the TMA, too.
DEVICE void barriersMade() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
DEVICE void expectBytes(u32 at, u32 bytes) { asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at), "r"(bytes) : "memory"); }
DEVICE void arrive(u32 at) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at) : "memory"); }
DEVICE void awaitParity(u32 at, u32 parity) {
  u32 done;
  do {
    asm volatile("{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(done) : "r"(at), "r"(parity) : "memory");
  } while (!done);
}

DEVICE void copyBox(u32 to, u64 map, u32 inner, u32 outer, u32 batch, u32 full) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to), "l"(map), "r"(inner), "r"(outer), "r"(batch), "r"(full) : "memory");
}

// descriptor describes a panel to wgmma: lead is the stride between groups of 64 elements
// across k, unused along k; step is the stride between groups of eight rows.
DEVICE u64 descriptor(u32 at, u32 lead, u32 step) {
  return (u64)(at >> 4 & 0x3fff) | (u64)(lead >> 4) << 16 | (u64)(step >> 4) << 32 | 1ull << 62;
}
