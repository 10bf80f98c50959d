package kernels

import "github.com/quernlab/quern/accel/internal/engine/tensortype"

// images describes the tensors of a convolution; see conv.h.
type images struct {
	N, C, H, W, O, OH, OW, KH, KW uint32
	Groups                        uint32
	Stride, Padding, Dilation     [2]int32
	Plane, Line, Kernel, Width    divisor
	Strides                       [2]divisor
}

// Conv2D computes y [N, O, OH, OW] from x [N, C, H, W] and w [O, C/Groups, KH, KW], as
// ir.Conv2D does, or a gradient of it. Pairs are height and width. With TF32, tensor cores multiply the float32 factors
// rounded to TF32.
type Conv2D struct {
	DType                         tensortype.DType
	TF32                          bool
	N, C, H, W, O, OH, OW, KH, KW int
	Groups                        int
	Stride, Padding, Dilation     [2]int
}

func (o Conv2D) images(plane, line int) images {
	g := images{N: uint32(o.N), C: uint32(o.C / o.Groups), H: uint32(o.H), W: uint32(o.W), O: uint32(o.O / o.Groups), OH: uint32(o.OH), OW: uint32(o.OW),
		KH: uint32(o.KH), KW: uint32(o.KW), Groups: uint32(o.Groups),
		Plane: newDivisor(plane), Line: newDivisor(line), Kernel: newDivisor(o.KH * o.KW), Width: newDivisor(o.KW)}
	for i := range 2 {
		g.Stride[i], g.Padding[i], g.Dilation[i] = int32(o.Stride[i]), int32(o.Padding[i]), int32(o.Dilation[i])
		g.Strides[i] = newDivisor(o.Stride[i])
	}
	return g
}
