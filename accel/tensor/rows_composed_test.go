package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// vector is an example of one input of one dimension.
func vector(values ...float64) []array { return []array{{[]int{len(values)}, values}} }

// smoothRows are elementwise ops with devices' own code, and tests of elements.
func smoothRows() []opRow {
	nan, inf := math.NaN(), math.Inf(1)
	special := vector(nan, inf, -inf, 0, 1, -1, 2.5, -3)
	tests := func(name, torch string, f func(*Tensor) *Tensor, ref func(float64) float64) opRow {
		row := unaryRow(name, -2, 2, f, ref).like(torch, special)
		row.noGrad = true
		return row
	}
	filled := opRow{name: "MaskedFill", shapes: func(m, n, k int) [][]int { return [][]int{{m, n}, {n}} }, low: -2, high: 2,
		f: func(in []*Tensor) *Tensor { return in[0].MaskedFill(in[1].GreaterScalar(0.35), 7) },
		ref: func(in []array) array {
			return build(in[0].shape, func(i []int) float64 {
				if in[1].get(i...) > 0.35 {
					return 7
				}
				return in[0].get(i...)
			})
		}}
	return []opRow{filled,
		unaryRow("MaskedFill itself", -2, 2, func(t *Tensor) *Tensor { return t.MaskedFill(t.GreaterScalar(0.35), -1) }, func(x float64) float64 {
			if x > 0.35 {
				return -1
			}
			return x
		}).like("a.masked_fill(a > 0.35, -1)", special),
		unaryRow("Round", -3, 3, (*Tensor).Round, math.RoundToEven).like("torch.round(a)", vector(-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, nan, inf, -inf, 8388609, 0.49999997)),
		unaryRow("Erf", -3, 3, (*Tensor).Erf, math.Erf).like("torch.erf(a)", special),
		unaryRow("Expm1", -3, 3, (*Tensor).Expm1, math.Expm1).like("torch.expm1(a)", special, vector(1e-3, -1e-5, 1e-20, 30)),
		unaryRow("Log1p", -0.8, 3, (*Tensor).Log1p, math.Log1p).like("torch.log1p(a)", special, vector(1e-3, -1e-5, 1e-20, 1e30)),
		unaryRow("Softplus", -5, 5, (*Tensor).Softplus, func(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }).like("F.softplus(a)", special, vector(100, -100, 19)),
		tests("IsNaN", "torch.isnan(a)", (*Tensor).IsNaN, func(x float64) float64 { return 0 }),
		tests("IsInf", "torch.isinf(a)", (*Tensor).IsInf, func(x float64) float64 { return 0 }),
		tests("IsFinite", "torch.isfinite(a)", (*Tensor).IsFinite, func(x float64) float64 { return 1 }),
	}
}

// chosen is an index i·7 mod of, so that some elements are chosen twice and some never.
func chosen(of int, shape ...int) array {
	i := 0
	return build(shape, func([]int) float64 {
		i++
		return float64((i - 1) * 7 % of)
	})
}

// apartIndex is an index along axis 1 of which no two elements are for the same position: [m, min(n, 2), k].
func apartIndex(m, n, k int) array {
	return build([]int{m, min(n, 2), k}, func(i []int) float64 { return float64((i[0] + i[1] + i[2]) % n) })
}

func (a array) ints() *Tensor { return FromFloat64s(a.data, a.shape...).Cast(Int32) }

