package onnx

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// one returns a file with one node of x [2 3] and a weight w [3].
func one(n operator, change func(m *Model)) []byte {
	m := &Model{name: "g", nodes: []operator{n},
		weights: []weight{{name: "w", element: elementFloat, shape: []int{3}, raw: make([]byte, 12)}},
		inputs:  []port{{name: "x", element: elementFloat, shape: []dimension{{size: 2, known: true}, {name: "n"}}}},
		outputs: []port{{name: "y", element: elementFloat}},
	}
	if change != nil {
		change(m)
	}
	return m.appendModel(nil, "", nil)
}

func TestImportRejects(t *testing.T) {
	add := operator{"add", "Add", []string{"x", "w"}, "y", nil}
	for _, tt := range []struct {
		name string
		file []byte
		is   error
		want string
		node string
	}{
		{"an op", one(operator{"a", "Einsum", []string{"x"}, "y", nil}, nil), ErrImport, `node "a", Einsum: this op is not supported`, "a"},
		{"a node without a name", one(operator{"", "Einsum", []string{"x"}, "y", nil}, nil), ErrImport, `node "y", Einsum`, "y"},
		{"an attribute", one(operator{"a", "Relu", []string{"x"}, "y", []attribute{{"slope", 1.0}}}, nil), ErrImport, "attribute slope is not", "a"},
		{"its value", one(operator{"a", "CumSum", []string{"x", "w"}, "y", []attribute{{"exclusive", 1}}}, nil), ErrImport, "exclusive 1 (supported is 0) is not", "a"},
		{"its type", one(operator{"a", "Elu", []string{"x"}, "y", []attribute{{"alpha", 1}}}, nil), ErrMalformed, "attribute alpha is a int, want a float64", "a"},
		{"too few inputs", one(operator{"a", "Add", []string{"x"}, "y", nil}, nil), ErrMalformed, "it has 1 inputs, want 2", "a"},
		{"a second output", bytes.Replace(one(operator{"a", "Relu", []string{"x", "x"}, "y", nil}, nil), []byte("\x0a\x01x\x12\x01y"), []byte("\x12\x01y\x12\x01z"), 1), ErrImport, "output 1 of this op", "a"},
		{"too many inputs", one(operator{"a", "Relu", []string{"x", "w"}, "y", nil}, nil), ErrImport, "a node with 2 inputs", "a"},
		{"an unknown input", one(operator{"a", "Relu", []string{"z"}, "y", nil}, nil), ErrMalformed, `input "z" is defined nowhere before it`, "a"},
		{"a cycle", one(operator{"a", "Relu", []string{"y"}, "y", nil}, nil), ErrMalformed, `input "y"`, "a"},
		{"a name twice", one(operator{"a", "Relu", []string{"x"}, "x", nil}, nil), ErrMalformed, `"x" is defined twice`, "a"},
		{"no such output", one(operator{"a", "Relu", []string{"x"}, "z", nil}, nil), ErrMalformed, `nothing computes the output "y"`, ""},
		{"no output", one(add, func(m *Model) { m.outputs = nil }), ErrMalformed, "no output", ""},
		{"a weight of another size", one(add, func(m *Model) { m.weights[0].raw = make([]byte, 11) }), ErrMalformed, `tensor "w": `, ""},
		{"a negative size", one(add, func(m *Model) { m.weights[0].shape = []int{-3} }), ErrMalformed, "shape is [-3]", ""},
		{"a huge size", one(add, func(m *Model) { m.weights[0].shape = []int{1 << 30, 1 << 30, 1 << 30} }), ErrMalformed, "too large", ""},
		{"a type", one(add, func(m *Model) { m.weights[0].element = 8 }), ErrImport, "element type 8", ""},
		{"a type of an input", one(add, func(m *Model) { m.inputs[0].element = elementInt8 }), ErrImport, `element type 3 of input "x"`, ""},
		{"a folded node", one(operator{"a", "Reshape", []string{"/i", "/i"}, "y", nil}, func(m *Model) {
			m.weights = append(m.weights, weight{name: "/i", element: elementInt64, shape: []int{1}, raw: []byte{7, 0, 0, 0, 0, 0, 0, 0}})
		}), nil, "the new shape [7] has another number of elements", "a"},
		{"a constant without a value", one(operator{"a", "Constant", nil, "y", nil}, nil), nil, "it has no value", "a"},
		{"nothing", nil, ErrMalformed, "no graph", ""},
		{"text", []byte("<html>"), ErrMalformed, "ModelProto", ""},
		{"an old version", bytes.ReplaceAll(one(add, nil), []byte("\x10\x14"), []byte("\x10\x09")), ErrImport, "opset 9 (supported are 13 to 20)", ""},
		{"a new version", bytes.ReplaceAll(one(add, nil), []byte("\x10\x14"), []byte("\x10\x19")), ErrImport, "opset 25", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := importBytes(tt.file, "m.onnx")
			var failed *ImportError
			if !errors.As(err, &failed) || failed.Path != "m.onnx" || failed.Node != tt.node || tt.is != nil && !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %v with %q at node %q", err, tt.is, tt.want, tt.node)
			}
		})
	}
	if _, err := Import(filepath.Join(t.TempDir(), "m.onnx")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// TestImportedRejects runs models with inputs that do not fit.
func TestImportedRejects(t *testing.T) {
	m, err := importBytes(one(operator{"sum", "Add", []string{"x", "w"}, "y", nil}, nil), "m.onnx")
	if err != nil {
		t.Fatal(err)
	}
	run := func(in ...*tensor.Tensor) (err error) {
		defer nn.Catch(&err)
		m.Run(in...)
		return nil
	}
	var failed *ImportError
	var shape *tensor.ShapeError
	if err := run(tensor.Zeros(2, 4)); !errors.As(err, &failed) || failed.Node != "sum" || failed.Op != "Add" || !errors.As(err, &shape) {
		t.Errorf("shapes that do not fit: %v", err)
	}
	var dtype *tensor.DTypeError
	if err := run(tensor.FromInts(make([]int, 6), 2, 3)); !errors.As(err, &dtype) || !strings.Contains(err.Error(), "input x is float") {
		t.Errorf("integers: %v", err)
	}
	for _, n := range []operator{
		{"a", "Mod", []string{"x", "w"}, "y", nil}, {"a", "Resize", []string{"x", "", "w"}, "y", nil}, {"a", "LSTM", []string{"x", "w", "w"}, "y", nil},
		{"a", "TopK", []string{"x", "k"}, "y", nil}, {"a", "Split", []string{"x", "k"}, "y", nil}, {"a", "InstanceNormalization", []string{"x", "w", "w"}, "y", nil},
		{"a", "Gelu", []string{"x"}, "y", []attribute{{"approximate", "best"}}},
	} {
		m, err := importBytes(one(n, func(m *Model) {
			m.weights = append(m.weights, weight{name: "k", element: elementInt64, shape: []int{1}, raw: []byte{7, 0, 0, 0, 0, 0, 0, 0}})
		}), "m.onnx")
		if err == nil {
			err = func() (err error) { defer nn.Catch(&err); m.Run(tensor.Zeros(2, 3)); return nil }()
		}
		if !errors.As(err, &failed) || failed.Node != "a" || failed.Op != n.op {
			t.Errorf("%s: %v", n.op, err)
		}
	}
	for _, in := range [][]*tensor.Tensor{{}, {nil}, {tensor.Zeros(3, 3)}, {tensor.Zeros(3)}, {tensor.Zeros(2, 3), tensor.Zeros(2, 3)}} {
		if err := run(in...); !errors.As(err, &shape) {
			t.Errorf("%v: %v", in, err)
		}
	}
}

// TestImportExternal imports weights in a second file, and files that name another one.
func TestImportExternal(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "m.onnx")
	model := nn.Sequential(nn.Dense(300))
	x := tensor.Randn(tensor.NewGenerator(1), 2, 4)
	if err := Export(path, model, x, ExternalData()); err != nil {
		t.Fatal(err)
	}
	m, err := Import(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.Forward(x).Data(), model.Forward(x).Data(); !bytes.Equal(tensor.New(got, len(got)).Raw(), tensor.New(want, len(want)).Raw()) {
		t.Error("the results differ")
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ from, to, want string }{
		{"m.onnx.data", "../../a.txt", "not below the folder"},
		{"m.onnx.data", "none.txt...", "no such file"},
		{"4800", "4801", "has 4801 bytes of data"},
		{"8192", "9192", "which has only"},
	} {
		_, err := importBytes(bytes.ReplaceAll(file, []byte(tt.from), []byte(tt.to)), path)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s for %s: %v, want %q", tt.to, tt.from, err, tt.want)
		}
	}
}

