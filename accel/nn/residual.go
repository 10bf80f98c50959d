package nn

// Skip adds a chain's output to its input; [Residual] makes it.
type Skip struct {
	chain *Chain
}

// Residual is x + f(x), where f is the modules one after the other (He et al.,
// 2016). Input and output of f must have shapes that can be added.
func Residual(layers ...Module) *Skip { return &Skip{Sequential(layers...)} }

// Forward adds the input to the output of the modules.
func (s *Skip) Forward(x *Tensor) *Tensor {
	y := s.chain.Forward(x)
	sum := x.Add(y)
	if y != x && s.private() {
		y.Release()
	}
	return sum
}

func (s *Skip) private() bool { return s.chain.private() }

func (s *Skip) parts() []Module { return s.chain.layers }

// String is the module as it is written in Go.
func (s *Skip) String() string { return "Residual" + list(s.chain.layers) }
