package preprocess_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/frame"
	"github.com/quernlab/quern/accel/internal/training/sealed"
	"github.com/quernlab/quern/accel/preprocess"
)

func people(t *testing.T) (train, test *frame.Frame) {
	t.Helper()
	f, err := frame.CSV("../frame/testdata/people.csv")
	if err != nil {
		t.Fatal(err)
	}
	return f.Slice(0, 30), f.Slice(30, 40)
}

// TestAsScikitLearn compares with testdata/make_golden.py, also after the transform was written to a file and read.
func TestAsScikitLearn(t *testing.T) {
	t.Parallel()
	var want struct {
		Train, Test [][]float64
		Index       []float64
	}
	text, err := os.ReadFile("testdata/golden.json")
	if err == nil {
		err = json.Unmarshal(text, &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	train, test := people(t)
	fitted, err := preprocess.Fit(train, preprocess.Class("name"),
		preprocess.Numbers("age").Impute(preprocess.Median), preprocess.Numbers("income").Impute(preprocess.Mean),
		preprocess.Numbers("visits").Log(), preprocess.Categories("city", "active"), preprocess.Dates("born"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "transform.json")
	if err := fitted.Save(path); err != nil {
		t.Fatal(err)
	}
	loaded, err := preprocess.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	names := "[age income visits city=Berlin city=Lima city=Oslo city=Paris city missing active=false active=true born year born month born day born weekday]"
	for _, transform := range []*preprocess.Transform{fitted, loaded} {
		if got := fmt.Sprint(transform.Features()); got != names {
			t.Errorf("got the features %s, want %s", got, names)
		}
		for _, part := range []struct {
			frame *frame.Frame
			want  [][]float64
		}{{train, want.Train}, {test, want.Test}} {
			x, err := transform.Tensor(part.frame)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range slices.Concat(part.want...) {
				if got := float64(x.Data()[i]); math.Abs(got-v) > 1e-6*max(1, math.Abs(v)) {
					t.Fatalf("value %d is %v, want %v", i, got, v)
				}
			}
		}
	}
	index, err := preprocess.Fit(train, preprocess.Values("visits"), preprocess.Categories("city").Index())
	if err != nil {
		t.Fatal(err)
	}
	x, err := index.Tensor(test)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range want.Index {
		if float64(x.Data()[i]) != v {
			t.Errorf("city %d has number %v, want %v", i, x.Data()[i], v)
		}
	}
	if got, want := fmt.Sprintf("%q", index.Categories("city")), `["Berlin" "Lima" "Oslo" "Paris" ""]`; got != want {
		t.Errorf("got the categories %s, want %s", got, want)
	}
}

// TestDataset checks the names that a data set gets.
func TestDataset(t *testing.T) {
	t.Parallel()
	f, err := frame.ReadCSV(strings.NewReader("x,kind\n1,10\n2,2\n3,1\n,2\n"))
	if err != nil {
		t.Fatal(err)
	}
	transform, err := preprocess.Fit(f, preprocess.Class("kind"), preprocess.Numbers("x").Impute(preprocess.Constant(0)).Indicator().Unscaled())
	if err != nil {
		t.Fatal(err)
	}
	set, err := transform.Dataset(f)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(set.Columns(), set.Classes(), set.Label(0), set.Label(1), set.Label(2), set.Example(0), set.Example(3))
	if want := "[x x missing] [1 2 10] 2 1 0 [1 0] [0 1]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	values, err := preprocess.Fit(f.DropMissing(), preprocess.Values("x"))
	if err != nil {
		t.Fatal(err)
	}
	set, err = values.Dataset(f.Head(2))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(set.Columns(), set.Schema().Targets, set.Target(1), values), `[kind] [x] [2] 1 features of 1 columns; predicts values of ["x"]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	train := frame.New(frame.Floats("x", 1, 2, math.NaN()), frame.Texts("s", "a", "b", "a"), frame.Ints("y", 0, 1, 0), frame.Floats("z", 1, math.NaN(), math.Inf(1)))
	test := frame.New(frame.Floats("x", 1, -1), frame.Texts("s", "c", "a"), frame.Ints("y", 2, 1))
	x := preprocess.Numbers("x").Impute(preprocess.Mean)
	for _, tt := range []struct {
		name    string
		columns []preprocess.Columns
		target  preprocess.Target
		want    string // of Fit, or of Dataset
	}{
		{"missing value", []preprocess.Columns{preprocess.Numbers("x")}, preprocess.Class("y"), `preprocess: column "x", row 2: got a missing value, want a number: use Impute, or DropMissing of the frame`},
		{"no column", []preprocess.Columns{preprocess.Numbers("xx")}, preprocess.Class("y"), `preprocess: frame: no column is named "xx"; did you mean "x"?`},
		{"text as a number", []preprocess.Columns{preprocess.Numbers("s")}, preprocess.Class("y"), `preprocess: frame: column "s" is of type text, but a column of numbers or bools is needed`},
		{"target as a feature", []preprocess.Columns{preprocess.Numbers("y")}, preprocess.Class("y"), `preprocess: column "y" is a feature and the target: leave it out of the features`},
		{"twice", []preprocess.Columns{x, x}, preprocess.Class("y"), `preprocess: two features are named "x": prepare each column once`},
		{"unseen category", []preprocess.Columns{preprocess.Categories("s")}, preprocess.Values("y"), `preprocess: column "s", row 0: "c" is not among the training rows, which have ["a" "b"]: use Categories(…).Other() to accept it`},
		{"unseen class", []preprocess.Columns{x}, preprocess.Class("y"), `preprocess: column "y", row 0: "2" is not among the training rows, which have ["0" "1"]: split the rows so that each class is among the training rows, or filter this one out`},
		{"logarithm", []preprocess.Columns{preprocess.Numbers("x").Impute(preprocess.Mean).Log()}, preprocess.Values("y"), `preprocess: column "x", row 1: got -1, want a number above -1 for Log`},
		{"text as a target", []preprocess.Columns{x}, preprocess.Values("s"), `preprocess: frame: column "s" is of type text, but a column of numbers or bools is needed`},
		{"infinite value, missing one before", []preprocess.Columns{preprocess.Numbers("z").Impute(preprocess.Mean)}, preprocess.Class("y"), `preprocess: column "z", row 2: got +Inf, want a finite number`},
		{"missing target", []preprocess.Columns{preprocess.Categories("s")}, preprocess.Class("x"), `preprocess: column "x", row 2: got a missing value, want a class: use DropMissing of the frame`},
	} {
		transform, err := preprocess.Fit(train, tt.target, tt.columns...)
		if tt.name == "text as a target" && err == nil {
			t.Errorf("%s: Fit reports no error", tt.name)
		}
		if err == nil {
			_, err = transform.Dataset(test)
		}
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s: got  %v\nwant %s", tt.name, err, tt.want)
		}
	}
	for value, want := range map[float64]string{
		math.NaN():   `preprocess: column "t", row 1: got a missing value, want a number: use DropMissing of the frame`,
		math.Inf(-1): `preprocess: column "t", row 1: got -Inf, want a finite number in the range of float32`,
		1e39:         `preprocess: column "t", row 1: got 1e+39, want a finite number in the range of float32`,
	} {
		f := frame.New(frame.Floats("x", 1, 2), frame.Floats("t", 1, value))
		transform, err := preprocess.Fit(f, preprocess.Values("t"), x)
		if err == nil {
			_, err = transform.Dataset(f)
		}
		if err == nil || err.Error() != want {
			t.Errorf("a target of %v: got  %v\nwant %s", value, err, want)
		}
	}
	unseen, err := preprocess.Fit(train, preprocess.Values("y"), preprocess.Categories("s").Other(), preprocess.Categories("y").Index())
	if err == nil {
		t.Errorf("%v accepts a target among the features", unseen)
	}
	other, err := preprocess.Fit(train, preprocess.Values("y"), preprocess.Categories("s").Other())
	if err != nil {
		t.Fatal(err)
	}
	if set, err := other.Dataset(test); err != nil || !slices.Equal(set.Example(0), []float32{0, 0}) {
		t.Errorf("got %v, %v, want an example of zeros", set, err)
	}
	if _, err := preprocess.Fit(train.Head(0), preprocess.Values("y")); err == nil {
		t.Error("fitted without rows")
	}
	var category *preprocess.CategoryError
	known, err := preprocess.Fit(train, preprocess.Values("y"), preprocess.Categories("s"))
	if err == nil {
		_, err = known.Dataset(test)
	}
	if !errors.As(err, &category) || category.Column != "s" || category.Row != 0 || category.Value != "c" {
		t.Errorf("got %v, want a CategoryError", err)
	}
}

func TestLoadErrors(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	seal := func(text string) string { return string(new(sealed.Sum).Seal([]byte(text))) }
	for _, tt := range []struct{ text, want string }{
		{"", "is not a file of Transform.Save"},
		{`{"x": 1}`, "want format version 2"},
		{seal(`{"quern.preprocess": 1}`), "want format version 2"},
		{`{"quern.preprocess": 2}`, "there is no checksum"},
		{seal(`{"quern.preprocess": 2}`), "is the file complete?"},
		{seal(`{"quern.preprocess": 2, "Target": {"Columns": ["y"]}, "Columns": [{"Number": {"Column": "x"}}]}`), "column 0 is not complete"},
	} {
		path := filepath.Join(folder, "t.json")
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := preprocess.Load(path); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.text, err, tt.want)
		}
	}
}
