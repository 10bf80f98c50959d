package tensor

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// TestSmallArguments checks that functions keep all digits near 0, where goldens with an absolute tolerance would
// not notice.
func TestSmallArguments(t *testing.T) {
	for name, row := range map[string]struct {
		f    func(*Tensor) *Tensor
		want func(float64) float64
	}{
		"Expm1": {(*Tensor).Expm1, math.Expm1},
		"Log1p": {(*Tensor).Log1p, math.Log1p},
		"Erf":   {(*Tensor).Erf, math.Erf},
	} {
		x := []float64{1e-30, -1e-12, 3e-8, 1e-5, -1e-3, 0.01, 0.3, -0.4, 0.7}
		for d, tolerance := range map[DType]float64{Float32: 6e-7, Float64: 1e-15} {
			in := FromFloat64s(x, len(x)).Cast(d)
			got := row.f(in).Float64s()
			for i, v := range in.Float64s() {
				if w := row.want(v); !(math.Abs(got[i]-w) <= tolerance*math.Abs(w)) {
					t.Errorf("%s(%v) in %v is %v, want %v", name, v, d, got[i], w)
				}
			}
		}
	}
	if y := FromFloat64s([]float64{math.Copysign(0, -1), -0.3}, 2).Round().Float64s(); !math.Signbit(y[0]) || !math.Signbit(y[1]) || y[1] != 0 {
		t.Errorf("Round loses the sign of 0: %v", y)
	}
}

// TestClassesOfAnyType has elements that only some types have.
func TestClassesOfAnyType(t *testing.T) {
	for _, d := range []DType{Float32, Float64, Float16, BFloat16} {
		x := FromFloat64s([]float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, 2}, 5).Cast(d)
		for name, row := range map[string]struct {
			y    *Tensor
			want []float32
		}{
			"IsNaN":    {x.IsNaN(), []float32{1, 0, 0, 0, 0}},
			"IsInf":    {x.IsInf(), []float32{0, 1, 1, 0, 0}},
			"IsFinite": {x.IsFinite(), []float32{0, 0, 0, 1, 1}},
			"Any":      {x.Reshape(5, 1).Any(1), []float32{1, 1, 1, 0, 1}},
			"All":      {x.Reshape(5, 1).All(1), []float32{1, 1, 1, 0, 1}},
		} {
			if got := row.y.Data(); row.y.DType() != Float32 || !slices.Equal(got, row.want) {
				t.Errorf("%s of %v: %v, want %v", name, d, row.y, row.want)
			}
		}
		filled := x.MaskedFill(x.IsFinite().Not(), 1.5)
		if got := filled.Float64s(); filled.DType() != d || !slices.Equal(got, []float64{1.5, 1.5, 1.5, 0, 2}) {
			t.Errorf("MaskedFill of %v: %v", d, filled)
		}
	}
	for _, d := range []DType{Int32, Int64, Uint8, Bool} {
		x := FromInts([]int{0, 1}, 2).Cast(d)
		got := slices.Concat(x.IsNaN().Data(), x.IsInf().Data(), x.IsFinite().Data(), x.Any().Data(), x.All().Data())
		if !slices.Equal(got, []float32{0, 0, 0, 0, 1, 1, 1, 0}) {
			t.Errorf("%v: %v", d, got)
		}
		y := FromInts([]int{1, 0, 1, 1, 0, 1}, 2, 3).Cast(d)
		moved := []*Tensor{y.Flip(1), y.Roll(1, 1), y.Tile(2, 1), y.RepeatInterleave(2, 0), y.Squeeze(), y.Unsqueeze(0), y.Gather(1, FromInts([]int{1, 2}, 2, 1))}
		want := []string{"[1 0 1 1 0 1]", "[1 1 0 1 1 0]", "[1 0 1 1 0 1 1 0 1 1 0 1]", "[1 0 1 1 0 1 1 0 1 1 0 1]", "[1 0 1 1 0 1]", "[1 0 1 1 0 1]", "[0 1]"}
		for i, m := range moved {
			if got := fmt.Sprint(m.Ints()); m.DType() != d || got != want[i] {
				t.Errorf("%v, row %d: %v, want %s", d, i, m, want[i])
			}
		}
	}
	if got := FromInts([]int{5, 1, 4, 2}, 4).Median(0); got.DType() != Int32 || got.Ints()[0] != 2 {
		t.Errorf("the median of integers is %v", got)
	}
}

