package tensor

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/quernlab/quern/accel/internal/cpu"
	"github.com/quernlab/quern/accel/internal/ir"
)

// mlp is a small classifier with AdamW written in tensor ops.
type mlp struct {
	x, y   *Tensor
	params []*Tensor
	m, v   []*Tensor
	step   int
}

func newMLP(g *Generator, batch int, sizes ...int) *mlp {
	n := &mlp{x: Randn(g, batch, sizes[0])}
	labels := make([]int, batch)
	for i := range labels {
		labels[i] = g.Intn(sizes[len(sizes)-1])
	}
	n.y = FromInts(labels, batch)
	for i := 1; i < len(sizes); i++ {
		bound := 1 / math.Sqrt(float64(sizes[i-1]))
		for _, shape := range [][]int{{sizes[i], sizes[i-1]}, {sizes[i]}} {
			n.params = append(n.params, Parameter(Uniform(g, -bound, bound, shape...)))
			n.m = append(n.m, Zeros(shape...))
			n.v = append(n.v, Zeros(shape...))
		}
	}
	return n
}

func (n *mlp) forward() *Tensor {
	x := n.x
	for i := 0; i < len(n.params); i += 2 {
		y := Linear(x, n.params[i], n.params[i+1])
		if i > 0 {
			x.Release()
		}
		if x = y; i+2 < len(n.params) {
			x = releasing(y, (*Tensor).ReLU)
		}
	}
	return x
}

// train does one step as a user would write it, and returns the loss.
func (n *mlp) train() *Tensor {
	logits := n.forward()
	loss := CrossEntropy(logits, n.y)
	logits.Release()
	loss.Backward()
	n.update(1e-2)
	return loss
}

// update is AdamW (Loshchilov and Hutter, arXiv:1711.05101).
func (n *mlp) update(rate float64) {
	n.step++
	const beta1, beta2, epsilon, decay = 0.9, 0.999, 1e-8, 0.01
	correct1 := 1 - math.Pow(beta1, float64(n.step))
	correct2 := 1 - math.Pow(beta2, float64(n.step))
	NoGrad(func() {
		for i, p := range n.params {
			g := p.Grad()
			n.m[i].Assign(add(n.m[i].MulScalar(beta1), g.MulScalar(1-beta1)))
			square := releasing(g, (*Tensor).Square)
			n.v[i].Assign(add(n.v[i].MulScalar(beta2), releasing(square, func(t *Tensor) *Tensor { return t.MulScalar(1 - beta2) })))
			root := releasing(releasing(n.v[i].MulScalar(1/correct2), (*Tensor).Sqrt), func(t *Tensor) *Tensor { return t.AddScalar(epsilon) })
			change := n.m[i].Div(root)
			root.Release()
			scaled := releasing(change, func(t *Tensor) *Tensor { return t.MulScalar(-rate / correct1) })
			p.Assign(add(p.MulScalar(1-rate*decay), scaled))
		}
	})
	Flush()
	for _, p := range n.params {
		p.ZeroGrad()
	}
}

func add(a, b *Tensor) *Tensor {
	c := a.Add(b)
	a.Release()
	b.Release()
	return c
}

func TestTraining(t *testing.T) {
	n := newMLP(NewGenerator(1), 64, 20, 32, 4)
	first := n.train().Item()
	ResetStats()
	last := 0.0
	for range 60 {
		last = n.train().Item()
	}
	if !(last < first/4) {
		t.Errorf("the loss went from %v to %v only", first, last)
	}
	if s := Stats(); s.PlansMade > 1 || s.PlanHits < 59 {
		t.Errorf("steady steps made %d plans and hit %d: %+v", s.PlansMade, s.PlanHits, s)
	}
}

