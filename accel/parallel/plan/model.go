package plan

// Model is what a step of a model costs.
type Model struct {
	// Name of the model, for the report.
	Name string
	// Blocks in the order of the forward pass. A pipeline divides a model between blocks.
	Blocks []Block
	// Precision of weights, gradients, optimizer state and activations.
	Precision Precision
	// Heads is a number that the size of tensor parallelism must divide, such as that of attention heads; 0 for any.
	Heads int
	// Modules is how many parts [parallel.Distribute] can divide the model into for a pipeline, without several chunks on a rank; 0 if it is
	// trained by another program, which can divide it between all blocks and has chunks.
	Modules int
	// Tokens in an example; 0 if it is not a sequence.
	Tokens int
	// Update is the measured time in seconds of an optimizer step of the whole model; 0 computes it from the
	// bytes that it reads and writes.
	Update float64

	wrong string // of the Transformer that it was made from; empty if nothing is
}

// Block is a part of a model that a pipeline does not divide: a layer, or a block of a transformer. All
// quantities other than Parameters are of one example.
type Block struct {
	Name       string  // for errors
	Parameters float64 // number of elements
	Tied       float64 // elements of the first block that this one uses as well; in a pipeline both stages have and update them
	Forward    Work    // of the forward pass
	Backward   Work    // of the backward pass, without recomputation
	Attention  Work    // the part of Forward that [RecomputeAttention] repeats
	Kept       Kept    // activations that the backward pass needs
	Output     float64 // bytes that the next block gets
	Divisible  bool    // tensor parallelism divides parameters, work and activations
	Reduced    float64 // bytes that tensor parallelism all-reduces in each direction
}

// Work is computation.
type Work struct {
	FLOPs          float64 // floating-point operations of matrix multiplications and convolutions
	AttentionFLOPs float64 // those between queries, keys and values, which run in 16-bit floats also in [FP8]
	Bytes          float64 // memory traffic of the other ops
	WholeBytes     float64 // memory traffic that tensor parallelism divides only with Layout.SequenceParallel
	Seconds        float64 // measured; added to the time of the other fields
}

func (w Work) plus(v Work) Work {
	return Work{w.FLOPs + v.FLOPs, w.AttentionFLOPs + v.AttentionFLOPs, w.Bytes + v.Bytes, w.WholeBytes + v.WholeBytes, w.Seconds + v.Seconds}
}

func (w Work) times(f float64) Work {
	return Work{f * w.FLOPs, f * w.AttentionFLOPs, f * w.Bytes, f * w.WholeBytes, f * w.Seconds}
}

// Kept is the bytes of the activations of a block.
type Kept struct {
	Divided   float64 // by tensor parallelism
	Whole     float64 // divided only with Layout.SequenceParallel
	Attention float64 // divided by tensor parallelism, and not kept with [RecomputeAttention]
}

// Precision is the size of what a rank stores.
type Precision struct {
	Type                                      string  // of the operands of matrix multiplications, a key of GPU.FLOPs
	Weights, Gradients, Optimizer, Activation float64 // bytes of each parameter, and of each element of an activation
}

// BF16 is bfloat16 weights and activations, with float32 gradients and float32 master weights and moments of Adam
// in the optimizer, as in Megatron-LM.
func BF16() Precision {
	return Precision{Type: BFloat16, Weights: 2, Gradients: 4, Optimizer: 12, Activation: 2}
}

// FP8 is [BF16] with matrix multiplications of 8-bit floats, apart from those of attention.
func FP8() Precision {
	p := BF16()
	p.Type = Float8
	return p
}

// FP32 is float32 with Adam.
func FP32() Precision {
	return Precision{Type: Float32, Weights: 4, Gradients: 4, Optimizer: 8, Activation: 4}
}

// Parameters returns the number of parameters.
func (m Model) Parameters() float64 {
	total := 0.0
	for _, b := range m.Blocks {
		total += b.Parameters
	}
	return total
}

// FLOPs returns the floating-point operations of a forward and a backward pass of one example, by the convention of the
// model FLOPs utilization (MFU): three times those of the forward pass, without recomputation.
func (m Model) FLOPs() float64 {
	total := 0.0
	for _, b := range m.Blocks {
		total += 3 * (b.Forward.FLOPs + b.Forward.AttentionFLOPs)
	}
	return total
}
