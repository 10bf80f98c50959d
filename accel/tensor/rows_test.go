package tensor

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// opRow is a test of one op against its reference. Each trial uses other sizes m, n and k.
type opRow struct {
	name      string
	shapes    func(m, n, k int) [][]int
	low, high float64 // range of the inputs
	f         func(in []*Tensor) *Tensor
	ref       func(in []array) array
	scalar    func(x []float64) float64 // the reference of an elementwise op on one element, or nil
	noGrad    bool
	nonEmpty  bool // the op does not accept sizes of 0

	// torch is PyTorch's expression of the inputs a, b, c, …, or "" if make_ops.py has the case.
	// The script finds it here and writes its result and gradients to ops.json: for inputs of the
	// sizes 2, 3 and 4, and for each of examples.
	torch    string
	examples [][]array
	// invalid are calls that must panic with a typed error of the op, the first word of name.
	invalid []func()
}

// like returns the row with PyTorch's expression and examples.
func (r opRow) like(torch string, examples ...[]array) opRow {
	r.torch, r.examples = torch, examples
	return r
}

// addOp adds the rows of an op; its test file calls it.
func addOp(rows ...opRow) { opRows = append(opRows, rows...) }

func oneShape(m, n, k int) [][]int { return [][]int{{m, n}} }
func sameShapes(m, n, k int) [][]int {
	return [][]int{{m, n}, {m, n}}
}

func unaryRow(name string, low, high float64, f func(*Tensor) *Tensor, ref func(float64) float64) opRow {
	return opRow{name: name, shapes: oneShape, low: low, high: high, ref: mapRef(ref), scalar: func(x []float64) float64 { return ref(x[0]) },
		f: func(in []*Tensor) *Tensor { return f(in[0]) }}
}

func binaryRow(name string, low, high float64, f func(a, b *Tensor) *Tensor, ref func(a, b float64) float64) opRow {
	return opRow{name: name, shapes: sameShapes, low: low, high: high, ref: zipRef(ref), scalar: func(x []float64) float64 { return ref(x[0], x[1]) },
		f: func(in []*Tensor) *Tensor { return f(in[0], in[1]) }}
}

func step(x float64) float64 {
	if x > 0 {
		return 1
	}
	return 0
}

var opRows = withFormulas(slices.Concat([]opRow{
	unaryRow("Neg", -2, 2, (*Tensor).Neg, func(x float64) float64 { return -x }),
	unaryRow("Exp", -3, 3, (*Tensor).Exp, math.Exp),
	unaryRow("Log", 0.2, 3, (*Tensor).Log, math.Log),
	unaryRow("Sqrt", 0.2, 3, (*Tensor).Sqrt, math.Sqrt),
	unaryRow("Square", -2, 2, (*Tensor).Square, func(x float64) float64 { return x * x }),
	unaryRow("Abs", -2, 2, (*Tensor).Abs, math.Abs),
	unaryRow("Tanh", -3, 3, (*Tensor).Tanh, math.Tanh),
	unaryRow("Sigmoid", -5, 5, (*Tensor).Sigmoid, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }),
	unaryRow("ReLU", -2, 2, (*Tensor).ReLU, func(x float64) float64 { return math.Max(x, 0) }),
	unaryRow("GELU", -4, 4, (*Tensor).GELU, func(x float64) float64 { return x * normalRef(x) }),
	unaryRow("GELUTanh", -4, 4, (*Tensor).GELUTanh, func(x float64) float64 {
		return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
	}),
	unaryRow("AddScalar", -2, 2, func(t *Tensor) *Tensor { return t.AddScalar(1.25) }, func(x float64) float64 { return x + 1.25 }),
	unaryRow("MulScalar", -2, 2, func(t *Tensor) *Tensor { return t.MulScalar(-0.75) }, func(x float64) float64 { return x * -0.75 }),
	unaryRow("PowScalar", 0.2, 2, func(t *Tensor) *Tensor { return t.PowScalar(2.5) }, func(x float64) float64 { return math.Pow(x, 2.5) }),
	unaryRow("Chain", -2, 2, func(t *Tensor) *Tensor { return t.Square().AddScalar(1).Sqrt().Mul(t.Tanh()).Sub(t) },
		func(x float64) float64 { return math.Sqrt(x*x+1)*math.Tanh(x) - x }),
	binaryRow("Add", -2, 2, (*Tensor).Add, func(a, b float64) float64 { return a + b }),
	binaryRow("Sub", -2, 2, (*Tensor).Sub, func(a, b float64) float64 { return a - b }),
	binaryRow("Mul", -2, 2, (*Tensor).Mul, func(a, b float64) float64 { return a * b }),
	binaryRow("Div", 0.5, 2, (*Tensor).Div, func(a, b float64) float64 { return a / b }),
	binaryRow("Maximum", -2, 2, (*Tensor).Maximum, math.Max),
}, broadcastRows(), reduceRows(), moveRows(), matmulRows(), convRows(), poolRows(), normRows(), attentionRows(), elementwiseRows(), statisticsRows(), recurrenceRows(),
	smoothRows(), indexRows(), rearrangedRows(), foldedRows()))

