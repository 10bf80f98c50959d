package tensor

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
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
