// conv: Conv2D and its gradients as implicit GEMM (conv.h) in tiles of 64×64.
//
// Bound by arithmetic, 2·N·O·OH·OW·C/groups·KH·KW operations each; with few channels, by
// the bytes of the images. With a stride, the gradient of the input visits all of the
// kernel's elements and skips those that no window met. The grid's z is the group.
//
// variants: f32 f64
#include "conv.h"
#include "simt.h"

// y [N, O, OH, OW]
KERNEL(conv_forward, 256, 2)(real *y, const real *x, const real *w, Images g, Result r) {
  u32 group = blockZ(), depth = g.c * g.kernel.by;
  Strided<real> a = {w + (u64)group * g.o * depth, (i64)depth, 1, g.o, depth};
  WindowRows<real> b(x + (u64)group * g.c * g.h * g.w, g);
  if (r.bias) r.bias += (u64)group * g.o * sizeof(real);
  simtProduct<real, 64, 64, 4, 4, true, false>(y, a, b, g.o, g.n * g.plane.by, depth, r, group);
}

// dx [N, C, H, W]
KERNEL(conv_input, 256, 2)(real *dx, const real *dy, const real *w, Images g, Result r) {
  u32 group = blockZ(), depth = g.o * g.kernel.by;
  WeightRows<real> a = {w + (u64)group * g.o * g.c * g.kernel.by, g};
  Slopes<real> b = {dy + (u64)group * g.o * g.oh * g.ow, g};
  simtProduct<real, 64, 64, 4, 4, true, false>(dx, a, b, g.c, g.n * g.plane.by, depth, r, group);
}

// dw [O, C/groups, KH, KW]
KERNEL(conv_weight, 256, 2)(real *dw, const real *x, const real *dy, Images g, Result r) {
  u32 group = blockZ(), depth = g.n * g.plane.by;
  SlopeRows<real> a = {dy + (u64)group * g.o * g.oh * g.ow, g};
  ElementRows<real> b(x + (u64)group * g.c * g.h * g.w, g);
  simtProduct<real, 64, 64, 4, 4, true, true>(dw, a, b, g.o, g.c * g.kernel.by, depth, r, group);
}