// TestSteadyStepReusesMemory runs many steps and looks at the heap after each
// half.
func TestSteadyStepReusesMemory(t *testing.T) {
	n := newMLP(NewGenerator(1), 64, 100, 64, 10)
	heap := func() (uint64, int) {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc, Stats().LiveBytes
	}
	for range 20 {
		n.train()
	}
	before, live := heap()
	for range 400 {
		n.train()
	}
	after, liveAfter := heap()
	if after > before+256<<10 {
		t.Errorf("400 steps grew the heap from %d to %d bytes", before, after)
	}
	if liveAfter > live+64<<10 {
		t.Errorf("400 steps grew the live values from %d to %d bytes", live, liveAfter)
	}
	var a, b runtime.MemStats
	runtime.ReadMemStats(&a)
	for range 100 {
		n.train()
	}
	runtime.ReadMemStats(&b)
	parameters := 0
	for _, p := range n.params {
		parameters += p.Len() * 4
	}
	if each := int(b.TotalAlloc-a.TotalAlloc) / 100; each > 64<<10 {
		t.Errorf("a step allocates %d bytes; the parameters take %d", each, parameters)
	} else {
		t.Logf("a step allocates %d bytes in %d objects; the parameters take %d", each, (b.Mallocs-a.Mallocs)/100, parameters)
	}
}

func withThreads(threads int, f func()) { withDevice(cpu.New(threads), f) }

// withDevice runs f on another device.
func withDevice(d *cpu.Device, f func()) {
	defer d.Close()
	e := shared()
	e.mu.Lock()
	e.recorder.Flush()
	old := e.recorder
	e.recorder = ir.NewRecorder(d)
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		e.recorder = old
		e.mu.Unlock()
	}()
	f()
}

// TestSameBitsOnAnyNumberOfThreads trains from one seed on 1, 2, 3 and 5
// threads.
func TestSameBitsOnAnyNumberOfThreads(t *testing.T) {
	var want []float32
	for _, threads := range []int{1, 2, 3, 5, 2} {
		withThreads(threads, func() {
			g := NewGenerator(3)
			n := newMLP(g, 96, 50, 70, 10)
			for range 5 {
				n.x.SetData(Randn(g, 96, 50).Dropout(0.3, g, true).Data())
				n.train()
			}
			var got []float32
			for _, p := range n.params {
				got = append(got, p.Data()...)
			}
			got = append(got, n.params[0].Sum().Data()...)
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d threads give other parameters than 1", threads)
			}
		})
	}
}

// TestImplementationsAgree trains on each kernel set that this processor has.
func TestImplementationsAgree(t *testing.T) {
	losses := map[string]float64{}
	for _, name := range cpu.Implementations() {
		withDevice(cpu.NewWith(name, 2), func() {
			n := newMLP(NewGenerator(4), 60, 30, 45, 7)
			for range 20 {
				losses[name] = n.train().Item()
			}
		})
	}
	for name, loss := range losses {
		if want := losses["generic"]; !(math.Abs(loss-want) < 1e-3*want) {
			t.Errorf("%s ends at a loss of %v, generic at %v", name, loss, want)
		}
	}
}

func TestConcatOfMany(t *testing.T) {
	for _, n := range []int{1, 255, 256, 257} {
		parts := make([]*Tensor, n)
		for i := range parts {
			parts[i] = Full(float64(i), 1)
		}
		if got := Concat(0, parts...).Data(); len(got) != n || got[n-1] != float32(n-1) {
			t.Errorf("%d parts give %d elements", n, len(got))
		}
	}
}

func TestScalarsAreNoPartOfThePlan(t *testing.T) {
	x := New([]float32{1, 2, 3}, 3)
	x.MulScalar(0.1).AddScalar(2).Data()
	rate := Full(1)
	x.Mul(rate).Data()
	ResetStats()
	for i := range 10 {
		s := float64(i)
		got := x.MulScalar(s).AddScalar(s).Data()
		if want := []float32{float32(2 * s), float32(3 * s), float32(4 * s)}; !slices.Equal(got, want) {
			t.Errorf("scalar %v: %v, want %v", s, got, want)
		}
		rate.SetData([]float32{float32(s)})
		if got := x.Mul(rate).Data(); got[2] != float32(3*s) {
			t.Errorf("tensor %v: %v", s, got)
		}
	}
	if s := Stats(); s.PlansMade != 0 {
		t.Errorf("scalars made %d plans", s.PlansMade)
	}
}