func TestEmptyAndSingle(t *testing.T) {
	empty, none := Zeros(2, 0), FromInts(nil, 2, 0)
	for name, row := range map[string]struct {
		y    *Tensor
		want string
	}{
		"Gather":            {empty.Gather(1, none), "float32[2×0]\n[[]\n []]"},
		"Gather nothing":    {Ones(2, 3).Gather(1, none), "float32[2×0]\n[[]\n []]"},
		"Scatter":           {Ones(2, 1).Scatter(1, none, empty), "float32[2×1]\n[[1]\n [1]]"},
		"ScatterAdd":        {Ones(2, 1).ScatterAdd(1, none, empty), "float32[2×1]\n[[1]\n [1]]"},
		"BinCount":          {none.BinCount(2), "int64[2] [0 0]"},
		"no bins":           {none.BinCount(0), "int64[0] []"},
		"Tile 0":            {Ones(2).Tile(0), "float32[0] []"},
		"Tile a scalar":     {Full(3).Tile(2), "float32[2] [3 3]"},
		"Tile without axes": {Full(3).Tile(), "float32[] 3"},
		"Repeat 0":          {Ones(2).RepeatInterleave(0, 0), "float32[0] []"},
		"Roll":              {empty.Roll(math.MaxInt, 1), "float32[2×0]\n[[]\n []]"},
		"Roll far":          {New([]float32{1, 2, 3}, 3).Roll(math.MaxInt, 0), "float32[3] [3 1 2]"}, // 2⁶³-1 is 3·k + 1
		"Roll far back":     {New([]float32{1, 2, 3}, 3).Roll(math.MinInt, 0), "float32[3] [3 1 2]"}, // -2⁶³ is 3·k + 1
		"Flip a scalar":     {Full(3).Flip(), "float32[] 3"},
		"Squeeze a scalar":  {Full(3).Squeeze(), "float32[] 3"},
		"Prod of nothing":   {empty.Prod(), "float32[] 1"},
		"Prod of a scalar":  {Full(3).Prod(), "float32[] 3"},
		"CumProd":           {empty.CumProd(1), "float32[2×0]\n[[]\n []]"},
		"Quantile of one":   {Full(3, 1).Quantile(0.7, 0), "float32[] 3"},
		"CDist of nothing":  {CDist(Zeros(1, 0), Zeros(2, 0)), "float32[1×2]\n[[0 0]]"},
		"Linspace":          {Linspace(3, 5, 0, Float32), "float32[0] []"},
		"Linspace of one":   {Linspace(3, 5, 1, Float32), "float32[1] [3]"},
		"Eye":               {Eye(0), "float32[0×0]\n[]"},
		"RandPerm":          {RandPerm(nil, 0), "int32[0] []"},
		"RandInt":           {RandInt(nil, 4, 5, 2), "int32[2] [4 4]"},
	} {
		if got := row.y.String(); got != row.want {
			t.Errorf("%s: %s, want %s", name, got, row.want)
		}
	}
	for _, row := range []struct {
		parts []*Tensor
		want  string
	}{
		{Arange(0, 5, 1, Float32).Split(2, 0), "[[0 1] [2 3] [4]]"},
		{Arange(0, 5, 1, Float32).Split(math.MaxInt, 0), "[[0 1 2 3 4]]"},
		{Arange(0, 5, 1, Float32).Chunk(4, 0), "[[0 1] [2 3] [4]]"},
		{Arange(0, 2, 1, Float32).Chunk(math.MaxInt, 0), "[[0] [1]]"},
		{Zeros(0).Split(3, 0), "[[]]"},
		{Zeros(0).Split(0, 0), "[[]]"},
		{Zeros(0).Chunk(math.MaxInt, 0), "[[]]"},
	} {
		var all [][]float32
		for _, p := range row.parts {
			all = append(all, p.Data())
		}
		if got := fmt.Sprint(all); got != row.want {
			t.Errorf("%s, want %s", got, row.want)
		}
	}
}

