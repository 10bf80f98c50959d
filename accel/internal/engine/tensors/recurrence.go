package tensors

import "github.com/quernlab/quern/accel/internal/engine/ir"

// Recurrence is one layer of a recurrent network in one direction, for N sequences of T steps and H
// hidden units: the cells of PyTorch's RNN, LSTM and GRU, with the gates in the same order. [Recurrence.Run] computes it.
//
// A cell computes the next state h' from the previous state h. Here x is the part of the gates that the input
// determines, g = x + Weight·h, and σ is the sigmoid:
//
//	TanhCell  h' = tanh(g)
//	ReLUCell  h' = max(g, 0)
//	LSTMCell  gates i, f, g, o, and a second state c
//	          c' = σ(f)·c + σ(i)·tanh(g)
//	          h' = σ(o)·tanh(c')
//	GRUCell   gates r, z, n, of which n is computed from the parts of the input and of the previous state,
//	          with the bias b of the latter
//	          n  = tanh(xₙ + σ(r)·(Weightₙ·h + bₙ))
//	          h' = (1 - σ(z))·n + σ(z)·h
type Recurrence[T any] struct {
	Cell   ir.Cell // the kind of layer, which determines the number of gates
	X      T       // [T, N, gates·H]: the input's part of the gates, with all biases but Bias
	Weight T       // [gates·H, H]: of the previous state
	Bias   T       // [gates·H] of a GRUCell: added to Weight·h; nil for none and for other cells

	H, C T // [N, H]: the initial state, nil for zeros; only an LSTMCell has C

	// Lengths [N], of type int32, is the number of steps of each sequence; later steps are padding,
	// which leaves the state as it is and for which the output is 0. A length outside of 1..T is an
	// *IndexError. nil means that all T are valid.
	Lengths T
	Reverse bool // begins with the last step
}

// Run returns the state after each step, y [T, N, H], and the final state h [N, H] and c [N, H],
// which is nil unless the cell is an LSTMCell. It panics with a *ShapeError, a *DTypeError or an
// *IndexError if the tensors do not fit together.
func (r Recurrence[T]) Run() (y, h, c T) { return of[T]().Run(r) }
