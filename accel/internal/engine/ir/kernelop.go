package ir

// KernelOp is a kernel of the program as an op. All elements of its result are 0 when the kernel begins.
type KernelOp struct {
	wholeOp
	Kernel Kernel
	Key    []byte // equal for kernels that compute the same
	Result Type
	At     int // the position of the result among the tensors of the kernel
	// Back records the gradients, as Gradient does; nil for a kernel that is itself part of a gradient.
	Back func(r *Recorder, in []*Value, out, dy *Value, wants []bool) []*Value
}

// Name returns "kernel" and the name of the kernel, which no other op has.
func (o KernelOp) Name() string { return "kernel " + o.Kernel.Name() }

// AppendKey appends Key.
func (o KernelOp) AppendKey(key []byte) []byte { return append(appendInts(key, len(o.Key)), o.Key...) }

// Infer returns Result.
func (o KernelOp) Infer([]*Value) (Type, error) { return o.Result, nil }

// Gradient records the gradients.
func (o KernelOp) Gradient(r *Recorder, in []*Value, out, dy *Value, wants []bool) []*Value {
	return o.Back(r, in, out, dy, wants)
}

func (KernelOp) noONNX() string  { return "it is a kernel of the program" }
func (KernelOp) perElement() int { return 0 } // unknown

// Tensors returns the operands of a step in the order of the kernel's tensors.
func (o KernelOp) Tensors(s Step) []Operand {
	all := append([]Operand{}, s.In[:o.At]...)
	return append(append(all, s.Out[0]), s.In[o.At:]...)
}
