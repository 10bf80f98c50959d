package onnx_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/onnx"
	_ "github.com/quernlab/quern/accel/simulated" // "simulated"
	"github.com/quernlab/quern/accel/tensor"
)

// text returns the listing of a model.
func text(t *testing.T, model nn.Module, x *tensor.Tensor) string {
	t.Helper()
	m, err := onnx.Build(model, x)
	if err != nil {
		t.Fatal(err)
	}
	return m.String()
}

// TestSimulatedGPU exports a model whose weights are on another device.
func TestSimulatedGPU(t *testing.T) {
	model := nn.Sequential(nn.Conv2D(2, 3), nn.BatchNorm(), nn.ReLU(), nn.Flatten(), nn.Dense(3), nn.LayerNorm())
	x := randn(1, 2, 1, 5, 5)
	want := text(t, model, x)
	if err := tensors.SetDevice("simulated"); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := tensors.SetDevice("cpu"); err != nil {
			t.Error(err)
		}
	}()
	if got := text(t, model, x); got != want {
		t.Errorf("on a GPU:\n%s\non the processor:\n%s", got, want)
	}
}

// TestAutocastOutside exports within Autocast.
func TestAutocastOutside(t *testing.T) {
	model := nn.Sequential(nn.Dense(4), nn.GELU(), nn.Dense(2))
	x := randn(1, 2, 3)
	want, got := text(t, model, x), ""
	tensor.Autocast(tensor.BFloat16, func() { got = text(t, model, x) })
	if got != want {
		t.Errorf("with Autocast:\n%s\nwithout:\n%s", got, want)
	}
}

// TestWhileOthersCompute exports two models at once, while a third is trained.
func TestWhileOthersCompute(t *testing.T) {
	x := randn(1, 4, 3)
	trained := nn.Sequential(nn.Dense(8), nn.Dropout(0.5), nn.BatchNorm(), nn.Dense(2))
	first, second := nn.Sequential(nn.Dense(4), nn.ReLU()), nn.Sequential(nn.Dense(5), nn.Tanh(), nn.LayerNorm())
	wantFirst, wantSecond := text(t, first, x), text(t, second, x)
	stop := make(chan struct{})
	var training, exporting sync.WaitGroup
	training.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			loss := trained.Forward(x).Square().Mean()
			loss.Backward()
			tensor.NoGrad(func() {
				for _, p := range nn.Parameters(trained) {
					p.Assign(p.Sub(p.Grad().MulScalar(0.01)))
					p.ZeroGrad()
				}
			})
			_ = loss.Item()
		}
	})
	for model, want := range map[*nn.SequentialLayer]string{first: wantFirst, second: wantSecond} {
		exporting.Go(func() {
			for range 20 {
				m, err := onnx.Build(model, x)
				if err != nil {
					t.Error(err)
					return
				}
				if got := m.String(); got != want {
					t.Errorf("beside others:\n%s\nalone:\n%s", got, want)
					return
				}
			}
		})
	}
	exporting.Wait()
	close(stop)
	training.Wait()
}

// branches computes its branches on goroutines.
type branches struct{ left, right nn.Module }

func (b *branches) Forward(x *tensor.Tensor) *tensor.Tensor {
	var y [2]*tensor.Tensor
	var group sync.WaitGroup
	for i, m := range []nn.Module{b.left, b.right} {
		group.Go(func() { y[i] = m.Forward(x) })
	}
	group.Wait()
	return y[0].Add(y[1])
}

// TestGoroutines exports a model that computes on several goroutines.
func TestGoroutines(t *testing.T) {
	model := &branches{nn.Dense(4), nn.Dense(4)}
	x := randn(1, 2, 3)
	model.left.Forward(x)
	model.right.Forward(x)
	for range 5 {
		m, err := onnx.Build(model, x)
		switch {
		case errors.Is(err, onnx.ErrChanging): // the goroutines ran in another order
		case err != nil:
			t.Fatal(err)
		case strings.Count(m.String(), "= Gemm(input, ") != 2 || strings.Count(m.String(), "= Add(") != 1:
			t.Errorf("got\n%s", m)
		}
	}
}