func broadcastRows() []opRow {
	var rows []opRow
	shapes := map[string]func(m, n, k int) [][]int{
		"row":    func(m, n, k int) [][]int { return [][]int{{m, n}, {n}} },
		"column": func(m, n, k int) [][]int { return [][]int{{m, n}, {m, 1}} },
		"scalar": func(m, n, k int) [][]int { return [][]int{{}, {m, n}} },
		"outer":  func(m, n, k int) [][]int { return [][]int{{m, 1}, {1, n}} },
		"middle": func(m, n, k int) [][]int { return [][]int{{m, n, k}, {m, 1, k}} },
	}
	for _, name := range []string{"row", "column", "scalar", "outer", "middle"} {
		for _, r := range []opRow{
			binaryRow("Add ", -2, 2, (*Tensor).Add, func(a, b float64) float64 { return a + b }),
			binaryRow("Sub ", -2, 2, (*Tensor).Sub, func(a, b float64) float64 { return a - b }),
			binaryRow("Mul ", -2, 2, (*Tensor).Mul, func(a, b float64) float64 { return a * b }),
			binaryRow("Div ", 0.5, 2, (*Tensor).Div, func(a, b float64) float64 { return a / b }),
			binaryRow("Maximum ", -2, 2, (*Tensor).Maximum, math.Max),
		} {
			r.name += name
			r.shapes = shapes[name]
			rows = append(rows, r)
		}
	}
	greater := binaryRow("Greater", -2, 2, (*Tensor).Greater, func(a, b float64) float64 { return step(a - b) })
	greater.noGrad = true
	equal := binaryRow("Eq", -2, 2, func(a, b *Tensor) *Tensor { return a.Maximum(b).Eq(b) }, func(a, b float64) float64 { return 1 - step(a-b) })
	equal.noGrad = true
	where := opRow{name: "Where", low: -2, high: 2,
		shapes: func(m, n, k int) [][]int { return [][]int{{m, n}, {n}, {m, 1}} },
		f:      func(in []*Tensor) *Tensor { return Where(in[0].Greater(Zeros().Cast(in[0].DType())), in[1], in[2]) },
		ref: func(in []array) array {
			return build(in[0].shape, func(i []int) float64 {
				if in[0].get(i...) > 0 {
					return in[1].get(i...)
				}
				return in[2].get(i...)
			})
		}}
	return append(rows, greater, equal, where)
}