// indexRows select and change single elements along axis 1.
func indexRows() []opRow {
	cube := func(m, n, k int) [][]int { return [][]int{{m, n, k}} }
	index := func(s []int) array { return chosen(s[1], s[0], 5, max(s[2]-1, 1)) }
	apart := func(s []int) array { return apartIndex(s[0], s[1], max(s[2]-1, 1)) }
	scattered := func(index func(s []int) array, put func(old, new float64) float64) func(in []array) array {
		return func(in []array) array {
			y := array{in[0].shape, slices.Clone(in[0].data)}
			at := index(y.shape)
			each(at.shape, func(i []int) {
				k := y.at([]int{i[0], int(at.get(i...)), i[2]})
				y.data[k] = put(y.data[k], in[1].get(i...))
			})
			return y
		}
	}
	last := func(_, new float64) float64 { return new }
	few := func(m, n, k int) [][]int { return [][]int{{m, n, k}, {m, min(n, 2), k}} }
	many := func(m, n, k int) [][]int { return [][]int{{m, n, k}, {m, 5, k}} }
	counts := opRow{name: "BinCount", shapes: oneShape, low: 0, high: 4, noGrad: true, torch: "torch.bincount(a.long().reshape(-1), minlength=4)",
		f: func(in []*Tensor) *Tensor { return in[0].Cast(Int32).BinCount(4) },
		ref: func(in []array) array {
			y := newArray(4)
			for _, v := range in[0].data {
				y.data[int(v)]++
			}
			return y
		}}
	return []opRow{counts,
		{name: "Gather", torch: "torch.gather(a, 1, torch.arange(30).mul(7).remainder(3).reshape(2, 5, 3))", shapes: cube, low: -2, high: 2, nonEmpty: true,
			f: func(in []*Tensor) *Tensor { return in[0].Gather(1, index(in[0].Shape()).ints()) },
			ref: func(in []array) array {
				at := index(in[0].shape)
				return build(at.shape, func(i []int) float64 { return in[0].get(i[0], int(at.get(i...)), i[2]) })
			}},
		{name: "ScatterAdd", torch: "a.scatter_add(1, torch.arange(30).mul(7).remainder(3).reshape(2, 5, 3), b[:, :, :3])", shapes: many, low: -2, high: 2, nonEmpty: true,
			f: func(in []*Tensor) *Tensor {
				return in[0].ScatterAdd(-2, index(in[0].Shape()).ints().Cast(Int64), in[1])
			},
			ref: scattered(index, func(old, new float64) float64 { return old + new })},
		{name: "Scatter", torch: "a.scatter(1, (torch.arange(2)[:, None, None] + torch.arange(2)[None, :, None] + torch.arange(3)) % 3, b[:, :, :3])", shapes: few, low: -2, high: 2, nonEmpty: true,
			f: func(in []*Tensor) *Tensor { return in[0].Scatter(1, apart(in[0].Shape()).ints(), in[1]) }, ref: scattered(apart, last)},
		{name: "Scatter to one index", shapes: many, low: -2, high: 2, nonEmpty: true,
			f: func(in []*Tensor) *Tensor { return in[0].Scatter(1, index(in[0].Shape()).ints(), in[1]) }, ref: scattered(index, last)},
	}
}

