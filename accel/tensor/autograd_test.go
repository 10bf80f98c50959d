package tensor

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

func TestUpdateIsInPlace(t *testing.T) {
	p := Parameter(New([]float32{1, 2}, 2))
	Flush()
	storage := func() (s ir.Storage) {
		locked(func(*ir.Recorder) { s = ir.StorageOf(p.v) })
		return s
	}
	first := storage()
	for range 3 {
		NoGrad(func() { p.Assign(p.MulScalar(2)) })
		Flush()
		if storage() != first {
			t.Fatal("an update that nothing else can see took new storage")
		}
	}
	if got := p.Data(); !slices.Equal(got, []float32{8, 16}) {
		t.Errorf("got %v", got)
	}
}

func TestUpdateLeavesWhatOthersSee(t *testing.T) {
	p := Parameter(New([]float32{1, 2, 3, 4}, 2, 2))
	view, alias := p.T(), p.Detach()
	late := p.T()
	double := p.MulScalar(2)
	NoGrad(func() { p.Assign(p.MulScalar(10)) })
	Flush()
	NoGrad(func() { p.Assign(p.AddScalar(1)) })
	for _, row := range []struct {
		name string
		t    *Tensor
		want []float32
	}{
		{"parameter", p, []float32{11, 21, 31, 41}},
		{"view before", view, []float32{1, 3, 2, 4}},
		{"detached before", alias, []float32{1, 2, 3, 4}},
		{"unused view before", late, []float32{1, 3, 2, 4}},
		{"computed before", double, []float32{2, 4, 6, 8}},
	} {
		if got := row.t.Data(); !slices.Equal(got, row.want) {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
}

func TestMovedSourceSaysSo(t *testing.T) {
	p := New([]float32{1}, 1)
	src := p.AddScalar(1)
	p.Assign(src)
	if got := src.Item(); got != 2 {
		t.Errorf("before the next update: %v", got)
	}
	p.Assign(p.AddScalar(1))
	Flush()
	var state *StateError
	if err := catch(func() { src.Item() }); !errors.As(err, &state) {
		t.Errorf("after the next update: %v, want a StateError", err)
	}
	if p.Item() != 3 {
		t.Errorf("the tensor is %v, want 3", p.Item())
	}
}

func TestGradientsAccumulate(t *testing.T) {
	p := Parameter(New([]float32{3}, 1))
	if p.Grad() != nil {
		t.Error("a gradient before Backward")
	}
	for i := range 3 {
		p.Square().Sum().Backward()
		if got := p.Grad().Item(); got != float64(6*(i+1)) {
			t.Errorf("after %d times: %v", i+1, got)
		}
	}
	p.ZeroGrad()
	if p.Grad() != nil {
		t.Error("a gradient after ZeroGrad")
	}
	p.Square().Sum().Backward()
	old := p.Grad()
	p.MulScalar(5).Sum().Backward()
	if old.Item() != 6 || p.Grad().Item() != 11 {
		t.Errorf("the first gradient is %v and the sum %v, want 6 and 11", old.Item(), p.Grad().Item())
	}
}

func TestBackwardAcrossFlushes(t *testing.T) {
	p := Parameter(New([]float32{1, 2}, 2))
	y := p.Exp()
	Flush()
	z := releaseAfter(y, (*Tensor).Square)
	Flush()
	loss := z.Sum()
	z.Release()
	if got, want := loss.Item(), math.Exp(2)+math.Exp(4); !(math.Abs(got-want) < 1e-4) {
		t.Errorf("loss %v, want %v", got, want)
	}
	loss.Backward()
	for i, g := range p.Grad().Data() {
		if want := 2 * math.Exp(2*float64(i+1)); !(math.Abs(float64(g)-want) < 1e-4*want) {
			t.Errorf("gradient %d is %v, want %v", i, g, want)
		}
	}
}

func TestSharedSubexpression(t *testing.T) {
	p := Parameter(New([]float32{2}, 1))
	y := p.Mul(p) // p²
	z := y.Mul(y) // p⁴
	w := z.Add(y) // p⁴ + p²
	w.Sum().Backward()
	if got := p.Grad().Item(); got != 4*8+2*2 {
		t.Errorf("gradient %v, want 36", got)
	}
}

func TestNoGradAndDetach(t *testing.T) {
	p := Parameter(Ones(2))
	var inside *Tensor
	NoGrad(func() { inside = p.MulScalar(2) })
	if inside.RequiresGrad() || p.Detach().RequiresGrad() || !p.MulScalar(2).RequiresGrad() {
		t.Error("RequiresGrad is wrong inside NoGrad, after Detach or outside")
	}
	p.Mul(p.Detach()).Sum().Backward()
	if got := p.Grad().Data(); !slices.Equal(got, []float32{1, 1}) {
		t.Errorf("gradient past Detach %v, want 1 1", got)
	}
}

// TestExchange compares gradients with those of ops whose values and gradients the functions of the
// exchange compute: reading elements in both, as an exchange with other processes does.
func TestExchange(t *testing.T) {
	scaled := func(by float64) func(x *Tensor) *Tensor {
		return func(x *Tensor) *Tensor {
			values := x.Float64s()
			for i := range values {
				values[i] *= by
			}
			return FromFloat64s(values, x.Shape()...).Cast(x.DType())
		}
	}
	for _, c := range []struct {
		name              string
		forward, backward func(x *Tensor) *Tensor
		value, slope      float64
	}{
		{"identity", nil, nil, 1, 1},
		{"f", nil, scaled(3), 1, 3},
		{"g", scaled(2), nil, 2, 1},
		{"both", scaled(2), scaled(5), 2, 5},
		{"unchanged", func(x *Tensor) *Tensor { return x }, func(x *Tensor) *Tensor { return x }, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, recomputed := range []bool{false, true} {
				w, x := Parameter(New([]float32{1, 2, 3, 4}, 2, 2)), New([]float32{1, -1, 2, 0.5}, 2, 2)
				model := func(in []*Tensor) *Tensor {
					h := in[0].MatMul(w)
					return tensors.Exchange(h.Add(h), c.forward, c.backward).MatMul(w)
				}
				var y *Tensor
				if recomputed {
					y = Recompute(model, x)
				} else {
					y = model([]*Tensor{x})
				}
				y.Sum().Backward()
				// y = value·2xw·w, and the gradient through the exchange has another slope.
				v := Parameter(New([]float32{1, 2, 3, 4}, 2, 2))
				h := x.MatMul(v)
				h = h.Add(h)
				through := h.MulScalar(c.slope)
				through = through.Add(h.MulScalar(c.value - c.slope).Detach())
				want := through.MatMul(v)
				want.Sum().Backward()
				if !slices.Equal(y.Data(), want.Data()) || !slices.Equal(w.Grad().Data(), v.Grad().Data()) {
					t.Errorf("recomputed %v: y is %v with the gradient %v, want %v with %v", recomputed, y.Data(), w.Grad().Data(), want.Data(), v.Grad().Data())
				}
			}
		})
	}
	x := New([]float32{1}, 1)
	if tensors.Exchange(x, nil, nil).RequiresGrad() {
		t.Error("a gradient flows into a tensor that requires none")
	}
}

// deepNetwork is a deep network whose blocks can be recomputed.
type deepNetwork struct {
	weights [][2]*Tensor
	g       *Generator
}

func newDeepNetwork(depth, width int) *deepNetwork {
	n := &deepNetwork{g: NewGenerator(5)}
	for range depth {
		n.weights = append(n.weights, [2]*Tensor{Parameter(Randn(n.g, width, width).MulScalar(0.1)), Parameter(Zeros(width))})
	}
	return n
}

func (n *deepNetwork) block(x *Tensor, i int) *Tensor {
	y := releaseAfter(Linear(x, n.weights[i][0], n.weights[i][1]), (*Tensor).Tanh)
	y = releaseAfter(y, func(t *Tensor) *Tensor { return t.Dropout(0.2, n.g, true) })
	return releaseAfter(y, (*Tensor).Sin)
}

func (n *deepNetwork) run(x *Tensor, every int) (loss float64, grads [][]float32) {
	y := x
	for i := 0; i < len(n.weights); i += every {
		part := func(in []*Tensor) *Tensor {
			z := n.block(in[0], i)
			for j := i + 1; j < i+every; j++ {
				z = releaseAfter(z, func(t *Tensor) *Tensor { return n.block(t, j) })
			}
			return z
		}
		var next *Tensor
		if every > 1 {
			next = Recompute(part, y)
		} else {
			next = part([]*Tensor{y})
		}
		if y != x {
			y.Release()
		}
		y = next
	}
	l := releaseAfter(y, func(t *Tensor) *Tensor { return t.Square().Mean() })
	l.Backward()
	loss = l.Item()
	for _, p := range append(n.parameters(), x) {
		if p.Grad() != nil {
			grads = append(grads, p.Grad().Data())
		}
		p.ZeroGrad()
	}
	return loss, grads
}

func (n *deepNetwork) parameters() []*Tensor {
	var p []*Tensor
	for _, w := range n.weights {
		p = append(p, w[0], w[1])
	}
	return p
}

func TestRecompute(t *testing.T) {
	var loss [2]float64
	var grads [2][][]float32
	for i, every := range []int{1, 3} {
		n := newDeepNetwork(6, 8)
		loss[i], grads[i] = n.run(Parameter(Randn(n.g, 5, 8)), every)
	}
	if loss[0] != loss[1] {
		t.Errorf("the loss is %v, want %v", loss[1], loss[0])
	}
	for i := range grads[0] {
		if !slices.Equal(grads[0][i], grads[1][i]) {
			t.Errorf("gradient %d is %v, want %v", i, grads[1][i], grads[0][i])
		}
	}
	if len(grads[1]) != 13 {
		t.Errorf("%d gradients", len(grads[1]))
	}
}

// TestNestedRecomputeDraws checks that backward and forward pass draw the same random numbers if a
// function that draws contains another that draws.
func TestNestedRecomputeDraws(t *testing.T) {
	drop := func(x *Tensor) *Tensor { return x.Dropout(0.5, nil, true) }
	run := func(recompute func(f func(in []*Tensor) *Tensor, in ...*Tensor) *Tensor) []float32 {
		tensors.Seed(7)
		x := Parameter(Ones(64))
		third := func(in []*Tensor) *Tensor { return drop(in[0].Square()) }
		second := func(in []*Tensor) *Tensor { return recompute(third, drop(in[0])) }
		first := func(in []*Tensor) *Tensor { return drop(recompute(second, in[0].MulScalar(3))).Square() }
		recompute(first, x).Sum().Backward()
		return append(x.Grad().Data(), Uniform(nil, 0, 1, 1).Data()...)
	}
	want := run(func(f func(in []*Tensor) *Tensor, in ...*Tensor) *Tensor { return f(in) })
	if got := run(Recompute); !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// TestRecomputeMemory compares the peak memory with and without Recompute.
func TestRecomputeMemory(t *testing.T) {
	peak := func(every int) (bytes int) {
		withThreads(1, func() {
			n := newDeepNetwork(16, 32)
			x := Randn(n.g, 2000, 32)
			n.run(x, every)
			bytes = tensors.Stats().PeakBytes
		})
		return bytes
	}
	whole, parts := peak(1), peak(4)
	t.Logf("16 blocks take %d bytes, recomputed in 4 parts %d", whole, parts)
	if parts > whole*6/10 {
		t.Errorf("16 blocks take %d bytes, recomputed in 4 parts %d", whole, parts)
	}
}

func TestRecomputeMore(t *testing.T) {
	x, w := Parameter(New([]float32{1, 2}, 2)), Parameter(New([]float32{3, 4}, 2))
	// Nested, with two inputs, and with a result that is read inside.
	inner := func(in []*Tensor) *Tensor { return in[0].Mul(w).Exp() }
	outer := func(in []*Tensor) *Tensor {
		y := Recompute(inner, in[0].MulScalar(0.1))
		y.Sum().Item()
		return y.Mul(in[1])
	}
	run := func(f func(in []*Tensor) *Tensor, recompute bool) [][]float32 {
		in := []*Tensor{x, x.MulScalar(2)}
		var y *Tensor
		if recompute {
			y = Recompute(f, in...)
		} else {
			y = f(in)
		}
		y.Sum().Backward()
		out := [][]float32{x.Grad().Data(), w.Grad().Data()}
		x.ZeroGrad()
		w.ZeroGrad()
		return out
	}
	plain := func(in []*Tensor) *Tensor { return in[0].MulScalar(0.1).Mul(w).Exp().Mul(in[1]) }
	want, got := run(plain, false), run(outer, true)
	for i := range want {
		compare(t, "nested", New(got[i], 2), array{[]int{2}, convert[float64](want[i])}, 1e-6)
	}
	// Running statistics are updated once.
	mean, variance := Zeros(1), Ones(1)
	p := Parameter(New([]float32{1, 3}, 2, 1))
	y := Recompute(func(in []*Tensor) *Tensor { return BatchNorm(in[0], nil, nil, mean, variance, 0.5, 1e-5, true) }, p)
	y.Square().Sum().Backward()
	if mean.Item() != 1 {
		t.Errorf("the running mean is %v, want 1", mean.Item())
	}
	var state *StateError
	if err := catch(func() { y.Sum().Backward() }); !errors.As(err, &state) {
		t.Errorf("a second Backward: %v", err)
	}
	NoGrad(func() {
		if Recompute(inner, x).RequiresGrad() {
			t.Error("a gradient flows under NoGrad")
		}
	})
	if got := Recompute(func(in []*Tensor) *Tensor { return in[0] }, Ones(2)).Data(); got[1] != 1 {
		t.Errorf("the identity gives %v", got)
	}
}

// TestRequireFinite trains with and without the check: a valid step gives the same result, and a
// step with a non-finite loss changes nothing, including running statistics.
func TestRequireFinite(t *testing.T) {
	type model struct{ w, b, mean, variance, first *Tensor }
	build := func() *model {
		g := NewGenerator(4)
		return &model{w: Parameter(Randn(g, 3, 3)), b: Parameter(Zeros(3)), mean: Zeros(3), variance: Ones(3), first: Zeros(3, 3)}
	}
	step := func(m *model, x *Tensor, watch bool) error {
		return catch(func() {
			y := releaseAfter(BatchNorm(Linear(x, m.w, m.b), nil, nil, m.mean, m.variance, 0.1, 1e-5, true), (*Tensor).ReLU)
			loss := y.MatMul(m.w).Log().Mean()
			if watch {
				loss = loss.RequireFinite("the loss")
			}
			m.w.ZeroGrad()
			m.b.ZeroGrad()
			loss.Backward()
			NoGrad(func() {
				m.first.Assign(m.first.MulScalar(0.9).Add(m.w.Grad()))
				m.w.Assign(m.w.Sub(m.first.MulScalar(0.01)))
				m.b.Assign(m.b.Sub(m.b.Grad().MulScalar(0.01)))
			})
			Flush()
		})
	}
	all := func(m *model) []float32 {
		return slices.Concat(m.w.Data(), m.b.Data(), m.mean.Data(), m.variance.Data(), m.first.Data())
	}
	watched, plain := build(), build()
	for _, m := range []*model{watched, plain} { // weights for which the arguments of the logarithm are positive
		NoGrad(func() { m.w.Assign(m.w.Abs().AddScalar(0.1)) })
	}
	good := Randn(NewGenerator(5), 20, 3)
	good = Concat(0, good, good.Neg()) // each column has positive elements
	for range 3 {
		if a, b := step(watched, good, true), step(plain, good, false); (a == nil) != (b == nil) {
			t.Fatalf("%v, without a watch %v", a, b)
		}
	}
	before := all(watched)
	bad := New(append([]float32{float32(math.Inf(1))}, make([]float32, 11)...), 4, 3)
	for range 2 { // the second time with the cached plan
		err := step(watched, bad, true)
		var number *NonFiniteError
		if !errors.As(err, &number) || number.What != "the loss" || !strings.HasPrefix(err.Error(), "the loss is ") {
			t.Fatalf("got %v", err)
		}
		if got := all(watched); !slices.Equal(got, before) {
			t.Errorf("a failed step has changed\n%v to\n%v", before, got)
		}
	}
	if g := watched.b.Grad(); g != nil {
		t.Errorf("the gradient of a step that failed is %v", g)
	}
}

// TestRequireFiniteIsTheTensor compares values, gradients and types with the tensor's own.
func TestRequireFiniteIsTheTensor(t *testing.T) {
	for _, d := range []DType{Float32, Float64, BFloat16} {
		p := Parameter(New([]float32{1, 2, 3, 4}, 2, 2).Cast(d))
		y := p.T().RequireFinite("x")
		y.Square().Sum().Backward()
		if !slices.Equal(y.Data(), []float32{1, 3, 2, 4}) || !slices.Equal(p.Grad().Data(), []float32{2, 4, 6, 8}) || y.DType() != d {
			t.Errorf("%v: %v with gradient %v", d, y, p.Grad())
		}
	}
	err := catch(func() { New([]float32{1, float32(math.Inf(-1))}, 2).RequireFinite("x").Data() })
	if err == nil || err.Error() != "x: element 1 is -Inf" {
		t.Errorf("got %v", err)
	}
	if err := catch(func() { FromInts([]int{1}, 1).RequireFinite("x") }); err == nil {
		t.Error("RequireFinite accepted an int32 tensor")
	}
}

// TestFindNonFiniteNamesTheLayer records ops within NameScope.
func TestFindNonFiniteNamesTheLayer(t *testing.T) {
	w := Parameter(Zeros(2))
	in := func(path, kind string, f func()) { tensors.NameScope(func() (string, string) { return path, kind }, f) }
	for _, row := range []struct {
		f    func()
		want string
	}{
		{func() {
			in("0", "Outer", func() { in("3", "Inner", func() { w.Log().Data() }) })
		}, "Log in layer 0.3, Inner: element 0 of [2] is -Inf"},
		{func() {
			var y *Tensor
			in("1", "Root", func() { y = w.Sqrt() })
			y.Sum().Backward()
			w.Grad().Data()
		}, "the gradient of Sqrt in layer 1, Root: element 0 of [2] is +Inf"},
	} {
		if found := FindNonFinite(row.f); found == nil || found.String() != row.want {
			t.Errorf("got %v, want %s", found, row.want)
		}
	}
}
