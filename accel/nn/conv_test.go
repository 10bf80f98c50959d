package nn_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/onnx"
	"github.com/quernlab/quern/accel/tensor"
)

// TestConv1DErrors names Conv1D and the shapes of the sequences.
func TestConv1DErrors(t *testing.T) {
	t.Parallel()
	used := nn.Conv1D(4, 3)
	used.Forward(tensor.Zeros(1, 2, 8))
	for name, row := range map[string]struct {
		layer nn.Module
		shape []int
		want  string
	}{
		"other channels": {used, []int{1, 5, 8}, "Conv1D: [1 5 8] and [4 2 3]: "},
		"too short":      {nn.Conv1D(4, 3), []int{1, 2, 2}, "Conv1D: [1 2 2] and [4 2 3]: "},
		"no channels":    {used, []int{1, 8}, "Conv1D: [1 8]"},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, row.want) {
					t.Errorf("%s: %s", name, got)
				}
			}()
			row.layer.Forward(tensor.Zeros(row.shape...))
		}()
	}
}

// TestPool1D compares the pooling of sequences with the values of PyTorch 2.15, in ONNX files too, and
// checks the gradient of a maximum.
func TestPool1D(t *testing.T) {
	x := tensor.New([]float32{1, 5, 2, -3, 4, 4, 0, 0, -1, -2, -3, -4, -5, -6}, 1, 2, 7)
	for _, tt := range []struct {
		layer nn.Module
		text  string
		want  []float64
	}{
		{nn.MaxPool1D(2), "MaxPool1D(2)", []float64{5, 2, 4, 0, -2, -4}},
		{nn.MaxPool1D(3, nn.Stride(2), nn.Padding(1)), "MaxPool1D(3, Stride(2), Padding(1))", []float64{5, 5, 4, 4, 0, -1, -3, -5}},
		{nn.AvgPool1D(3, nn.Stride(2)), "AvgPool1D(3, Stride(2))", []float64{8. / 3, 1, 8. / 3, -1, -3, -5}},
		{nn.AvgPool1D(3, nn.Stride(2), nn.Padding(1)), "AvgPool1D(3, Stride(2), Padding(1))", []float64{2, 4. / 3, 5. / 3, 4. / 3, -1. / 3, -2, -4, -11. / 3}},
		{nn.GlobalAvgPool1D(), "GlobalAvgPool1D()", []float64{13. / 7, -3}},
	} {
		y := tt.layer.Forward(x)
		closeTo(t, tt.text, y.Float64s(), tt.want, 1e-6)
		if text := fmt.Sprint(tt.layer); text != tt.text {
			t.Errorf("%s is written as %s", tt.text, text)
		}
		path := filepath.Join(t.TempDir(), "m.onnx")
		if err := onnx.Export(path, nn.Sequential(tt.layer), x); err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		m, err := onnx.Import(path)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		z := m.Forward(x)
		if closeTo(t, tt.text+" in ONNX", z.Float64s(), tt.want, 1e-6); !slices.Equal(z.Shape(), y.Shape()) {
			t.Errorf("%s: shape %v, in ONNX %v", tt.text, y.Shape(), z.Shape())
		}
		var shape *tensor.ShapeError
		err = func() (err error) {
			defer nn.Catch(&err)
			tt.layer.Forward(tensor.Zeros(2, 7))
			return nil
		}()
		if !errors.As(err, &shape) || shape.Op != tt.text {
			t.Errorf("%s of a matrix: %v", tt.text, err)
		}
	}
	p := tensor.Parameter(x)
	nn.MaxPool1D(2).Forward(p).Sum().Backward()
	closeTo(t, "gradient", p.Grad().Float64s(), []float64{0, 1, 1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0}, 0)
}

// TestSameNeedsEvenPadding rejects kernels for which Same would need more padding on one side, also with weights that were set
// before the first input, and takes those that a dilation makes odd.
func TestSameNeedsEvenPadding(t *testing.T) {
	forward := func(l nn.Module, weight []int, loaded bool, x ...int) (shape []int, err error) {
		defer nn.Catch(&err)
		if loaded {
			if err := nn.SetState(l, map[string]*tensor.Tensor{"weight": tensor.Ones(weight...), "bias": tensor.Ones(weight[0])}); err != nil {
				t.Fatal(err)
			}
		}
		return l.Forward(tensor.Ones(x...)).Shape(), nil
	}
	for _, loaded := range []bool{false, true} {
		for kernel, dilation := range map[int]int{4: 1, 2: 3} {
			options := []nn.Option{nn.Same(), nn.Dilation(dilation)}
			k, want := kernel, "Same() needs an odd kernel size"
			if _, err := forward(nn.Conv1D(3, k, options...), []int{3, 2, k}, loaded, 1, 2, 9); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Conv1D, kernel %d, weights set before %v: %v", k, loaded, err)
			}
			if _, err := forward(nn.Conv2D(3, k, options...), []int{3, 2, k, k}, loaded, 1, 2, 9, 9); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Conv2D, kernel %d, weights set before %v: %v", k, loaded, err)
			}
			if _, err := forward(nn.Conv3D(3, k, options...), []int{3, 2, k, k, k}, loaded, 1, 2, 9, 9, 9); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Conv3D, kernel %d, weights set before %v: %v", k, loaded, err)
			}
		}
		shape, err := forward(nn.Conv2D(3, 4, nn.Same(), nn.Dilation(2)), []int{3, 2, 4, 4}, loaded, 1, 2, 9, 8)
		if err != nil || !slices.Equal(shape, []int{1, 3, 9, 8}) {
			t.Errorf("a dilated kernel of 4, weights set before %v: %v, %v", loaded, shape, err)
		}
	}
}
