package host

import (
	"math"

	"github.com/quernlab/quern/accel/internal/cpu"
	"github.com/quernlab/quern/accel/kernel/internal/program"
)

type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

type float interface{ float32 | float64 }

type number interface{ integer | float }

// loops compute an op for threads: dense for all elements of slices with the same length, and sparse for those of a list. Each element is
// rounded and wrapped as Go does it for the type.
type loops[D, T any] struct {
	dense  func(d []D, x, y []T)
	sparse func(d []D, x, y []T, list []int32)
	exact  bool // only the values of the threads may be computed
}

// numberLoops are those of numbers; integers have more.
func numberLoops[T number](op program.Op) (l loops[T, T], ok bool) {
	switch op {
	case program.Add:
		return loops[T, T]{dense: func(d, x, y []T) {
			x, y = x[:len(d)], y[:len(d)]
			for i := range d {
				d[i] = x[i] + y[i]
			}
		}, sparse: func(d, x, y []T, list []int32) {
			for _, k := range list {
				d[k] = x[k] + y[k]
			}
		}}, true
	case program.Sub:
		return loops[T, T]{dense: func(d, x, y []T) {
			x, y = x[:len(d)], y[:len(d)]
			for i := range d {
				d[i] = x[i] - y[i]
			}
		}, sparse: func(d, x, y []T, list []int32) {
			for _, k := range list {
				d[k] = x[k] - y[k]
			}
		}}, true
	case program.Mul:
		return loops[T, T]{dense: func(d, x, y []T) {
			x, y = x[:len(d)], y[:len(d)]
			for i := range d {
				d[i] = x[i] * y[i]
			}
		}, sparse: func(d, x, y []T, list []int32) {
			for _, k := range list {
				d[k] = x[k] * y[k]
			}
		}}, true
	case program.Div:
		return loops[T, T]{dense: func(d, x, y []T) {
			x, y = x[:len(d)], y[:len(d)]
			for i := range d {
				d[i] = x[i] / y[i]
			}
		}, sparse: func(d, x, y []T, list []int32) {
			for _, k := range list {
				d[k] = x[k] / y[k]
			}
		}}, true
	case program.Min:
		return loops[T, T]{dense: func(d, x, y []T) {
			x, y = x[:len(d)], y[:len(d)]
			for i := range d {
				d[i] = min(x[i], y[i])
			}
		}, sparse: func(d, x, y []T, list []int32) {
			for _, k := range list {
				d[k] = min(x[k], y[k])
			}
		}}, true
	case program.Max:
		return loops[T, T]{dense: func(d, x, y []T) {
			x, y = x[:len(d)], y[:len(d)]
			for i := range d {
				d[i] = max(x[i], y[i])
			}
		}, sparse: func(d, x, y []T, list []int32) {
			for _, k := range list {
				d[k] = max(x[k], y[k])
			}
		}}, true
	}
	return l, false
}

func integerLoops[T integer](op program.Op) (l loops[T, T], ok bool) {
	switch op {
	case program.Rem:
		return loops[T, T]{dense: func(d, x, y []T) {
			x, y = x[:len(d)], y[:len(d)]
			for i := range d {
				d[i] = x[i] % y[i]
			}
		}, sparse: func(d, x, y []T, list []int32) {
			for _, k := range list {
				d[k] = x[k] % y[k]
			}
		}}, true
	case program.And:
		return loops[T, T]{dense: func(d, x, y []T) {
			x, y = x[:len(d)], y[:len(d)]
			for i := range d {
				d[i] = x[i] & y[i]
			}
		}, sparse: func(d, x, y []T, list []int32) {
			for _, k := range list {
				d[k] = x[k] & y[k]
			}
		}}, true
	case program.Or:
		return loops[T, T]{dense: func(d, x, y []T) {
			x, y = x[:len(d)], y[:len(d)]
			for i := range d {
				d[i] = x[i] | y[i]
			}
		}, sparse: func(d, x, y []T, list []int32) {
			for _, k := range list {
				d[k] = x[k] | y[k]
			}
		}}, true
	case program.Xor:
		return loops[T, T]{dense: func(d, x, y []T) {
			x, y = x[:len(d)], y[:len(d)]
			for i := range d {
				d[i] = x[i] ^ y[i]
			}
		}, sparse: func(d, x, y []T, list []int32) {
			for _, k := range list {
				d[k] = x[k] ^ y[k]
			}
		}}, true
	case program.AndNot:
		return loops[T, T]{dense: func(d, x, y []T) {
			x, y = x[:len(d)], y[:len(d)]
			for i := range d {
				d[i] = x[i] &^ y[i]
			}
		}, sparse: func(d, x, y []T, list []int32) {
			for _, k := range list {
				d[k] = x[k] &^ y[k]
			}
		}}, true
	}
	return numberLoops[T](op)
}