func reduceRows() []opRow {
	cube := func(m, n, k int) [][]int { return [][]int{{m, n, k}} }
	row := func(name string, nonEmpty bool, f func(*Tensor) *Tensor, ref func(in []array) array) opRow {
		return opRow{name: name, shapes: cube, low: -2, high: 2, nonEmpty: nonEmpty, ref: ref,
			f: func(in []*Tensor) *Tensor { return f(in[0]) }}
	}
	mean := func(v []float64) float64 { return total(v) / float64(len(v)) }
	all := func(f func([]float64) float64) func([]array) array {
		return func(in []array) array { return array{[]int{}, []float64{f(in[0].data)}} }
	}
	argmax := row("ArgMax", true, func(t *Tensor) *Tensor { return t.ArgMax(1) }, foldRef(1, func(v []float64) float64 {
		return float64(slices.Index(v, slices.Max(v)))
	}))
	argmax.noGrad, argmax.torch = true, "torch.argmax(a, 1)"
	argmin := row("ArgMin", true, func(t *Tensor) *Tensor { return t.ArgMin(-2) }, foldRef(1, func(v []float64) float64 {
		return float64(slices.Index(v, slices.Min(v)))
	}))
	argmin.noGrad, argmin.torch = true, "torch.argmin(a, 1)"
	sorted := func(descending bool, k int) func(v []float64) []float64 {
		return func(v []float64) []float64 {
			v = slices.Clone(v)
			slices.Sort(v)
			if descending {
				slices.Reverse(v)
			}
			return v[:k]
		}
	}
	top := row("TopK", true, func(t *Tensor) *Tensor {
		values, _ := t.TopK(1, -2, true)
		return values
	}, func(in []array) array {
		m, k := in[0].shape[0], in[0].shape[2]
		return array{[]int{m, 1, k}, foldRef(1, largest)(in).data}
	})
	index := row("Sort, indices", false, func(t *Tensor) *Tensor {
		_, indices := t.Sort(0, true)
		return indices
	}, alongRef(0, func(v []float64) []float64 {
		out := make([]float64, len(v))
		for i := range out {
			out[i] = float64(i)
		}
		slices.SortStableFunc(out, func(a, b float64) int { return cmp.Compare(v[int(b)], v[int(a)]) })
		return out
	}))
	index.noGrad, index.torch = true, "torch.sort(a, stable=True, dim=0, descending=True).indices"
	rows := []opRow{argmax, argmin, top, index,
		row("Sort", false, func(t *Tensor) *Tensor {
			values, _ := t.Sort(1, false)
			return values
		}, func(in []array) array { return alongRef(1, sorted(false, in[0].shape[1]))(in) }).like("torch.sort(a, 1).values"),
		row("Sum all", false, func(t *Tensor) *Tensor { return t.Sum() }, all(total)),
		row("Mean all", true, func(t *Tensor) *Tensor { return t.Mean() }, all(mean)),
		row("Sum outer axes", false, func(t *Tensor) *Tensor { return t.Sum(0, -1) }, func(in []array) array {
			return foldRef(0, total)([]array{foldRef(2, total)(in)})
		}).like("a.sum((0, 2))"),
	}
	for a := range 3 {
		rows = append(rows,
			row(fmt.Sprint("Sum ", a), false, func(t *Tensor) *Tensor { return t.Sum(a) }, foldRef(a, total)).like(fmt.Sprintf("a.sum(%d)", a)),
			row(fmt.Sprint("Mean ", a), true, func(t *Tensor) *Tensor { return t.Mean(a) }, foldRef(a, mean)).like(fmt.Sprintf("a.mean(%d)", a)),
			row(fmt.Sprint("Max ", a), true, func(t *Tensor) *Tensor { return t.Max(a) }, foldRef(a, largest)).like(fmt.Sprintf("torch.amax(a, %d)", a), [][]array{{{[]int{2, 3, 1}, []float64{1, 2, 2, 3, 0, 1}}}}...),
			row(fmt.Sprint("Softmax ", a), false, func(t *Tensor) *Tensor { return t.Softmax(a) }, alongRef(a, softmaxLine)).like(fmt.Sprintf("F.softmax(a, %d)", a)),
			row(fmt.Sprint("LogSoftmax ", a), false, func(t *Tensor) *Tensor { return t.LogSoftmax(a) }, alongRef(a, logSoftmaxLine)).like(fmt.Sprintf("F.log_softmax(a, %d)", a)))
	}
	return rows
}

