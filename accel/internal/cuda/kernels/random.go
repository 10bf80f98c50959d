package kernels

import "github.com/quernlab/quern/accel/internal/engine/ir"

type bernoulliParams struct {
	Y, Words Pointer
	N        uint64
}

var (
	bernoulli = declare[bernoulliParams]("random", "bernoulli", moves, 256)
)

// Bernoulli is ir.Bernoulli for N elements. words are the op's four words, in device
// memory.
type Bernoulli struct{ N int }

// Launches computes y.
func (o Bernoulli) Launches(y, words Pointer) []Launch {
	if o.N == 0 {
		return nil
	}
	return []Launch{bernoulli.launch("any", linear(ceil(o.N, 4)), bernoulliParams{y, words, uint64(o.N)})}
}

func init() {
	register(planBernoulli)
}

func planBernoulli(_ Planner, _ ir.Bernoulli, s ir.Step) Launcher {
	o := Bernoulli{N: ir.Len(s.Out[0].Shape)}
	return func(a Addresses) ([]Launch, error) { return o.Launches(a.Out[0], a.Word), nil }
}
