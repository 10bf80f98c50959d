package kernels

import "github.com/quernlab/quern/accel/internal/ir"

type argSortParams struct {
	Y, X       Pointer
	Rows, N, K uint64
	Descending uint32
}

var argSort = declare[argSortParams]("argsort", "argsort", reals, 256)

func init() {
	register(planArgSort)
}

func planArgSort(_ Planner, op ir.ArgSort, s ir.Step) Launcher {
	rows, n := splitLast(s.In[0].Shape)
	return func(a Addresses) ([]Launch, error) {
		if rows*op.K == 0 {
			return nil, nil
		}
		return []Launch{argSort.launch(real(s.In[0].DType), linear(rows*n), argSortParams{a.Out[0], a.In[0], uint64(rows), uint64(n), uint64(op.K), flag(op.Descending)})}, nil
	}
}