// TestImportTrains trains an imported model as the original one.
func TestImportTrains(t *testing.T) {
	x := tensor.Randn(tensor.NewGenerator(1), 6, 4)
	model := nn.Sequential(nn.Dense(5), nn.BatchNorm(), nn.ReLU(), nn.Dense(2))
	model.Forward(x)
	path := filepath.Join(t.TempDir(), "m.onnx")
	if err := Export(path, model, x); err != nil {
		t.Fatal(err)
	}
	m, err := Import(path)
	if err != nil {
		t.Fatal(err)
	}
	defer nn.Eval(model)()
	model.Forward(x).Square().Sum().Backward()
	m.Forward(x).Square().Sum().Backward()
	got := map[string]*tensor.Tensor{}
	for _, p := range nn.NamedParameters(m) {
		got[p.Name] = p.Grad()
	}
	want := nn.NamedParameters(model)
	if len(got) != len(want) || len(nn.State(m)) != len(nn.State(model)) {
		t.Errorf("%d parameters and %d tensors, want %d and %d", len(got), len(nn.State(m)), len(want), len(nn.State(model)))
	}
	for _, p := range want {
		if g := got[p.Name]; g == nil || g.Sub(p.Grad()).Abs().Max(0).Sum().Item() > 1e-4 {
			t.Errorf("%s has the gradient %v, want %v", p.Name, g, p.Grad())
		}
	}
	if err := nn.Save(path+".safetensors", m); err != nil {
		t.Error(err)
	}
	if err := nn.Load(path+".safetensors", model); err != nil {
		t.Errorf("the original does not load the weights: %v", err)
	}
}

// FuzzImport imports damaged files: each must be an error or a model.
func FuzzImport(f *testing.F) {
	x := tensor.Randn(tensor.NewGenerator(1), 2, 3, 4, 4)
	for _, m := range []nn.Module{nn.Sequential(nn.Conv2D(2, 3), nn.ReLU(), nn.MaxPool2D(2), nn.Flatten(), nn.Dense(2)), nn.Sequential(nn.LayerNorm(), nn.Flatten(), nn.Dense(3), nn.GELU())} {
		model, err := Build(m, x)
		if err != nil {
			f.Fatal(err)
		}
		var file bytes.Buffer
		if _, err := model.WriteTo(&file); err != nil {
			f.Fatal(err)
		}
		f.Add(file.Bytes())
		for n := 1; n < file.Len(); n += 97 { // truncated
			f.Add(file.Bytes()[:n])
		}
		for n := 0; n < file.Len(); n += 13 { // with another byte
			changed := bytes.Clone(file.Bytes())
			changed[n] ^= 1 << (n % 8)
			f.Add(changed)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := importBytes(b, "m.onnx")
		var failed *ImportError
		if err != nil && !errors.As(err, &failed) || err == nil && m == nil {
			t.Errorf("%v, %v", m, err)
		}
	})
}
