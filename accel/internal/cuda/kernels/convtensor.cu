// convtensor: Conv2D and its gradients on tensor cores, as implicit GEMM (conv.h).
//
// Bound by arithmetic, 2·N·O·OH·OW·C/groups·KH·KW operations each, from some tens of
// channels on. Tiles are 128×128 for wide layers, else 64×64. Panels are gathered element
// by element; neighboring threads read neighboring pixels. The grid's z is the group.
//
// variants: tf32
#include "conv.h"
#include "mma.h"

template <u32 B, u32 WM, u32 WN> DEVICE void forward(void *y, const element *x, const element *w, const Images &g, Result r) {
  u32 group = blockZ(), depth = g.c * g.kernel.by;
  Strided<element> a = {w + (u64)group * g.o * depth, (i64)depth, 1, g.o, depth};
  WindowRows<element> b(x + (u64)group * g.c * g.h * g.w, g);
  if (r.bias) r.bias += (u64)group * g.o * 4;
  mmaProduct<B, B, WM, WN, true, false>(y, Gathered<Strided<element>>{a}, Gathered<WindowRows<element>>{b}, g.o, g.n * g.plane.by, depth, r, group);
}

template <u32 B, u32 WM, u32 WN> DEVICE void input(void *dx, const element *dy, const element *w, const Images &g, const Result &r) {
  u32 group = blockZ(), depth = g.o * g.kernel.by;
  WeightRows<element> a = {w + (u64)group * g.o * g.c * g.kernel.by, g};
  Slopes<element> b = {dy + (u64)group * g.o * g.oh * g.ow, g};
  mmaProduct<B, B, WM, WN, true, false>(dx, Gathered<WeightRows<element>>{a}, Gathered<Slopes<element>>{b}, g.c, g.n * g.plane.by, depth, r, group);
}

template <u32 B, u32 WM, u32 WN> DEVICE void weight(void *dw, const element *x, const element *dy, const Images &g, const Result &r) {
  u32 group = blockZ(), depth = g.n * g.plane.by;
  SlopeRows<element> a = {dy + (u64)group * g.o * g.oh * g.ow, g};
  ElementRows<element> b(x + (u64)group * g.c * g.h * g.w, g);
  mmaProduct<B, B, WM, WN, true, true>(dw, Gathered<SlopeRows<element>>{a}, Gathered<ElementRows<element>>{b}, g.o, g.c * g.kernel.by, depth, r, group);
}

// y [N, O, OH, OW]
KERNEL(convtensor_forward128, 256, 1)(void *y, const element *x, const element *w, Images g, Result r) { forward<128, 64, 32>(y, x, w, g, r); }
KERNEL(convtensor_forward64, 128, 3)(void *y, const element *x, const element *w, Images g, Result r) { forward<64, 32, 32>(y, x, w, g, r); }
// dx [N, C, H, W]
KERNEL(convtensor_input128, 256, 1)(void *dx, const element *dy, const element *w, Images g, Result r) { input<128, 64, 32>(dx, dy, w, g, r); }
KERNEL(convtensor_input64, 128, 3)(void *dx, const element *dy, const element *w, Images g, Result r) { input<64, 32, 32>(dx, dy, w, g, r); }
// dw [O, C/groups, KH, KW]
KERNEL(convtensor_weight128, 256, 1)(void *dw, const element *x, const element *dy, Images g, Result r) { weight<128, 64, 32>(dw, x, dy, g, r); }
KERNEL(convtensor_weight64, 128, 3)(void *dw, const element *x, const element *dy, Images g, Result r) { weight<64, 32, 32>(dw, x, dy, g, r); }