func TestFusionOfAnUpdate(t *testing.T) {
	n := newMLP(NewGenerator(1), 8, 4, 3)
	n.train()
	n.train()
	ResetStats()
	n.train()
	// Linear; loss and its gradient; the ones that start it; two weight
	// gradients; two updates.
	if s := Stats(); s.Steps > 8 {
		t.Errorf("a step of one layer is %d kernels for %d ops", s.Steps, s.Ops)
	}
}

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
			t.Fatal("an update that nobody else can see took new storage")
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

// catch returns what f panics with.
func catch(f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case error:
			err = r
		}
	}()
	f()
	return nil
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
	z := releasing(y, (*Tensor).Square)
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

func TestErrors(t *testing.T) {
	a, b := Zeros(2, 3), Zeros(4, 5)
	p := Parameter(Ones(2))
	used := p.Sum()
	used.Backward()
	released := Ones(1)
	released.Release()
	for _, row := range []struct {
		name string
		f    func()
		want string
	}{
		{"broadcast", func() { a.Add(b) }, "Add: [2 3] and [4 5]: the shapes do not broadcast"},
		{"matmul", func() { a.MatMul(b) }, "MatMul: [2 3] and [4 5]: the last dimension of the first"},
		{"linear", func() { Linear(a, b, nil) }, "Linear: [2 3] and [4 5]: "},
		{"reshape", func() { a.Reshape(4) }, "Reshape: [2 3]: cannot become [4]"},
		{"reshape with -1", func() { a.Reshape(-1, 4) }, "Reshape: [2 3]: cannot become [-1 4]"},
		{"axis", func() { a.Sum(2) }, "Sum: [2 3]: there is no such axis"},
		{"slice", func() { a.Slice(0, 1, 3) }, "Slice: [2 3]: there is no range 1:3 along axis 0"},
		{"permutation", func() { a.Transpose(0, 0) }, "Transpose: [2 3]: the permutation [0 0]"},
		{"empty maximum", func() { Zeros(2, 0).Max(1) }, "Max: [2 0]: an empty axis"},
		{"item", func() { a.Item() }, "Item: [2 3]: a single element"},
		{"new", func() { New(make([]float32, 5), 2, 3) }, "New: [2 3]: 6 elements are needed, there are 5"},
		{"dtype", func() { FromInts([]int{1}, 1).Exp() }, "Exp: int32: float32 is needed"},
		{"mixed compare", func() { FromInts([]int{1}, 1).Equal(Ones(1)) }, "Equal: int32 and float32"},
		{"label", func() { CrossEntropy(a, FromInts([]int{0, 3}, 2)) }, "CrossEntropy: index 3 is outside 0..2"},
		{"gather", func() { a.Gather(FromInts([]int{-1}, 1)) }, "Gather: index -1 is outside 0..1"},
		{"backward of many", func() { p.MulScalar(2).Backward() }, "Backward: [2]: the loss must be a single number"},
		{"backward of none", func() { a.Sum().Backward() }, "Backward: the loss does not depend on any parameter"},
		{"backward twice", func() { used.Backward() }, "Backward: the graph was used by an earlier Backward"},
		{"released", func() { released.Add(a) }, "Add: the tensor was released"},
		{"nil", func() { a.Add(nil) }, "Add: the tensor is nil"},
		{"assign", func() { p.Assign(Ones(3)) }, "Assign: [2] and [3]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			err := catch(row.f)
			if err == nil || !strings.HasPrefix(err.Error(), row.want) {
				t.Errorf("got %v, want %q", err, row.want)
			}
		})
	}
	var shape *ShapeError
	if err := catch(func() { a.Add(b) }); !errors.As(err, &shape) || shape.Op != "Add" || !slices.Equal(shape.Shapes[1], []int{4, 5}) {
		t.Errorf("a ShapeError without its fields: %#v", err)
	}
}

// TestFailedRunKeepsParameters computes a label that is out of range only when
// the list runs.
func TestFailedRunKeepsParameters(t *testing.T) {
	n := newMLP(NewGenerator(1), 4, 3, 2)
	n.train()
	before := n.params[0].Data()
	good := n.y
	n.y = FromInts([]int{0, 1, 2, 0}, 4).Cast(Float32).MulScalar(1).Cast(Int32)
	var index *IndexError
	if err := catch(func() { n.train() }); !errors.As(err, &index) {
		t.Fatalf("got %v, want an IndexError", err)
	}
	if got := n.params[0].Data(); !slices.Equal(got, before) {
		t.Errorf("the parameters changed: %v, were %v", got, before)
	}
	n.y = good
	for _, p := range n.params {
		p.ZeroGrad()
	}
	n.train()
	if slices.Equal(n.params[0].Data(), before) {
		t.Error("training does not go on")
	}
}

