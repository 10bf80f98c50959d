package nn_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// normed has a layer in a field.
type normed struct{ norm nn.Module }

func (b *normed) Forward(x *tensor.Tensor) *tensor.Tensor { return b.norm.Forward(x) }

// TestConvertSyncBatchNorm requires each BatchNorm to be converted in place, once, with the
// same tensors, and a file that fits both.
func TestConvertSyncBatchNorm(t *testing.T) {
	shared := nn.BatchNorm()
	build := func() nn.Module {
		return nn.Sequential(nn.Dense(3), shared, nn.Residual(nn.Dense(3), nn.BatchNorm()), &normed{nn.BatchNorm()}, shared, nn.SyncBatchNorm())
	}
	model := build()
	x := tensor.Randn(tensor.NewGenerator(1), 5, 4)
	model.Forward(x)
	before := nn.State(model)
	if n := nn.ConvertSyncBatchNorm(model); n != 3 {
		t.Errorf("%d layers converted", n)
	}
	if n := nn.ConvertSyncBatchNorm(model); n != 0 {
		t.Errorf("%d layers converted a second time", n)
	}
	after := nn.State(model)
	if !slices.EqualFunc(before, after, func(a, b nn.Parameter) bool { return a.Name == b.Name && a.Tensor == b.Tensor }) {
		t.Errorf("the tensors are %v, and were %v", after, before)
	}
	if text := fmt.Sprint(shared); text != "SyncBatchNorm()" {
		t.Error(text)
	}
	file := filepath.Join(t.TempDir(), "model.safetensors")
	if err := nn.Save(file, model); err != nil {
		t.Fatal(err)
	}
	plain := nn.Sequential(nn.Dense(3), nn.BatchNorm(), nn.Residual(nn.Dense(3), nn.BatchNorm()), &normed{nn.BatchNorm()}, nn.Flatten(), nn.BatchNorm())
	plain.Forward(x)
	if err := nn.Load(file, plain); err != nil {
		t.Error(err)
	}
}

// TestCatchAllReduceError requires an error if a rank is lost within a layer.
func TestCatchAllReduceError(t *testing.T) {
	lost := errors.New("lost")
	err := func() (err error) {
		defer nn.Catch(&err)
		nn.Sequential(nn.Lambda(func(*tensor.Tensor) *tensor.Tensor {
			panic(&tensor.AllReduceError{Op: "SyncBatchNorm", Err: lost})
		})).Forward(tensor.Ones(1, 1))
		return nil
	}()
	if !errors.Is(err, lost) {
		t.Error(err)
	}
}