// compareLoops are those of comparisons, whose results are 0 or 1.
func compareLoops[T number](op program.Op) loops[uint8, T] {
	switch op {
	case program.Eq:
		return loops[uint8, T]{dense: func(d []uint8, x, y []T) {
			x, y = x[:len(d)], y[:len(d)]
			for i := range d {
				d[i] = truth(x[i] == y[i])
			}
		}, sparse: func(d []uint8, x, y []T, list []int32) {
			for _, k := range list {
				d[k] = truth(x[k] == y[k])
			}
		}}
	case program.Ne:
		return loops[uint8, T]{dense: func(d []uint8, x, y []T) {
			x, y = x[:len(d)], y[:len(d)]
			for i := range d {
				d[i] = truth(x[i] != y[i])
			}
		}, sparse: func(d []uint8, x, y []T, list []int32) {
			for _, k := range list {
				d[k] = truth(x[k] != y[k])
			}
		}}
	case program.Lt:
		return loops[uint8, T]{dense: func(d []uint8, x, y []T) {
			x, y = x[:len(d)], y[:len(d)]
			for i := range d {
				d[i] = truth(x[i] < y[i])
			}
		}, sparse: func(d []uint8, x, y []T, list []int32) {
			for _, k := range list {
				d[k] = truth(x[k] < y[k])
			}
		}}
	}
	return loops[uint8, T]{dense: func(d []uint8, x, y []T) {
		x, y = x[:len(d)], y[:len(d)]
		for i := range d {
			d[i] = truth(x[i] <= y[i])
		}
	}, sparse: func(d []uint8, x, y []T, list []int32) {
		for _, k := range list {
			d[k] = truth(x[k] <= y[k])
		}
	}}
}

func truth(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// mapping is the loops of a function.
func mapping[D, T any](f func(T) D) loops[D, T] {
	return loops[D, T]{dense: func(d []D, x, _ []T) {
		for i, v := range x[:len(d)] {
			d[i] = f(v)
		}
	}, sparse: func(d []D, x, _ []T, list []int32) {
		for _, k := range list {
			d[k] = f(x[k])
		}
	}}
}

var arithmetic = cpu.NewArithmetic()

// vectorized are the dense loops of float32 with vector instructions.
var vectorized = map[program.Op]func(d, x, y []float32){
	program.Add: arithmetic.Add, program.Sub: arithmetic.Sub, program.Mul: arithmetic.Mul, program.Div: arithmetic.Div,
}

// unaryLoops are those of ops with one operand.
func unaryLoops[T number](op program.Op) loops[T, T] {
	if op == program.Neg {
		return loops[T, T]{dense: func(d, x, _ []T) {
			x = x[:len(d)]
			for i := range d {
				d[i] = -x[i]
			}
		}, sparse: func(d, x, _ []T, list []int32) {
			for _, k := range list {
				d[k] = -x[k]
			}
		}}
	}
	var ones T // all bits are 1; floats have no complement
	ones--
	return mapping(func(x T) T { return ones - x })
}

// shiftLoops shift by counts, which may be larger than the width.
func shiftLoops[T integer](op program.Op) (dense func(d, x []T, n []uint64), sparse func(d, x []T, n []uint64, list []int32)) {
	if op == program.Shl {
		return func(d, x []T, n []uint64) {
				x, n = x[:len(d)], n[:len(d)]
				for i := range d {
					d[i] = x[i] << n[i]
				}
			}, func(d, x []T, n []uint64, list []int32) {
				for _, k := range list {
					d[k] = x[k] << n[k]
				}
			}
	}
	return func(d, x []T, n []uint64) {
			x, n = x[:len(d)], n[:len(d)]
			for i := range d {
				d[i] = x[i] >> n[i]
			}
		}, func(d, x []T, n []uint64, list []int32) {
			for _, k := range list {
				d[k] = x[k] >> n[k]
			}
		}
}

var functions = map[string]func(float64) float64{
	"Abs": math.Abs, "Sqrt": math.Sqrt, "Floor": math.Floor, "Ceil": math.Ceil, "Trunc": math.Trunc, "RoundToEven": math.RoundToEven,
	"Exp": math.Exp, "Expm1": math.Expm1, "Log": math.Log, "Sin": math.Sin, "Cos": math.Cos, "Tanh": math.Tanh, "Erf": math.Erf,
}