// rearrangedRows only move elements.
func rearrangedRows() []opRow {
	cube := func(m, n, k int) [][]int { return [][]int{{m, n, k}} }
	// moved has each element of the result at the index that from returns.
	moved := func(shape func(s []int) []int, from func(i, s []int) []int) func(in []array) array {
		return func(in []array) array {
			return build(shape(in[0].shape), func(i []int) float64 { return in[0].get(from(i, in[0].shape)...) })
		}
	}
	same := func(s []int) []int { return s }
	reshaped := func(shape func(s []int) []int) func(in []array) array {
		return func(in []array) array { return array{shape(in[0].shape), in[0].data} }
	}
	row := func(name, torch string, shapes func(m, n, k int) [][]int, f func(x *Tensor) *Tensor, ref func(in []array) array) opRow {
		return opRow{name: name, torch: torch, shapes: shapes, low: -2, high: 2, f: func(in []*Tensor) *Tensor { return f(in[0]) }, ref: ref}
	}
	// backwards concatenates parts from the last to the first, along axis 1.
	backwards := func(parts []*Tensor) *Tensor {
		slices.Reverse(parts)
		return Concat(1, parts...)
	}
	swapped := func(size func(n int) int) func(in []array) array {
		return moved(same, func(i, s []int) []int {
			k := size(s[1])
			last := s[1] - (s[1]-1)/k*k // the size of the last part, which comes first
			at := s[1] - last + i[1]
			if i[1] >= last {
				at = s[1] - last - ((i[1]-last)/k+1)*k + (i[1]-last)%k
			}
			return []int{i[0], at, i[2]}
		})
	}
	return []opRow{
		row("Squeeze", "a.squeeze(1)", func(m, n, k int) [][]int { return [][]int{{m, 1, n}} }, func(x *Tensor) *Tensor { return x.Squeeze(1) },
			reshaped(func(s []int) []int { return []int{s[0], s[2]} })),
		row("Squeeze all", "a.squeeze()", func(m, n, k int) [][]int { return [][]int{{1, m, 1, n, 1}} }, func(x *Tensor) *Tensor { return x.Squeeze() },
			reshaped(func(s []int) []int { return slices.DeleteFunc(slices.Clone(s), func(d int) bool { return d == 1 }) })),
		row("Unsqueeze", "a.unsqueeze(-1)", oneShape, func(x *Tensor) *Tensor { return x.Unsqueeze(-1) }, reshaped(func(s []int) []int { return []int{s[0], s[1], 1} })),
		row("Split", "torch.cat(torch.split(a, 2, 1)[::-1], 1)", cube, func(x *Tensor) *Tensor { return backwards(x.Split(2, 1)) }, swapped(func(int) int { return 2 })),
		row("Chunk", "torch.cat(torch.chunk(a, 2, 1)[::-1], 1)", cube, func(x *Tensor) *Tensor { return backwards(x.Chunk(2, -2)) }, swapped(func(n int) int { return (n + 1) / 2 })),
		row("Flip", "torch.flip(a, (0, 2))", cube, func(x *Tensor) *Tensor { return x.Flip(0, -1) },
			moved(same, func(i, s []int) []int { return []int{s[0] - 1 - i[0], i[1], s[2] - 1 - i[2]} })),
		row("Flip all", "torch.flip(a, (0, 1))", oneShape, func(x *Tensor) *Tensor { return x.Flip() },
			moved(same, func(i, s []int) []int { return []int{s[0] - 1 - i[0], s[1] - 1 - i[1]} })),
		row("Roll", "torch.roll(a, 5, 1)", cube, func(x *Tensor) *Tensor { return x.Roll(5, 1) },
			moved(same, func(i, s []int) []int { return []int{i[0], (i[1] + 4*s[1] + s[1]*5 - 5) % s[1], i[2]} })),
		row("Roll back", "torch.roll(a, -1, 2)", cube, func(x *Tensor) *Tensor { return x.Roll(-1, -1) },
			moved(same, func(i, s []int) []int { return []int{i[0], i[1], (i[2] + 1) % s[2]} })),
		row("Tile", "a.tile(2, 1, 3)", cube, func(x *Tensor) *Tensor { return x.Tile(2, 1, 3) },
			moved(func(s []int) []int { return []int{2 * s[0], s[1], 3 * s[2]} }, func(i, s []int) []int { return []int{i[0] % s[0], i[1], i[2] % s[2]} })),
		row("Tile along new axes", "a.repeat(2, 1, 2)", oneShape, func(x *Tensor) *Tensor { return x.Tile(2, 1, 2) },
			moved(func(s []int) []int { return []int{2, s[0], 2 * s[1]} }, func(i, s []int) []int { return []int{i[1], i[2] % s[1]} })),
		row("Tile the last axis", "a.tile(2)", oneShape, func(x *Tensor) *Tensor { return x.Tile(2) },
			moved(func(s []int) []int { return []int{s[0], 2 * s[1]} }, func(i, s []int) []int { return []int{i[0], i[1] % s[1]} })),
		row("RepeatInterleave", "torch.repeat_interleave(a, 3, 1)", cube, func(x *Tensor) *Tensor { return x.RepeatInterleave(3, 1) },
			moved(func(s []int) []int { return []int{s[0], 3 * s[1], s[2]} }, func(i, s []int) []int { return []int{i[0], i[1] / 3, i[2]} })),
	}
}

