package tensor

import (
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

// Package tensors has what other packages of accel need of tensors and users do not.
func init() {
	tensors.Provide(tensors.Engine{
		Locked:    locked,
		WithScope: func(change func(*tensors.Scope), f func()) { withScope(func(s *scope) { change(&s.Scope) }, f) },
		Plain:     func(f func()) { NoGrad(func() { Autocast(Float32, f) }) },

		Seed:       seedGenerators,
		SetDevice:  setDevice,
		DeviceLost: deviceLost,
		GPUs:       listGPUs,
		Libraries:  listLibraries,
		AllowTF32:  allowTF32,
		TF32:       isTF32,
	}, &tensors.Access[*Tensor]{
		Value:           (*Tensor).value,
		HoldValue:       (*Tensor).holdValue,
		Holder:          func(t *Tensor) **ir.Value { return &t.v },
		Leaf:            func(t *Tensor) *ir.Leaf { return t.leaf },
		Wrap:            wrap,
		Metadata:        func(t *Tensor) *any { return &t.metadata },
		RecordAttention: attended,
		SyncBatchNorm:   syncBatchNorm,
		Run:             func(r tensors.Recurrence[*Tensor]) (y, h, c *Tensor) { return recurrence(r).run() },
		Record: func(op ir.Op, f func(*ir.Recorder, *ir.Value) *ir.Value, x *Tensor) *Tensor {
			return compute(op, func(r *ir.Recorder, v []*ir.Value) *ir.Value { return f(r, v[0]) }, x)
		},
		RecordKernel: func(name string, f func(*ir.Recorder, []*ir.Value) *ir.Value, in ...*Tensor) *Tensor {
			op := composite{name: name}
			return arrange(op, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
				y := f(r, v)
				shared().recordOp(op, v, y)
				return y
			}, in...)
		},
	})
}