func moveRows() []opRow {
	index := func(n int) []int { // some rows twice, some never
		if n == 0 {
			return nil
		}
		return []int{n - 1, 0, n / 2, n - 1, n / 3}
	}
	cube := func(m, n, k int) [][]int { return [][]int{{m, n, k}} }
	return []opRow{
		{name: "MT", shapes: cube, low: -2, high: 2, f: func(in []*Tensor) *Tensor { return in[0].MT() }, ref: permuteRef(0, 2, 1)},
		{name: "T", shapes: oneShape, low: -2, high: 2, f: func(in []*Tensor) *Tensor { return in[0].T() }, ref: permuteRef(1, 0)},
		{name: "Permute", torch: "a.permute(2, 0, 1)", shapes: cube, low: -2, high: 2, f: func(in []*Tensor) *Tensor { return in[0].Permute(2, 0, 1) }, ref: permuteRef(2, 0, 1)},
		{name: "Reshape", torch: "a.reshape(3, 8)", shapes: cube, low: -2, high: 2, nonEmpty: true,
			f: func(in []*Tensor) *Tensor { return in[0].Reshape(in[0].Size(1), -1) },
			ref: func(in []array) array {
				return array{[]int{in[0].shape[1], in[0].shape[0] * in[0].shape[2]}, in[0].data}
			}},
		{name: "Flatten", shapes: cube, low: -2, high: 2, f: func(in []*Tensor) *Tensor { return in[0].Flatten(1) },
			ref: func(in []array) array {
				return array{[]int{in[0].shape[0], in[0].shape[1] * in[0].shape[2]}, in[0].data}
			}},
		{name: "Slice", torch: "a[:, 1:]", shapes: cube, low: -2, high: 2,
			f: func(in []*Tensor) *Tensor { return in[0].Slice(1, in[0].Size(1)/3, in[0].Size(1)) },
			ref: func(in []array) array {
				s := slices.Clone(in[0].shape)
				from := s[1] / 3
				s[1] -= from
				return build(s, func(i []int) float64 { return in[0].get(i[0], i[1]+from, i[2]) })
			}},
		{name: "Pad", torch: "F.pad(a, (0, 0, 2, 1))", shapes: cube, low: -2, high: 2,
			f: func(in []*Tensor) *Tensor { return in[0].Pad(1, 2, 1) },
			ref: func(in []array) array {
				s := slices.Clone(in[0].shape)
				s[1] += 3
				return build(s, func(i []int) float64 {
					if j := i[1] - 2; j >= 0 && j < in[0].shape[1] {
						return in[0].get(i[0], j, i[2])
					}
					return 0
				})
			}},
		{name: "OneHot", torch: "F.one_hot(a.long(), 4)", shapes: oneShape, low: 0, high: 4, noGrad: true,
			f: func(in []*Tensor) *Tensor { return in[0].Cast(Int32).OneHot(4) },
			ref: func(in []array) array {
				return build(append(slices.Clone(in[0].shape), 4), func(i []int) float64 {
					if int(in[0].get(i[:len(i)-1]...)) == i[len(i)-1] {
						return 1
					}
					return 0
				})
			}},
		{name: "Expand", torch: "a.expand(3, 2, 4)", shapes: func(m, n, k int) [][]int { return [][]int{{m, 1}} }, low: -2, high: 2,
			f: func(in []*Tensor) *Tensor { return in[0].Expand(3, in[0].Size(0), 4) },
			ref: func(in []array) array {
				return build([]int{3, in[0].shape[0], 4}, func(i []int) float64 { return in[0].get(i...) })
			}},
		{name: "Concat", torch: "torch.cat([a, b, c], 1)", shapes: func(m, n, k int) [][]int { return [][]int{{m, n}, {m, k}, {m, n}} }, low: -2, high: 2,
			f: func(in []*Tensor) *Tensor { return Concat(1, in...) },
			ref: func(in []array) array {
				n, k := in[0].shape[1], in[1].shape[1]
				return build([]int{in[0].shape[0], 2*n + k}, func(i []int) float64 {
					switch j := i[1]; {
					case j < n:
						return in[0].get(i[0], j)
					case j < n+k:
						return in[1].get(i[0], j-n)
					default:
						return in[2].get(i[0], j-n-k)
					}
				})
			}},
		{name: "Stack", torch: "torch.stack([a, b, c], -2)", shapes: func(m, n, k int) [][]int { return [][]int{{m, n}, {m, n}, {m, n}} }, low: -2, high: 2,
			f: func(in []*Tensor) *Tensor { return Stack(-2, in...) },
			ref: func(in []array) array {
				return build([]int{in[0].shape[0], 3, in[0].shape[1]}, func(i []int) float64 { return in[i[1]].get(i[0], i[2]) })
			}},
		{name: "IndexSelect", torch: "torch.index_select(a, 0, torch.tensor([1, 0, 1, 1, 0]))", shapes: cube, low: -2, high: 2, nonEmpty: true,
			f: func(in []*Tensor) *Tensor { return in[0].IndexSelect(FromInts(index(in[0].Size(0)), 5)) },
			ref: func(in []array) array {
				pick := index(in[0].shape[0])
				return build([]int{5, in[0].shape[1], in[0].shape[2]}, func(i []int) float64 { return in[0].get(pick[i[0]], i[1], i[2]) })
			}},
		{name: "Embedding", torch: "F.embedding(torch.tensor([[1, 0, 1], [1, 0, 0]]), a)", shapes: oneShape, low: -2, high: 2, nonEmpty: true,
			f: func(in []*Tensor) *Tensor {
				return Embedding(in[0], FromInts(append(index(in[0].Size(0)), 0), 2, 3).Cast(Int64))
			},
			ref: func(in []array) array {
				pick := append(index(in[0].shape[0]), 0)
				return build([]int{2, 3, in[0].shape[1]}, func(i []int) float64 { return in[0].get(pick[i[0]*3+i[1]], i[2]) })
			}},
		{name: "IndexAdd", torch: "torch.zeros(4, 2, 3).double().index_add(0, torch.tensor([3, 0, 2, 3, 1]), a)", shapes: func(m, n, k int) [][]int { return [][]int{{5, m, n}} }, low: -2, high: 2,
			f: func(in []*Tensor) *Tensor { return in[0].IndexAdd(FromInts(index(4), 5), 4) },
			ref: func(in []array) array {
				y := newArray(4, in[0].shape[1], in[0].shape[2])
				each(in[0].shape, func(i []int) { y.data[y.at([]int{index(4)[i[0]], i[1], i[2]})] += in[0].get(i...) })
				return y
			}},
		{name: "IndexAdd of numbers", shapes: func(m, n, k int) [][]int { return [][]int{{5}} }, low: -2, high: 2,
			f: func(in []*Tensor) *Tensor { return in[0].IndexAdd(FromInts(index(4), 5), 4) },
			ref: func(in []array) array {
				y := newArray(4)
				for i, j := range index(4) {
					y.data[j] += in[0].data[i]
				}
				return y
			}},
		{name: "Clone", shapes: oneShape, low: -2, high: 2, f: func(in []*Tensor) *Tensor { return in[0].Clone() }, ref: mapRef(func(x float64) float64 { return x })},
	}
}

