package onnx_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/onnx"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/internal/testenv"
)

// parity is a model that onnxruntime must compute as this module does, for several
// inputs: those of the example with other sizes, and what there is in more.
type parity struct {
	name     string
	model    nn.Module // or function
	function func(in []*tensor.Tensor) []*tensor.Tensor
	examples []*tensor.Tensor
	options  []onnx.Option
	more     [][]*tensor.Tensor // further inputs
	covers   []string           // functions of package nn, or of package tensor with a "tensor." before

	tolerance  float64 // relative to the largest number; 1e-5 by default
	unrunnable string  // why onnxruntime has no code for it: checked, but not run
	external   bool
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

// inputs returns the examples with batches of several sizes, and more.
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

// repeated is n examples, from the beginning again where there are not so many, and
// each a bit different where they are floats.
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

// The manifest of testdata/parity.py.
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

// python finds one that has onnxruntime: that of the repository, or of VIRTUAL_ENV.
func python(t *testing.T) string {
	for _, venv := range []string{os.Getenv("VIRTUAL_ENV"), "../../.venv"} {
		if venv == "" {
			continue
		}
		path := filepath.Join(venv, "bin", "python")
		if runtime.GOOS == "windows" {
			path = filepath.Join(venv, "Scripts", "python.exe")
		}
		if exec.Command(path, "-c", "import onnx, onnxruntime, ml_dtypes").Run() == nil {
			return path
		}
	}
	testenv.Missing(t, "there is no Python with onnx and onnxruntime; make kernelspec sets one up in .venv")
	return ""
}

// TestParity exports every row, and has the official checker and onnxruntime look at
// what came out.
func TestParity(t *testing.T) {
	interpreter := python(t)
	folder := t.TempDir()
	rows := parities()
	var manifest []fileCase
	for i := range rows {
		p := &rows[i]
		t.Run("export "+p.name, func(t *testing.T) {
			path := filepath.Join(folder, p.name+".onnx")
			if err := p.save(path); err != nil {
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