// foldedRows reduce lines to numbers: products, order statistics, norms and distances.
func foldedRows() (rows []opRow) {
	nan, inf := math.NaN(), math.Inf(1)
	cube := func(m, n, k int) [][]int { return [][]int{{m, n, k}} }
	row := func(name, torch string, nonEmpty bool, f func(*Tensor) *Tensor, ref func(in []array) array, examples ...[]array) opRow {
		return opRow{name: name, shapes: cube, low: -2, high: 2, nonEmpty: nonEmpty, ref: ref, f: func(in []*Tensor) *Tensor { return f(in[0]) }}.like(torch, examples...)
	}
	all := func(f func([]float64) float64) func([]array) array {
		return func(in []array) array { return array{[]int{}, []float64{f(in[0].data)}} }
	}
	prod := func(v []float64) float64 {
		p := 1.0
		for _, x := range v {
			p *= x
		}
		return p
	}
	running := func(v []float64) []float64 {
		out := slices.Clone(v)
		for i := 1; i < len(out); i++ {
			out[i] *= out[i-1]
		}
		return out
	}
	quantile := func(q float64) func(v []float64) float64 {
		return func(v []float64) float64 {
			v = slices.Sorted(slices.Values(v))
			at := q * float64(len(v)-1)
			i := int(at)
			return v[i] + (v[min(i+1, len(v)-1)]-v[i])*(at-float64(i))
		}
	}
	median := func(v []float64) float64 { return slices.Sorted(slices.Values(v))[(len(v)-1)/2] }
	zeros := []array{{[]int{3, 4, 1}, []float64{2, 0, 3, 4, 0, 5, 0, 7, 1, 2, 3, 4}}}
	odd := []array{{[]int{2, 3, 1}, []float64{nan, 1, 2, 4, 3, 5}}}
	for a := range 3 {
		rows = append(rows,
			row(fmt.Sprint("Prod ", a), fmt.Sprintf("torch.prod(a, %d)", a), false, func(t *Tensor) *Tensor { return t.Prod(a) }, foldRef(a, prod), zeros),
			row(fmt.Sprint("CumProd ", a), fmt.Sprintf("torch.cumprod(a, %d)", a), false, func(t *Tensor) *Tensor { return t.CumProd(a) }, alongRef(a, running), zeros),
			row(fmt.Sprint("Median ", a), fmt.Sprintf("torch.median(a, %d).values", a), true, func(t *Tensor) *Tensor { return t.Median(a) }, foldRef(a, median), odd),
			row(fmt.Sprint("Quantile ", a), fmt.Sprintf("torch.quantile(a, 0.3, dim=%d)", a), true, func(t *Tensor) *Tensor { return t.Quantile(0.3, a) }, foldRef(a, quantile(0.3)), odd))
	}
	rows = append(rows,
		row("Prod all", "torch.prod(a)", false, func(t *Tensor) *Tensor { return t.Prod() }, all(prod), zeros, []array{{[]int{}, []float64{3}}}),
		row("Quantile, smallest", "torch.quantile(a, 0.0, dim=1)", true, func(t *Tensor) *Tensor { return t.Quantile(0, 1) }, foldRef(1, quantile(0)), odd),
		row("Quantile, largest", "torch.quantile(a, 1.0, dim=1)", true, func(t *Tensor) *Tensor { return t.Quantile(1, -2) }, foldRef(1, quantile(1)), odd),
		row("Quantile, nearer to the upper", "torch.quantile(a, 0.9, dim=1)", true, func(t *Tensor) *Tensor { return t.Quantile(0.9, 1) }, foldRef(1, quantile(0.9)), []array{{[]int{2, 4, 1}, []float64{inf, 1, -inf, 4, 3, 5, 2, 2}}}),
	)
	two := row("Prod of two", "a.prod(2).prod(0)", false, func(t *Tensor) *Tensor { return t.Prod(0, -1) }, func(in []array) array {
		return foldRef(0, prod)([]array{foldRef(2, prod)(in)})
	})
	two.low, two.high = -1, 1 // products of larger numbers overflow
	rows = append(rows, two)
	for _, test := range []struct {
		name, torch string
		f           func(*Tensor, ...int) *Tensor
		holds       func(n, all int) bool // for n true elements
	}{
		{"Any", "any", (*Tensor).Any, func(n, _ int) bool { return n > 0 }},
		{"All", "all", (*Tensor).All, func(n, all int) bool { return n == all }},
	} {
		ref := func(is func(x float64) bool) func(v []float64) float64 {
			return func(v []float64) float64 {
				n := 0
				for _, x := range v {
					if is(x) {
						n++
					}
				}
				if test.holds(n, len(v)) {
					return 1
				}
				return 0
			}
		}
		one := row(test.name, fmt.Sprintf("torch.%s(a > 0.5, 1)", test.torch), false, func(t *Tensor) *Tensor { return test.f(t.GreaterScalar(0.5), 1) },
			foldRef(1, ref(func(x float64) bool { return x > 0.5 })))
		whole := row(test.name+" of all", fmt.Sprintf("torch.%s(a != 0)", test.torch), false, func(t *Tensor) *Tensor { return test.f(t) },
			all(ref(func(x float64) bool { return x != 0 })), zeros, vector(0, 0), vector(0, nan), vector(nan, 1), vector())
		one.noGrad, whole.noGrad = true, true
		rows = append(rows, one, whole)
	}
	return append(rows, distanceRows()...)
}