// TestLateIndices has indices that are out of range and known only when the list runs.
func TestLateIndices(t *testing.T) {
	late := func(i int) *Tensor {
		return FromInts([]int{0, i}, 1, 2).Cast(Float32).MulScalar(1).Cast(Int32)
	}
	m, one := Ones(2, 3), Ones(1, 2)
	for name, f := range map[string]func(index *Tensor) *Tensor{
		"Gather":     func(index *Tensor) *Tensor { return m.Gather(1, index) },
		"Scatter":    func(index *Tensor) *Tensor { return m.Scatter(1, index, one) },
		"ScatterAdd": func(index *Tensor) *Tensor { return m.ScatterAdd(1, index, one) },
		"BinCount":   func(index *Tensor) *Tensor { return index.BinCount(3) },
	} {
		for _, i := range []int{-1, 3, 1 << 30} { // 3 would be in the next line
			var index *IndexError
			if err := catch(func() { f(late(i)).Float64s() }); !errors.As(err, &index) || index.Op != name || index.Index != i || index.Element != 1 || index.Size != 3 {
				t.Errorf("%s of %d: %v", name, i, err)
			}
		}
		if err := catch(func() { f(late(2)).Float64s() }); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestIntegerDraws checks ranges and frequencies, and that equal seeds give equal numbers.
func TestIntegerDraws(t *testing.T) {
	const n = 60000
	x := RandInt(NewGenerator(1), -2, 4, n)
	if x.DType() != Int32 || !slices.Equal(x.Ints(), RandInt(NewGenerator(1), -2, 4, n).Ints()) {
		t.Errorf("RandInt of one seed differs, or its type is %v", x.DType())
	}
	shifted := x.Cast(Float32).AddScalar(2).Cast(Int32).BinCount(6)
	for i, count := range shifted.Ints() {
		if math.Abs(float64(count)-n/6) > 500 { // more than five standard deviations
			t.Errorf("%d occurs %d times of %d", i-2, count, n)
		}
	}
	wide := RandInt(NewGenerator(2), math.MinInt32, math.MaxInt32+1, 1000).Ints()
	if slices.Min(wide) > -2e9 || slices.Max(wide) < 2e9 {
		t.Errorf("the whole range: from %d to %d", slices.Min(wide), slices.Max(wide))
	}
	p := RandPerm(NewGenerator(3), 100).Ints()
	if slices.IsSorted(p) {
		t.Error("RandPerm is in order")
	}
	slices.Sort(p)
	if !slices.Equal(p, Arange(0, 100, 1, Int32).Ints()) {
		t.Errorf("not a permutation: %v", p)
	}
}

// TestMultinomial compares frequencies with the probabilities of drawing with and without replacement.
func TestMultinomial(t *testing.T) {
	const n = 40000
	w := New([]float32{0, 1, 3, 0, 4, 0}, 6)
	counts := Multinomial(NewGenerator(1), w, n, true).BinCount(6).Ints()
	for i, p := range []float64{0, 0.125, 0.375, 0, 0.5, 0} {
		if want := p * n; math.Abs(float64(counts[i])-want) > 6*math.Sqrt(want*(1-p)) {
			t.Errorf("index %d is drawn %d times, want about %v", i, counts[i], want)
		}
	}
	// The second of two draws without replacement.
	rows := Multinomial(NewGenerator(2), w.Expand(n, 6), 2, false)
	if s := rows.Shape(); !slices.Equal(s, []int{n, 2}) || rows.DType() != Int32 {
		t.Fatalf("%v %v", s, rows.DType())
	}
	weights, seconds := map[int]float64{1: 1, 2: 3, 4: 4}, map[int]int{}
	for i, all := 0, rows.Ints(); i < len(all); i += 2 {
		if all[i] == all[i+1] {
			t.Fatalf("row %d is %v", i/2, all[i:i+2])
		}
		seconds[all[i+1]]++
	}
	for second, w2 := range weights {
		p := 0.0
		for first, w1 := range weights {
			if first != second {
				p += w1 / 8 * w2 / (8 - w1)
			}
		}
		if want := p * n; math.Abs(float64(seconds[second])-want) > 6*math.Sqrt(want) {
			t.Errorf("%d is second %d times, want about %v", second, seconds[second], want)
		}
	}
	if len(seconds) != 3 {
		t.Errorf("second draws: %v", seconds)
	}
	extreme := FromFloat64s([]float64{math.MaxFloat64, math.MaxFloat64, 0, math.SmallestNonzeroFloat64}, 4)
	for _, replacement := range []bool{true, false} {
		if got := Multinomial(NewGenerator(3), extreme, 2, replacement).Ints(); slices.Contains(got, 2) || slices.Contains(got, 3) {
			t.Errorf("of extreme weights %v are drawn", got)
		}
	}
	if got := Multinomial(nil, extreme, 3, false).Ints(); got[2] != 3 {
		t.Errorf("the smallest weight is not drawn last: %v", got)
	}
}

func TestLinspace(t *testing.T) {
	for _, d := range []DType{Float32, Float64, Float16, BFloat16} {
		y := Linspace(-1, 1, 5, d)
		if got := y.Float64s(); y.DType() != d || !slices.Equal(got, []float64{-1, -0.5, 0, 0.5, 1}) {
			t.Errorf("%v: %v", d, y)
		}
	}
	if got := Linspace(0.1, 0.7, 7, Float64).Float64s(); got[0] != 0.1 || got[6] != 0.7 || !slices.IsSorted(got) {
		t.Errorf("ends: %v", got)
	}
	if got := Linspace(math.MaxFloat64, -math.MaxFloat64, 3, Float64).Float64s(); !slices.Equal(got, []float64{math.MaxFloat64, 0, -math.MaxFloat64}) {
		t.Errorf("large numbers: %v", got)
	}
	if got := Eye(2).Data(); !slices.Equal(got, []float32{1, 0, 0, 1}) {
		t.Errorf("Eye: %v", got)
	}
}

// composers returns the names of the ops that state a composition.
func composers() (names []string) {
	for _, op := range ir.Table() {
		if _, ok := op.(ir.Composer); ok {
			names = append(names, op.Name())
		}
	}
	return names
}

// compositionSizes are the sizes of TestCompositions.
var compositionSizes = [][3]int{{2, 3, 4}, {1, 1, 1}, {5, 1, 3}, {9, 13, 5}, {0, 3, 2}, {3, 0, 2}, {2, 3, 0}}

// TestCompositions compares the kernels of the device with the compositions of their ops: each row whose ops state
// some, and its gradient, on random inputs of several sizes, layouts and element types. It fails if an op
// that states a composition is in no row.
func TestCompositions(t *testing.T) {
	untested := composers()
	for _, row := range opRows {
		t.Run(row.name, func(t *testing.T) {
			for i, s := range compositionSizes {
				if row.nonEmpty && s[0]*s[1]*s[2] == 0 {
					continue
				}
				r := rand.New(rand.NewPCG(uint64(i), 23))
				var in []array
				for _, shape := range row.shapes(s[0], s[1], s[2]) {
					in = append(in, randomArray(r, row.low, row.high, shape...))
				}
				weight := randomArray(r, -1, 1, row.ref(in).shape...)
				for _, l := range layoutsOf(s) {
					for d, tolerance := range map[DType]float64{Float32: 2e-4, Float64: 1e-10} { // an op may be recorded in one type only
						var names []string
						kernels := evaluateAll(row, in, l, d, weight, &names)
						if !slices.ContainsFunc(names, func(n string) bool { return slices.Contains(composers(), n) }) {
							continue
						}
						untested = slices.DeleteFunc(untested, func(n string) bool { return slices.Contains(names, n) })
						setComposed(true)
						composed := evaluateAll(row, in, l, d, weight, nil)
						setComposed(false)
						for k, y := range composed {
							want := array{shape: kernels[k].Shape(), data: kernels[k].Float64s()}
							compare(t, fmt.Sprintf("%s, sizes %v, %s, result %d", l.name, s, d, k), y, want, tolerance)
						}
					}
				}
			}
		})
	}
	if !t.Failed() && len(untested) > 0 {
		t.Errorf("no row records %v", untested)
	}
}

func setComposed(on bool) { locked(func(r *ir.Recorder) { r.Composed(on) }) }

// evaluateAll returns the result of an op and the gradients of its inputs, for a given gradient of the result. It
// sets names to those of the ops.
func evaluateAll(row opRow, in []array, l layout, d DType, weight array, names *[]string) []*Tensor {
	var leaves, args, all []*Tensor
	for _, a := range in {
		leaf, x := l.lay(a)
		if d == Float64 {
			leaf = Parameter(leaf.Detach().Cast(Float64))
			x = l.input(leaf, len(a.shape))
		}
		leaves, args = append(leaves, leaf), append(args, x)
	}
	Flush()
	y := row.f(args)
	all = append(all, y)
	if !row.noGrad {
		y.Mul(FromFloat64s(weight.data, weight.shape...).Cast(y.DType())).Sum().Backward()
		for _, leaf := range leaves {
			if g := leaf.Grad(); g != nil {
				all = append(all, g)
			}
		}
	}
	if names != nil {
		locked(func(r *ir.Recorder) { *names = r.Recorded() })
	}
	return all
}

// cumMax is an op that has no kernel on any device: the largest element so far along one axis.
type cumMax struct{ axis int }

func (cumMax) Name() string                  { return "CumMax" }
func (cumMax) Class([]*ir.Value) ir.Class    { return ir.Whole }
func (o cumMax) AppendKey(key []byte) []byte { return append(key, byte(o.axis)) }
func (cumMax) Infer(in []*ir.Value) (ir.Type, error) {
	return ir.Type{Shape: in[0].Shape(), DType: in[0].DType()}, nil
}

func (o cumMax) Compose(r *ir.Recorder, in []*ir.Value) *ir.Value {
	if in[0].Shape()[o.axis] == 1 {
		return in[0]
	}
	return r.Scan(ir.Maximum{}, r.MulScalar(in[0], 1), o.axis, false) // the scalar is dynamic, and not of the list
}

func (cumMax) Gradient(r *ir.Recorder, in []*ir.Value, out, dy *ir.Value, _ []bool) []*ir.Value {
	return []*ir.Value{r.Mul(dy, r.Record(ir.Cast{To: dy.DType()}, r.Record(ir.Eq{}, in[0], out)))}
}

// TestOpWithoutKernels runs an op whose composition is all there is, between ops with dynamic scalars, whose plan is
// replayed with other scalars.
func TestOpWithoutKernels(t *testing.T) {
	for _, d := range []DType{Float32, Float64} {
		x := Parameter(New([]float32{1, 3, 2, 5, 4, 0}, 2, 3).Cast(d))
		for _, scale := range []float64{2, 3, 4} {
			x.ZeroGrad()
			y := record(cumMax{1}, x.MulScalar(scale)).AddScalar(1)
			y.Sum().Backward()
			want := []float64{scale + 1, 3*scale + 1, 3*scale + 1, 5*scale + 1, 5*scale + 1, 5*scale + 1}
			if got := y.Float64s(); !slices.Equal(got, want) {
				t.Errorf("%s, scale %v: %v, want %v", d, scale, got, want)
			}
			if got, want := x.Grad().Float64s(), []float64{scale, scale, 0, scale, 0, 0}; !slices.Equal(got, want) {
				t.Errorf("%s, scale %v: the gradient is %v, want %v", d, scale, got, want)
			}
		}
		a := record(cumMax{0}, New([]float32{2, 1, 1, 7}, 2, 2).Cast(d))
		if got := a.Float64s(); !slices.Equal(got, []float64{2, 1, 2, 7}) {
			t.Errorf("%s, along axis 0: %v", d, got)
		}
		one := New([]float32{4}, 1).Cast(d)
		if got := record(cumMax{0}, one).Float64s(); !slices.Equal(got, []float64{4}) { // the composition is its input
			t.Errorf("%s, one element: %v", d, got)
		}
	}
}