func matmulRows() []opRow {
	labels := func(m, k int) []int {
		out := make([]int, m)
		for i := range out {
			out[i] = i * 7 % k
		}
		return out
	}
	masked := func(m, k int) []int { // every second one is left out
		all := labels(m, k)
		for i := 0; i < m; i += 2 {
			all[i] = -100
		}
		return all
	}
	return []opRow{
		{name: "MatMul", shapes: func(m, n, k int) [][]int { return [][]int{{m, k}, {k, n}} }, low: -1, high: 1,
			f: func(in []*Tensor) *Tensor { return in[0].MatMul(in[1]) }, ref: matmulRef},
		{name: "MatMul ReLU", shapes: func(m, n, k int) [][]int { return [][]int{{m, k}, {k, n}} }, low: -1, high: 1,
			f: func(in []*Tensor) *Tensor { return releaseAfter(in[0].MatMul(in[1]), (*Tensor).ReLU) },
			ref: func(in []array) array {
				return mapRef(func(x float64) float64 { return math.Max(x, 0) })([]array{matmulRef(in)})
			}},
		{name: "MatMul batched", shapes: func(m, n, k int) [][]int { return [][]int{{3, 2, m, k}, {3, 2, k, n}} }, low: -1, high: 1,
			f: func(in []*Tensor) *Tensor { return in[0].MatMul(in[1]) }, ref: matmulRef},
		{name: "MatMul of a batch by one", shapes: func(m, n, k int) [][]int { return [][]int{{3, m, k}, {k, n}} }, low: -1, high: 1,
			f: func(in []*Tensor) *Tensor { return in[0].MatMul(in[1]) }, ref: matmulRef},
		{name: "MatMul broadcast", shapes: func(m, n, k int) [][]int { return [][]int{{2, 1, m, k}, {3, k, n}} }, low: -1, high: 1,
			f: func(in []*Tensor) *Tensor { return in[0].MatMul(in[1]) }, ref: matmulRef},
		{name: "MatMul of one by a batch", shapes: func(m, n, k int) [][]int { return [][]int{{m, k}, {2, k, n}} }, low: -1, high: 1,
			f: func(in []*Tensor) *Tensor { return in[0].MatMul(in[1]) }, ref: matmulRef},
		{name: "Linear", shapes: func(m, n, k int) [][]int { return [][]int{{m, k}, {n, k}, {n}} }, low: -1, high: 1,
			f: func(in []*Tensor) *Tensor { return Linear(in[0], in[1], in[2]) }, ref: linearRef},
		{name: "Linear ReLU", shapes: func(m, n, k int) [][]int { return [][]int{{m, k}, {n, k}, {n}} }, low: -1, high: 1,
			f: func(in []*Tensor) *Tensor { return releaseAfter(Linear(in[0], in[1], in[2]), (*Tensor).ReLU) },
			ref: func(in []array) array {
				return mapRef(func(x float64) float64 { return math.Max(x, 0) })([]array{linearRef(in)})
			}},
		{name: "CrossEntropy", shapes: oneShape, low: -3, high: 3, nonEmpty: true,
			f: func(in []*Tensor) *Tensor {
				return CrossEntropy(in[0], FromInts(labels(in[0].Size(0), in[0].Size(1)), in[0].Size(0)))
			},
			ref: func(in []array) array {
				m, n := in[0].shape[0], in[0].shape[1]
				s := 0.0
				for i, l := range labels(m, n) {
					s -= logSoftmaxLine(in[0].data[i*n : (i+1)*n])[l]
				}
				return array{[]int{}, []float64{s / float64(m)}}
			}},
		{name: "MaskedCrossEntropy", shapes: oneShape, low: -3, high: 3, nonEmpty: true,
			f: func(in []*Tensor) *Tensor {
				return MaskedCrossEntropy(in[0], FromInts(masked(in[0].Size(0), in[0].Size(1)), in[0].Size(0)), -100)
			},
			ref: func(in []array) array {
				m, n := in[0].shape[0], in[0].shape[1]
				s, kept := 0.0, 0.0
				for i, l := range masked(m, n) {
					if l >= 0 {
						s -= logSoftmaxLine(in[0].data[i*n : (i+1)*n])[l]
						kept++
					}
				}
				return array{[]int{}, []float64{s / math.Max(kept, 1)}}
			}},
		{name: "MSE", shapes: sameShapes, low: -2, high: 2, nonEmpty: true,
			f: func(in []*Tensor) *Tensor { return MSE(in[0], in[1]) },
			ref: func(in []array) array {
				s := 0.0
				for i, v := range in[0].data {
					s += (v - in[1].data[i]) * (v - in[1].data[i])
				}
				return array{[]int{}, []float64{s / float64(len(in[0].data))}}
			}},
	}
}

// releaseAfter lets the engine fuse t into f(t).
func releaseAfter(t *Tensor, f func(*Tensor) *Tensor) *Tensor {
	y := f(t)
	t.Release()
	return y
}
