package cuda

import (
	"fmt"

	"github.com/quernlab/quern/accel/internal/cuda/kernels"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// Multiplies16Bit reports whether tensor cores compute an op.
func (d *Device) Multiplies16Bit(op ir.Op, t ir.DType, factors []ir.Layout) bool {
	switch op.(type) {
	case ir.MatMul, ir.Linear, ir.Conv2D, ir.Conv2DInputGradient, ir.Conv2DWeightGradient:
		return true
	case ir.Attention, ir.AttentionGradient:
		if d.libraries.Variants.NoFlash {
			return false
		}
		o := kernels.TensorAttention{Attention: kernels.Attention{DType: t, Q: factors[0], K: factors[1], V: factors[2]}}
		slopes := len(factors) == 4 && factors[3].Contiguous() && factors[3].Offset%8 != 0
		return !slopes && o.Fits([3]int{factors[0].Offset, factors[1].Offset, factors[2].Offset})
	}
	return false
}

// Reads16Bit reports whether kernels read an input in 16 bits: all but the parameters, the labels,
// and a scalar.
func (d *Device) Reads16Bit(op ir.Op, input int) bool {
	if d.libraries.Variants.NoReads {
		return false
	}
	switch op.(type) {
	case ir.LayerNorm, ir.RMSNorm, ir.Softmax, ir.LogSoftmax, ir.CrossEntropy, ir.CrossEntropyGradient, ir.Sum,
		ir.BatchNorm, ir.BatchStatistics, ir.MaxPool2D, ir.AvgPool2D, ir.AvgPool2DGradient:
		return input == 0
	case ir.LayerNormInputGradient, ir.RMSNormInputGradient, ir.LayerNormWeightGradient, ir.RMSNormWeightGradient, ir.Recurrent,
		ir.BatchNormSums, ir.BatchNormInputGradient:
		return input < 2
	case ir.MaxPool2DGradient:
		return true
	case ir.RecurrentGradient:
		return input == 1 || input == 2
	}
	return false
}

// Writes16Bit reports whether kernels round the result of an op to 16 bits.
func (d *Device) Writes16Bit(op ir.Op) bool {
	if d.libraries.Variants.NoReads {
		return false
	}
	switch op.(type) {
	case ir.LayerNorm, ir.RMSNorm, ir.Softmax, ir.LogSoftmax, ir.CrossEntropyGradient, ir.Sum, ir.LayerNormInputGradient, ir.RMSNormInputGradient,
		ir.BatchNorm, ir.BatchNormInputGradient, ir.MaxPool2D, ir.MaxPool2DGradient, ir.AvgPool2D, ir.AvgPool2DGradient, ir.Attention:
		return true
	}
	return false
}

// MultipliesSlope reports whether matrix multiplications multiply with the slope of an activation.
func (d *Device) MultipliesSlope(gradient ir.Op, product ir.DType) bool {
	return !d.libraries.Variants.NoFusion && kernels.SlopeOf(gradient) != 0 && (product == ir.Float32 || product.Is16Bit())
}

// Activates reports whether matrix multiplications apply an activation and can store its argument, too.
func (d *Device) Activates(activation ir.Op, product ir.DType) bool {
	return !d.libraries.Variants.NoFusion && kernels.Activates(activation) && (product == ir.Float32 || product.Is16Bit())
}

// ChannelsLast reports whether kernels compute an op on images that have the channels last in memory.
// Tensor cores convolve those of 16-bit floats; cuDNN copies others before and after.
func (d *Device) ChannelsLast(op ir.Op) bool {
	if d.libraries.Variants.NoLayout {
		return false
	}
	switch op.(type) {
	case ir.Conv2D, ir.Conv2DInputGradient, ir.Conv2DWeightGradient, ir.BatchNorm, ir.BatchStatistics, ir.BatchNormSums, ir.BatchNormInputGradient,
		ir.MaxPool2D, ir.MaxPool2DGradient, ir.AvgPool2D, ir.AvgPool2DGradient:
		return true
	}
	return false
}

// SumsFactors reports whether matrix multiplications also sum a factor of a type: TF32 would be rounded.
func (d *Device) SumsFactors(factor ir.DType) bool {
	return !d.libraries.Variants.NoFusion && (factor == ir.Float64 || factor == ir.Float32 && !d.tf32 || factor.Is16Bit())
}

// SetTF32 sets whether float32 matrix multiplications and convolutions that are compiled
// from now on round their inputs to TF32, for tensor cores.
func (d *Device) SetTF32(on bool) { d.tf32 = on }

// RunsBatches reports that one kernel computes the fused kernels of many parameters.
func (d *Device) RunsBatches() bool { return !d.libraries.Variants.NoBatches }

// FusesNorms reports that kernels of norms also compute the sums before them, the gradients of the
// parameters and what is added to that of x.
func (d *Device) FusesNorms() bool { return !d.libraries.Variants.NoFusion }

// FusesLosses reports that the kernel of a cross-entropy's gradient also computes the loss.
func (d *Device) FusesLosses() bool { return !d.libraries.Variants.NoFusion }

// FusedKernelsRound reports that fused kernels can write 16-bit floats.
func (d *Device) FusedKernelsRound() bool { return true }

// The least compute capability and version of CUDA with 8-bit floats, and the only
// capability with wgmma.
const (
	minFP8Capability = 89
	minFP8CUDA       = 12040
	hopperCapability = 90
)

// MultipliesFP8 returns why the GPU cannot multiply 8-bit floats; nil if it can.
func (d *Device) MultipliesFP8() error {
	i := d.ctx.Info()
	if i.Capability() < minFP8Capability {
		return fmt.Errorf("%s is of compute capability %d.%d, and 8-bit floats need 8.9 or more", d.name, i.Major, i.Minor)
	}
	if i.CUDA < minFP8CUDA {
		return fmt.Errorf("%s: the NVIDIA driver supports CUDA %d.%d, and 8-bit floats need 12.4 or later; update the driver", d.name, i.CUDA/1000, i.CUDA%1000/10)
	}
	return nil
}
