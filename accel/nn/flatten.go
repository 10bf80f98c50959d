package nn

// Flattening makes a vector of each example; [Flatten] makes it.
type Flattening struct{}

// Flatten joins all dimensions after the first: [N, 1, 28, 28] becomes
// [N, 784].
func Flatten() *Flattening { return &Flattening{} }

// Forward maps [N, …] to [N, product of …].
func (*Flattening) Forward(x *Tensor) *Tensor {
	if x.Rank() == 2 {
		return x
	}
	return x.Flatten(1)
}

func (*Flattening) private() bool { return true }

// String is the module as it is written in Go.
func (*Flattening) String() string { return "Flatten()" }
