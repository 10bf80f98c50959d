package integer

// Weights are those of a linear layer that computes with floats:
// w[o, i] ≈ Step[o]·Weight[o·In+i].
type Weights struct {
	Out, In int
	Weight  []int8
	Step    []float32

	cache
}