func distanceRows() (rows []opRow) {
	cube := func(m, n, k int) [][]int { return [][]int{{m, n, k}} }
	length := func(p float64) func(v []float64) float64 {
		return func(v []float64) float64 {
			s := 0.0
			for _, x := range v {
				if math.IsInf(p, 1) {
					s = math.Max(s, math.Abs(x))
				} else {
					s += math.Pow(math.Abs(x), p)
				}
			}
			if math.IsInf(p, 1) {
				return s
			}
			return math.Pow(s, 1/p)
		}
	}
	scaled := func(p float64) func(v []float64) []float64 {
		return func(v []float64) []float64 {
			by := math.Max(length(p)(v), 1e-12)
			out := slices.Clone(v)
			for i := range out {
				out[i] /= by
			}
			return out
		}
	}
	for _, p := range []struct {
		p     float64
		torch string
	}{{1, "1.0"}, {2, "2.0"}, {3, "3.0"}, {math.Inf(1), "float('inf')"}} {
		rows = append(rows, opRow{name: fmt.Sprint("Normalize ", p.torch), shapes: cube, low: -2, high: 2, nonEmpty: true, ref: alongRef(1, scaled(p.p)),
			f: func(in []*Tensor) *Tensor { return in[0].Normalize(p.p, 1) }}.like(fmt.Sprintf("F.normalize(a, p=%s, dim=1)", p.torch), []array{{[]int{2, 2, 1}, []float64{0, 2, 3, -4}}}))
	}
	cosine := func(in []array) array {
		shape, _ := ir.Broadcast(in[0].shape, in[1].shape)
		return build(without(shape, 1), func(i []int) float64 {
			var dot, a, b float64
			for k := range shape[1] {
				x, y := in[0].get(insert(i, 1, k)...), in[1].get(insert(i, 1, k)...)
				dot, a, b = dot+x*y, a+x*x, b+y*y
			}
			return dot / math.Max(math.Sqrt(a), 1e-8) / math.Max(math.Sqrt(b), 1e-8)
		})
	}
	similarity := opRow{name: "CosineSimilarity", low: -2, high: 2, ref: cosine, f: func(in []*Tensor) *Tensor { return CosineSimilarity(in[0], in[1], 1) }}
	pairs, broadcast := similarity.like("F.cosine_similarity(a, b, dim=1)"), similarity.like("F.cosine_similarity(a, b, dim=1)")
	pairs.shapes = func(m, n, k int) [][]int { return [][]int{{m, n, k}, {m, n, k}} }
	broadcast.name, broadcast.shapes = "CosineSimilarity broadcast", func(m, n, k int) [][]int { return [][]int{{m, n, k}, {n, 1}} }
	pairs.examples = [][]array{{{[]int{2, 2}, []float64{0, 0, 3, -4}}, {[]int{2, 2}, []float64{1, 2, 3, -4}}}}
	distances := opRow{name: "CDist", shapes: func(m, n, k int) [][]int { return [][]int{{2, m, k}, {n, k}} }, low: -2, high: 2,
		f: func(in []*Tensor) *Tensor { return CDist(in[0], in[1]) },
		ref: func(in []array) array {
			a, b := in[0], in[1]
			return build([]int{a.shape[0], a.shape[1], b.shape[0]}, func(i []int) float64 {
				v := make([]float64, b.shape[1])
				for k := range v {
					v[k] = a.get(i[0], i[1], k) - b.get(i[2], k)
				}
				return length(2)(v)
			})
		}}.like("torch.cdist(a, b, compute_mode='donot_use_mm_for_euclid_dist')", []array{{[]int{2, 2}, []float64{1, 2, 3, 4}}, {[]int{2, 2}, []float64{1, 2, 0, 0}}})
	return append(rows, pairs, broadcast, distances)
}
