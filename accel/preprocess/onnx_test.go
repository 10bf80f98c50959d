package preprocess_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/frame"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/onnx"
	"github.com/quernlab/quern/accel/preprocess"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/internal/testenv"
)

// identity is a model that returns the features themselves.
type identity struct{}

func (identity) Forward(x *tensor.Tensor) *tensor.Tensor { return x.AddScalar(0) }

// embedded looks up the first feature in a table, and appends the others.
type embedded struct {
	Table nn.Module
	Rest  nn.Module
}

func (m *embedded) Forward(x *tensor.Tensor) *tensor.Tensor {
	numbers := x.Slice(1, 0, 1).Reshape(-1).Cast(tensor.Int64)
	return m.Rest.Forward(tensor.Concat(1, m.Table.Forward(numbers), x.Slice(1, 1, x.Size(1))))
}

// onnxCase is a case for testdata/run_onnx.py.
type onnxCase struct {
	File    string           `json:"file"`
	Columns map[string][]any `json:"columns"`
}

// columnsOf returns a frame in the form in which an exported file wants it.
func columnsOf(f *frame.Frame) map[string][]any {
	columns := map[string][]any{}
	for _, name := range f.Columns() {
		c := f.Column(name)
		values := make([]any, c.Len())
		for i := range values {
			switch c.Type() {
			case frame.Text:
				values[i] = c.Format(i)
			case frame.Time:
			default:
				if v := c.Floats()[i]; !math.IsNaN(v) {
					values[i] = v
				}
			}
		}
		columns[name] = values
	}
	return columns
}

// runONNX runs the cases in onnxruntime, and returns the outputs by row, or errors.
func runONNX(t *testing.T, cases []onnxCase) (outputs [][][]float64, failures []string) {
	t.Helper()
	text, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), testenv.Python(t, "onnx", "onnxruntime"), "testdata/run_onnx.py")
	command.Stdin = bytes.NewReader(text)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var r struct {
			Output [][]float64
			Error  string
		}
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		outputs, failures = append(outputs, r.Output), append(failures, r.Error)
	}
	return outputs, failures
}

// TestONNXEqualsTensor compares what exported files compute of the columns with Tensor and the model.
func TestONNXEqualsTensor(t *testing.T) {
	tensors.Seed(1)
	train, test := people(t)
	train, test = train.Drop("born", "name"), test.Drop("born", "name")
	// A city, a number and a truth value that no training row has.
	unseen := frame.New(frame.Floats("age", math.NaN(), 30), frame.Floats("income", 1e4, math.NaN()), frame.Ints("visits", 77, 0),
		frame.Texts("city", "Atlantis", "Lima"), frame.Bools("active", true, false))
	other := func(names ...string) preprocess.CategoryColumns { return preprocess.Categories(names...).Other() }
	fill := preprocess.Numbers("age", "income").Impute(preprocess.Mean)
	rest := nn.Sequential(nn.Dense(6), nn.ReLU(), nn.Dense(2))
	rows := []struct {
		name    string
		target  string
		columns []preprocess.Columns
		model   nn.Module
		frames  []*frame.Frame
	}{
		{"numbers", "visits", []preprocess.Columns{preprocess.Numbers("age").Impute(preprocess.Median).Indicator(), preprocess.Numbers("income").Impute(preprocess.Constant(7)).Log().Indicator()}, identity{}, []*frame.Frame{train, test, unseen}},
		{"unscaled", "age", []preprocess.Columns{preprocess.Numbers("visits", "active").Unscaled()}, identity{}, []*frame.Frame{train, test, unseen}},
		{"one-hot", "age", []preprocess.Columns{preprocess.Categories("city", "active", "visits")}, identity{}, []*frame.Frame{train}},
		{"other", "age", []preprocess.Columns{other("city", "active", "visits", "income")}, identity{}, []*frame.Frame{train, test, unseen}},
		{"index", "age", []preprocess.Columns{preprocess.Categories("city", "income").Index()}, identity{}, []*frame.Frame{train}},
		{"index with others", "age", []preprocess.Columns{other("city", "income").Index()}, identity{}, []*frame.Frame{train, test, unseen}},
		{"automatic", "visits", nil, nn.Sequential(nn.Dense(5), nn.Tanh(), nn.Dense(3)), []*frame.Frame{train, test, unseen}},
		{"embedding", "visits", []preprocess.Columns{other("city").Index(), fill, preprocess.Categories("active")}, &embedded{nn.Embedding(6, 4), rest}, []*frame.Frame{train, test, unseen}},
	}
	var cases []onnxCase
	var want []*tensor.Tensor
	var names []string
	folder := t.TempDir()
	for _, row := range rows {
		fitted, err := preprocess.Fit(train, preprocess.Values(row.target), row.columns...)
		if err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
		path := filepath.Join(folder, row.name)
		if err := fitted.Save(path + ".json"); err != nil {
			t.Fatal(err)
		}
		if fitted, err = preprocess.Load(path + ".json"); err != nil {
			t.Fatal(err)
		}
		if err := fitted.ExportONNX(path+".onnx", row.model); err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
		for _, f := range row.frames {
			x, err := fitted.Tensor(f)
			if err != nil {
				t.Fatalf("%s: %v", row.name, err)
			}
			want = append(want, row.model.Forward(x))
			cases = append(cases, onnxCase{path + ".onnx", columnsOf(f)})
			names = append(names, row.name)
		}
	}
	outputs, failures := runONNX(t, cases)
	for k, w := range want {
		if failures[k] != "" || len(outputs[k]) != w.Size(0) {
			t.Errorf("%s: %d rows, %s", names[k], len(outputs[k]), failures[k])
			continue
		}
		for i, row := range outputs[k] {
			for j, got := range row {
				if v := float64(w.Data()[i*w.Size(1)+j]); math.Abs(got-v) > 1e-5*max(1, math.Abs(v)) {
					t.Fatalf("%s: row %d, output %d is %v, want %v", names[k], i, j, got, v)
				}
			}
		}
	}
}

