package onnx_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/onnx"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/internal/testenv"
)

// parity is a model whose results in onnxruntime must equal those of this module, for the example
// with several sizes and for more inputs.
type parity struct {
	name     string
	model    nn.Module // or function
	function func(in []*tensor.Tensor) []*tensor.Tensor
	examples []*tensor.Tensor
	options  []onnx.Option
	more     [][]*tensor.Tensor // additional inputs
	covers   []string           // the tested functions of package nn, or of package tensor with the prefix "tensor."

	tolerance  float64 // relative to the largest value; 0 means 1e-5
	unrunnable string  // why onnxruntime cannot run the model, which is then only checked
	external   bool
	refused    error // of a derived row
	derived    bool  // from a method, which may also have a reason why it is not exported
}

func (p *parity) forward(in []*tensor.Tensor) []*tensor.Tensor {
	if p.function != nil {
		return p.function(in)
	}
	return []*tensor.Tensor{p.model.Forward(in[0])}
}

// save exports the model.
func (p *parity) save(path string) error {
	if p.function != nil {
		return onnx.ExportFunc(path, p.function, p.examples, p.options...)
	}
	return onnx.Export(path, p.model, p.examples[0], p.options...)
}

// inputs returns the examples with several batch sizes, and more.
func (p *parity) inputs() [][]*tensor.Tensor {
	if p.more != nil {
		return append(p.more, p.examples)
	}
	all := [][]*tensor.Tensor{p.examples}
	for _, n := range []int{1, 3, 17} {
		var in []*tensor.Tensor
		for _, x := range p.examples {
			in = append(in, repeated(x, n))
		}
		all = append(all, in)
	}
	return all
}

// repeated returns n examples by repeating those given; repetitions of floats differ slightly.
func repeated(x *tensor.Tensor, n int) *tensor.Tensor {
	var parts []*tensor.Tensor
	for i := range n {
		k := i % x.Size(0)
		part := x.Slice(0, k, k+1)
		if x.DType() == tensor.Float32 {
			part = part.AddScalar(0.001 * float64(i/x.Size(0)))
		}
		parts = append(parts, part)
	}
	return tensor.Concat(0, parts...)
}

// manifest is the input of testdata/parity.py.
type (
	fileTensor struct {
		DType string `json:"dtype"`
		Shape []int  `json:"shape"`
		Data  []byte `json:"data"`
	}
	fileRun struct {
		Inputs  []fileTensor `json:"inputs"`
		Outputs []fileTensor `json:"outputs"`
	}
	fileCase struct {
		Name       string    `json:"name"`
		File       string    `json:"file"`
		External   bool      `json:"external"`
		Unrunnable bool      `json:"unrunnable"`
		Runs       []fileRun `json:"runs"`
	}
)

func fileTensors(all []*tensor.Tensor) []fileTensor {
	out := []fileTensor{}
	for _, x := range all {
		out = append(out, fileTensor{x.DType().String(), x.Shape(), x.Raw()})
	}
	return out
}

// TestParity exports every row of parities and runs the official checker and onnxruntime on the results.
func TestParity(t *testing.T) {
	interpreter := testenv.Python(t, "onnx", "onnxruntime", "ml_dtypes")
	folder := t.TempDir()
	rows := parities()
	var manifest []fileCase
	for i := range rows {
		p := &rows[i]
		t.Run("export "+p.name, func(t *testing.T) {
			path := filepath.Join(folder, p.name+".onnx")
			if err := p.save(path); err != nil {
				if p.derived && errors.Is(err, onnx.ErrUnsupported) {
					p.refused = err // TestEveryOpHasAConverter checks that it has a reason
					return
				}
				t.Fatal(err)
			}
			c := fileCase{Name: p.name, File: path, External: p.external, Unrunnable: p.unrunnable != ""}
			if p.model != nil {
				defer nn.Eval(p.model)()
			}
			for _, in := range p.inputs() {
				tensor.NoGrad(func() { c.Runs = append(c.Runs, fileRun{fileTensors(in), fileTensors(p.forward(in))}) })
			}
			manifest = append(manifest, c)
		})
	}
	text, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(folder, "manifest.json")
	if err := os.WriteFile(list, text, 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), interpreter, "testdata/parity.py", list)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, &stderr)
	}
	results := map[string]struct {
		Difference float64
		Error      string
	}{}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var r struct {
			Name       string
			Difference float64
			Error      string
		}
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		results[r.Name] = struct {
			Difference float64
			Error      string
		}{r.Difference, r.Error}
	}
	for _, p := range rows {
		t.Run(p.name, func(t *testing.T) {
			r, ok := results[p.name]
			tolerance := p.tolerance
			if tolerance == 0 {
				tolerance = 1e-5
			}
			switch {
			case p.refused != nil:
				t.Log(p.refused)
			case !ok:
				t.Error("was not looked at")
			case r.Error != "":
				t.Error(r.Error)
			case !(r.Difference <= tolerance):
				t.Errorf("differs by %.3g, want at most %g", r.Difference, tolerance)
			default:
				t.Logf("differs by %.2g", r.Difference)
			}
		})
	}
}