func TestEndlessRecordingStaysBounded(t *testing.T) {
	x := Ones(4)
	ResetStats()
	for range 20000 {
		x = x.AddScalar(1)
	}
	if s := Stats(); s.Flushes < 3 {
		t.Errorf("20000 ops were run in %d lists", s.Flushes)
	}
	if got := x.Data()[0]; got != 20001 {
		t.Errorf("got %v", got)
	}
}

func TestGoroutines(t *testing.T) {
	var wg sync.WaitGroup
	for k := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 50 {
				x := Full(float64(k), 10)
				y := x.AddScalar(float64(i)).Square()
				if got, want := y.Sum().Item(), 10*float64((k+i)*(k+i)); got != want {
					t.Errorf("goroutine %d: %v, want %v", k, got, want)
				}
			}
		}()
	}
	wg.Wait()
}

func TestNaNAndInf(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	x := New([]float32{nan, inf, -inf, 0}, 4)
	y := New([]float32{1, 1, 1, 1}, 4)
	for _, row := range []struct {
		name string
		got  []float32
		want []float32
	}{
		{"ReLU", x.ReLU().Data(), []float32{nan, inf, 0, 0}},
		{"Maximum", x.Maximum(y).Data(), []float32{nan, inf, 1, 1}},
		{"Maximum turned", y.Maximum(x).Data(), []float32{nan, inf, 1, 1}},
		{"Exp", x.Exp().Data(), []float32{nan, inf, 0, 1}},
		{"Tanh", x.Tanh().Data(), []float32{nan, 1, -1, 0}},
		{"Sigmoid", x.Sigmoid().Data(), []float32{nan, 1, 0, 0.5}},
		{"GELU", x.GELU().Data(), []float32{nan, inf, 0, 0}},
		{"Log", x.Log().Data(), []float32{nan, inf, nan, -inf}},
		{"Sqrt", x.Sqrt().Data(), []float32{nan, inf, nan, 0}},
		{"Equal", x.Equal(x).Data(), []float32{0, 1, 1, 1}},
		{"Max", x.Max(0).Data(), []float32{nan}},
		{"Sum", x.Sum().Data(), []float32{nan}},
		{"Softmax", New([]float32{1000, 0, -inf, -1000}, 4).Softmax(0).Data(), []float32{1, 0, 0, 0}},
	} {
		for i, w := range row.want {
			if g := row.got[i]; g != w && (g == g || w == w) {
				t.Errorf("%s: element %d is %v, want %v", row.name, i, g, w)
			}
		}
	}
	if got := x.ArgMax(0).Ints()[0]; got != 0 {
		t.Errorf("ArgMax of NaN: %d, want 0", got)
	}
}

func TestCast(t *testing.T) {
	x := New([]float32{-1.5, 0, 2.75, 300}, 4)
	for _, row := range []struct {
		to   DType
		want []float64
	}{
		{Float32, []float64{-1.5, 0, 2.75, 300}},
		{Float64, []float64{-1.5, 0, 2.75, 300}},
		{Int32, []float64{-1, 0, 2, 300}},
		{Int64, []float64{-1, 0, 2, 300}},
		{Bool, []float64{1, 0, 1, 1}},
	} {
		y := x.Cast(row.to)
		if got := y.Float64s(); y.DType() != row.to || !slices.Equal(got, row.want) {
			t.Errorf("%v: %v, want %v", row.to, got, row.want)
		}
		if got := y.Cast(Float32).MulScalar(1).Float64s(); !slices.Equal(got, row.want) {
			t.Errorf("%v and back: %v, want %v", row.to, got, row.want)
		}
	}
	pixels := FromBytes([]uint8{0, 51, 255}, 3)
	if got := pixels.Cast(Float32).MulScalar(1. / 255).Data(); !slices.Equal(got, []float32{0, float32(1./255) * 51, 1}) {
		t.Errorf("pixels: %v", got)
	}
	big := FromInts([]int{1<<24 + 1, 1 << 24}, 2)
	if got := big.Slice(0, 0, 1).Equal(big).Data(); !slices.Equal(got, []float32{1, 0}) {
		t.Errorf("integers are compared as floats: %v", got)
	}
}

