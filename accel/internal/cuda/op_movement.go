package cuda

import (
	"math"

	"github.com/quernlab/quern/accel/internal/cuda/kernels"
	"github.com/quernlab/quern/accel/internal/ir"
)

func init() {
	register(move[ir.Copy])
	register(move[ir.Reshape])
	register(cast)
	register(compare[ir.Eq])
	register(compare[ir.Greater])
	register(concat)
	register(pad)
	register(gather)
	register(scatterAdd)
	register(oneHot)
	register(index)
	register(finite)
	register(bernoulli)
}

func move[O ir.Op](_ *program, _ O, s ir.Step) launcher {
	o := kernels.Copy{Size: s.In[0].DType.Size(), Layout: s.In[0].Layout}
	return func(a addresses) ([]kernels.Launch, error) { return o.Launches(a.out[0], a.in[0]) }
}

func cast(_ *program, _ ir.Cast, s ir.Step) launcher {
	o := kernels.Cast{From: s.In[0].DType, To: s.Out[0].DType, Layout: s.In[0].Layout}
	return func(a addresses) ([]kernels.Launch, error) { return o.Launches(a.out[0], a.in[0]) }
}

func compare[O ir.Op](_ *program, _ O, s ir.Step) launcher {
	a, b, y := s.In[0], s.In[1], s.Out[0]
	_, greater := s.Op.(ir.Greater)
	o := kernels.Compare{DType: a.DType, Greater: greater, A: a.BroadcastTo(y.Shape), B: b.BroadcastTo(y.Shape)}
	return func(a addresses) ([]kernels.Launch, error) { return o.Launches(a.out[0], a.in[0], a.in[1]) }
}

func concat(_ *program, op ir.Concat, s ir.Step) launcher {
	o := kernels.Concat{Outer: ir.Len(s.Out[0].Shape[:op.Axis])}
	for _, in := range s.In {
		o.Bytes = append(o.Bytes, ir.Len(in.Shape[op.Axis:])*in.DType.Size())
	}
	return func(a addresses) ([]kernels.Launch, error) { return o.Launches(a.out[0], a.in), nil }
}

func pad(_ *program, op ir.Pad, s ir.Step) launcher {
	x := s.In[0]
	outer, n, inner := splitAround(x.Shape, op.Axis, op.Axis+1)
	inner *= x.DType.Size()
	o := kernels.Pad{Outer: outer, N: n * inner, Before: op.Before * inner, Size: op.Size * inner}
	return func(a addresses) ([]kernels.Launch, error) { return o.Launches(a.out[0], a.in[0]), nil }
}

func gather(p *program, _ ir.IndexSelect, s ir.Step) launcher {
	x, pick := s.In[0], s.In[1]
	o := kernels.Gather{Count: ir.Len(pick.Shape), Rows: x.Shape[0], Row: ir.Len(x.Shape[1:]) * x.DType.Size()}
	p.check(indices("IndexSelect", o.Rows))
	return func(a addresses) ([]kernels.Launch, error) {
		return o.Launches(a.out[0], a.in[0], a.in[1], a.fault), nil
	}
}

func scatterAdd(p *program, _ ir.IndexAdd, s ir.Step) launcher {
	pick, y := s.In[1], s.Out[0]
	o := kernels.ScatterAdd{DType: y.DType, N: ir.Len(pick.Shape), Rows: y.Shape[0], Length: ir.Len(y.Shape[1:])}
	p.needWorkspace(o.Workspace())
	p.check(indices("IndexAdd", o.Rows))
	return func(a addresses) ([]kernels.Launch, error) {
		return o.Launches(a.out[0], a.in[0], a.in[1], a.fault, a.work), nil
	}
}

func oneHot(p *program, op ir.OneHot, s ir.Step) launcher {
	o := kernels.OneHot{Count: ir.Len(s.In[0].Shape), Classes: op.Classes}
	p.check(indices("OneHot", o.Classes))
	return func(a addresses) ([]kernels.Launch, error) { return o.Launches(a.out[0], a.in[0], a.fault), nil }
}

// index converts int64 indices to int32 and checks their range; the fault has the int64
// value, since one out of range may not fit int32.
func index(p *program, op ir.Index, s ir.Step) launcher {
	o := kernels.Index{N: ir.Len(s.In[0].Shape), Size: op.Size}
	p.check(func(fault uint64, value int64) error {
		if fault == kernels.NoFault {
			return nil
		}
		return &ir.IndexError{Op: op.For, Index: int(value), Size: op.Size}
	})
	return func(a addresses) ([]kernels.Launch, error) {
		return o.Launches(a.out[0], a.in[0], a.fault, a.fault+8), nil
	}
}

func finite(p *program, op ir.Finite, s ir.Step) launcher {
	x, y, what := s.In[0], s.Out[0], op.What
	o := kernels.Finite{DType: y.DType, N: ir.Len(x.Shape)}
	row := kernels.Copy{Size: x.DType.Size(), Layout: x.Layout}
	p.check(func(fault uint64, _ int64) error {
		element, kind, wrong := kernels.Fault(fault)
		if !wrong {
			return nil
		}
		return &ir.NonFiniteError{What: what, Element: element, Value: map[int32]float64{1: math.NaN(), 2: math.Inf(1), 3: math.Inf(-1)}[kind]}
	})
	return func(a addresses) ([]kernels.Launch, error) {
		if x.Contiguous() {
			return o.Launches(a.out[0], a.in[0], a.fault), nil
		}
		out, err := row.Launches(a.out[0], a.in[0])
		return append(out, o.Launches(a.out[0], a.out[0], a.fault)...), err
	}
}

func bernoulli(_ *program, _ ir.Bernoulli, s ir.Step) launcher {
	o := kernels.Bernoulli{N: ir.Len(s.Out[0].Shape)}
	return func(a addresses) ([]kernels.Launch, error) { return o.Launches(a.out[0], a.word), nil }
}
