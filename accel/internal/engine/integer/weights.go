package integer

// Weights are the 8-bit weights of a linear layer that computes in floating point:
// w[o, i] ≈ Step[o]·Weight[o·In+i].
type Weights struct {
	Out, In int
	Weight  []int8
	Step    []float32

	cache
}