// TestONNXErrorsOfRows runs files with rows that Tensor does not accept.
func TestONNXErrorsOfRows(t *testing.T) {
	train := frame.New(frame.Floats("x", 1, 2, 4), frame.Texts("s", "a", "b", "a"), frame.Ints("n", 3, 5, 5), frame.Floats("y", 0, 1, 0))
	row := func(x float64, s string, n int) *frame.Frame {
		return frame.New(frame.Floats("x", 1, x), frame.Texts("s", "a", s), frame.Ints("n", 3, n))
	}
	fitted := func(columns ...preprocess.Columns) *preprocess.Transform {
		f, err := preprocess.Fit(train, preprocess.Values("y"), columns...)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	rows := []struct {
		transform *preprocess.Transform
		rows      *frame.Frame
		want      string // in the error; "" if there is none
	}{
		{fitted(preprocess.Numbers("x")), row(2, "a", 3), ""},
		{fitted(preprocess.Numbers("x")), row(math.NaN(), "a", 3), `column "x": a value is missing`},
		{fitted(preprocess.Numbers("x")), row(1e300, "a", 3), `column "x": a value is missing, infinite or too large`},
		{fitted(preprocess.Numbers("x").Log()), row(-1, "a", 3), `column "x": a value is missing, infinite or not above -1`},
		{fitted(preprocess.Numbers("x").Log()), row(-2, "a", 3), `column "x": a value is missing, infinite or not above -1`},
		{fitted(preprocess.Numbers("x").Impute(preprocess.Mean).Log()), row(math.NaN(), "a", 3), ""},
		{fitted(preprocess.Categories("s")), row(1, "c", 3), `column "s": a value is not one of the categories`},
		{fitted(preprocess.Categories("s").Index()), row(1, "c", 3), `column "s": a value is not one of the categories`},
		{fitted(preprocess.Categories("n")), row(1, "a", 4), `column "n": a value is not one of the categories`},
		{fitted(preprocess.Categories("n", "s")), row(1, "b", 5), ""},
	}
	var cases []onnxCase
	folder := t.TempDir()
	for k, r := range rows {
		path := filepath.Join(folder, string(rune('a'+k))+".onnx")
		if err := r.transform.ExportONNX(path, identity{}); err != nil {
			t.Fatal(err)
		}
		if _, err := r.transform.Tensor(r.rows); (err != nil) != (r.want != "") {
			t.Errorf("row %d: Tensor returns %v", k, err)
		}
		cases = append(cases, onnxCase{path, columnsOf(r.rows)})
	}
	_, failures := runONNX(t, cases)
	for k, r := range rows {
		if !strings.Contains(failures[k], r.want) || r.want == "" && failures[k] != "" {
			t.Errorf("row %d: got %q, want %q", k, failures[k], r.want)
		}
	}
}

// TestExportErrors exports what a file cannot have.
func TestExportErrors(t *testing.T) {
	t.Parallel()
	day := time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)
	train := frame.New(frame.Times("born", day, day.AddDate(1, 1, 1)), frame.Texts("s", "", "b"), frame.Ints("n", 1<<60+1, 1<<60),
		frame.Floats("y", 0, 1), frame.Floats("0.weight", 1, 2))
	for _, row := range []struct {
		columns preprocess.Columns
		column  string
		want    string
	}{
		{preprocess.Dates("born"), "born", "ONNX has no dates"},
		{preprocess.Categories("born"), "born", "ONNX has no dates"},
		{preprocess.Categories("s"), "s", "an empty text is a category"},
		{preprocess.Categories("n"), "n", "is no number that float64 has"},
		{preprocess.Numbers("0.weight"), "", `a column and a parameter are both named "0.weight"`},
	} {
		fitted, err := preprocess.Fit(train, preprocess.Values("y"), row.columns)
		if err != nil {
			t.Fatal(err)
		}
		err = fitted.ExportONNX(filepath.Join(t.TempDir(), "m.onnx"), nn.Sequential(nn.Dense(2)))
		var export *preprocess.ExportError
		if err == nil || !strings.Contains(err.Error(), row.want) || row.column != "" && (!errors.As(err, &export) || export.Column != row.column) {
			t.Errorf("got %v, want %q about %q", err, row.want, row.column)
		}
	}
	fitted, err := preprocess.Fit(train, preprocess.Values("y"), preprocess.Numbers("n"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.onnx")
	if err := fitted.ExportONNX(path, nil); err == nil || !strings.Contains(err.Error(), "model is nil") {
		t.Errorf("got %v, want that the model is nil", err)
	}
	if err := fitted.ExportONNX(path, identity{}, onnx.Inputs("x")); err == nil || !strings.Contains(err.Error(), "no Inputs") {
		t.Errorf("got %v, want that Inputs names what Columns names", err)
	}
	if err := fitted.ExportONNX(path, identity{}); err != nil {
		t.Fatal(err)
	}
	if _, err := onnx.Import(path); !errors.Is(err, onnx.ErrImport) {
		t.Errorf("got %v, want that Import does not support the file", err)
	}
}
