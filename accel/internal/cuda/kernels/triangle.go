package kernels

import "github.com/quernlab/quern/accel/internal/engine/ir"

type triangleParams struct {
	Y, X       Pointer
	Rows, M, N uint64
	Diagonal   int64
	Upper      uint32
}

func init() {
	register(planTriangle)
	addSized[triangleParams]("triangle", "triangle", copySizes)
}

func planTriangle(_ Planner, op ir.Triangle, s ir.Step) Launcher {
	shape, size := s.In[0].Shape, s.In[0].DType.Size()
	rows, n := splitLast(shape)
	p := triangleParams{Rows: uint64(rows), M: uint64(shape[len(shape)-2]), N: uint64(n), Diagonal: int64(op.Diagonal), Upper: flag(op.Upper)}
	return func(a Addresses) ([]Launch, error) {
		if rows*n == 0 {
			return nil, nil
		}
		p := p
		p.Y, p.X = a.Out[0], a.In[0]
		return []Launch{bySize[triangleParams]("triangle", "triangle", size).launch("any", linear(rows*n), p)}, nil
	}
}
