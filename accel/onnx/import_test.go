package onnx_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/onnx"
	"github.com/quernlab/quern/accel/tensor"
)

// TestImport exports every row of parities, imports the file and compares the results with those of
// the exported model. TestParity compares the same files with onnxruntime.
func TestImport(t *testing.T) {
	folder := t.TempDir()
	rows := parities()
	for i := range rows {
		p := &rows[i]
		t.Run(p.name, func(t *testing.T) {
			path := filepath.Join(folder, fmt.Sprint(i, ".onnx"))
			if err := p.save(path); err != nil {
				if p.derived && errors.Is(err, onnx.ErrUnsupported) {
					return
				}
				t.Fatal(err)
			}
			m, err := onnx.Import(path)
			if err != nil {
				t.Fatal(err)
			}
			if p.model != nil {
				defer nn.Eval(p.model)()
			}
			for _, in := range p.inputs() {
				tensor.NoGrad(func() { compare(t, p, m, in) })
			}
		})
	}
}

// compare compares the results of an imported model with those of a row.
func compare(t *testing.T, p *parity, m *onnx.Imported, in []*tensor.Tensor) {
	t.Helper()
	want := p.forward(in)
	got, err := run(m, in)
	if err != nil {
		t.Error(err)
		return
	}
	tolerance := max(p.tolerance, 1e-5)
	for i, w := range want {
		g := got[i]
		if g.DType() != w.DType() || fmt.Sprint(g.Shape()) != fmt.Sprint(w.Shape()) {
			t.Errorf("output %d is %v%v, want %v%v", i, g.DType(), g.Shape(), w.DType(), w.Shape())
			continue
		}
		a, b := g.Float64s(), w.Float64s()
		largest, worst := 1e-30, 0.0
		for k := range b {
			switch {
			case math.IsNaN(b[k]) || math.IsInf(b[k], 0):
				if math.IsNaN(a[k]) != math.IsNaN(b[k]) || !math.IsNaN(b[k]) && a[k] != b[k] {
					t.Fatalf("output %d has %v at %d, want %v", i, a[k], k, b[k])
				}
			default:
				largest, worst = max(largest, math.Abs(b[k])), max(worst, math.Abs(a[k]-b[k]))
			}
		}
		if !(worst/largest <= tolerance) {
			t.Errorf("output %d of inputs like %v differs by %.3g, want at most %g", i, in[0].Shape(), worst/largest, tolerance)
		}
	}
}

// run runs a model and returns a panic of package tensor as an error.
func run(m *onnx.Imported, in []*tensor.Tensor) (out []*tensor.Tensor, err error) {
	defer nn.Catch(&err)
	out = m.Run(in...)
	for _, x := range out {
		x.Raw()
	}
	return out, nil
}

// readCases reads the cases of a test, which a Python program has written.
func readCases(t *testing.T, path string, cases any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, cases); err != nil {
		t.Fatal(err)
	}
}

// importFile imports a file with this content.
func importFile(t *testing.T, content []byte) *onnx.Imported {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.onnx")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := onnx.Import(path)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestImportOthers imports files of other programs; testdata/make_import.py writes them and the results
// of onnxruntime.
func TestImportOthers(t *testing.T) {
	var cases []struct {
		Name string
		File []byte
		X, Y fileTensor
	}
	readCases(t, "testdata/import.json", &cases)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			m := importFile(t, c.File)
			y := c.Y.tensor()
			want := &parity{function: func([]*tensor.Tensor) []*tensor.Tensor { return one(y) }}
			compare(t, want, m, one(c.X.tensor()))
		})
	}
}

// TestImportTorch imports small models that PyTorch exported with a batch of any size, by both of its
// exporters, and compares the outputs with PyTorch's; testdata/make_torch.py writes them.
func TestImportTorch(t *testing.T) {
	var cases []struct {
		Name    string
		File    []byte
		In, Out []fileTensor
	}
	readCases(t, "testdata/torch.json", &cases)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			m := importFile(t, c.File)
			tensors := func(files []fileTensor) (all []*tensor.Tensor) {
				for _, f := range files {
					all = append(all, f.tensor())
				}
				return all
			}
			in, want := tensors(c.In), tensors(c.Out)
			compare(t, &parity{function: func([]*tensor.Tensor) []*tensor.Tensor { return want }}, m, in)
			loss := tensor.Full(0)
			for _, y := range m.Run(in...) {
				loss = loss.Add(y.Square().Sum())
			}
			parameters := nn.Parameters(m)
			if len(parameters) == 0 {
				return
			}
			loss.Backward()
			trained := 0
			for _, p := range parameters {
				if p.Grad() != nil {
					trained++
				}
			}
			if trained < len(parameters)/2 { // others are constants of the exporter
				t.Errorf("%d of %d weights have gradients", trained, len(parameters))
			}
		})
	}
}

func (f fileTensor) tensor() *tensor.Tensor {
	for d := range tensor.Bool + 1 {
		if d.String() == f.DType {
			return tensor.FromRaw(d, f.Data, f.Shape...)
		}
	}
	panic(f.DType)
}