func TestString(t *testing.T) {
	for _, row := range []struct {
		t    *Tensor
		want string
	}{
		{Full(1.5), "float32[] 1.5"},
		{FromInts([]int{1, -2}, 2), "int32[2] [1 -2]"},
		{New([]float32{1, 2, 3, 4}, 2, 2), "float32[2×2]\n[[1 2]\n [3 4]]"},
		{Zeros(0), "float32[0] []"},
	} {
		if got := row.t.String(); got != row.want {
			t.Errorf("got %q, want %q", got, row.want)
		}
	}
	big := Zeros(100, 100).String()
	if want := "[[0 0 0 … 0 0 0]\n [0 0 0 … 0 0 0]"; !strings.Contains(big, want) || strings.Count(big, "\n") > 8 {
		t.Errorf("a big tensor: %s", big)
	}
}

func TestGenerator(t *testing.T) {
	// First block of key 0, counter 0 in Random123's known answers.
	if got := ir.Philox(0, 0); got != [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8} {
		t.Errorf("Philox block %x", got)
	}
	a, b := NewGenerator(5), NewGenerator(5)
	x, y := Randn(a, 1000), Randn(b, 1000)
	sameBits(t, "equal seeds", x, y)
	if slices.Equal(x.Data(), Randn(b, 1000).Data()) {
		t.Error("the generator repeats itself")
	}
	z := Randn(a, 100000)
	if m, v := z.Mean().Item(), z.Square().Mean().Item(); !(math.Abs(m) < 0.015) || !(math.Abs(v-1) < 0.02) {
		t.Errorf("normal numbers have mean %v and variance %v", m, v)
	}
	u := Uniform(a, -1, 3, 100000)
	if m := u.Mean().Item(); !(math.Abs(m-1) < 0.02) || u.Max(0).Item() >= 3 || u.Neg().Max(0).Item() > 1 {
		t.Errorf("uniform numbers have mean %v and range %v %v", m, -u.Neg().Max(0).Item(), u.Max(0).Item())
	}
	p := a.Perm(50)
	slices.Sort(p)
	for i, v := range p {
		if i != v {
			t.Fatalf("not a permutation: %v", p)
		}
	}
	Seed(9)
	first := Randn(nil, 3).Data()
	Seed(9)
	if !slices.Equal(first, Randn(nil, 3).Data()) {
		t.Error("Seed does not restart the default generator")
	}
}

func TestDropout(t *testing.T) {
	x := Parameter(Ones(100000))
	y := x.Dropout(0.3, NewGenerator(2), true)
	dropped := 0
	for _, v := range y.Data() {
		switch v {
		case 0:
			dropped++
		case float32(1 / 0.7):
		default:
			t.Fatalf("an element is %v", v)
		}
	}
	if !(math.Abs(float64(dropped)/100000-0.3) < 0.01) {
		t.Errorf("%d of 100000 are dropped", dropped)
	}
	y.Sum().Backward()
	sameBits(t, "the gradient uses the same mask", x.Grad(), y)
	if x.Dropout(0.3, nil, false) != x {
		t.Error("dropout outside of training is not the identity")
	}
}

func TestDTypeSizes(t *testing.T) {
	for d, want := range map[DType]string{Float32: "float32 4", Float64: "float64 8", Int32: "int32 4", Int64: "int64 8", Uint8: "uint8 1", Bool: "bool 1"} {
		if got := d.String() + " " + string(rune('0'+d.Size())); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestErrorsHaveTheNamesThatUsersKnow(t *testing.T) {
	err := catch(func() { Zeros(2).Add(Zeros(3)) })
	if got := fmt.Sprintf("%T", err); got != "*tensor.ShapeError" {
		t.Errorf("the error is a %s", got)
	}
}
