package baseline_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/baseline"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// golden is a case of testdata/golden.json, which testdata/make_golden.py writes.
type golden struct {
	Train, Test, Targets, Linear, Votes [][]float32
	Labels, Class                       []int
	Majority                            int
}

func readGolden(t *testing.T) (cases []golden) {
	t.Helper()
	text, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) != 3 {
		t.Fatal(len(cases), err)
	}
	return cases
}

func (g golden) dataset(t *testing.T) *data.Dataset {
	t.Helper()
	set, err := data.FromSlices(g.Train, g.Labels)
	if g.Targets != nil {
		set, err = data.FromTargets(g.Train, g.Targets)
	}
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// predict fits a method and returns its outputs for the test examples, of classes as probabilities.
func (g golden) predict(t *testing.T, m baseline.Method) [][]float32 {
	t.Helper()
	model, err := m.Fit(t.Context(), g.dataset(t))
	if err != nil {
		t.Fatal(err)
	}
	flat := []float32{}
	for _, row := range g.Test {
		flat = append(flat, row...)
	}
	y, err := accel.Predict(t.Context(), model, tensor.New(flat, len(g.Test), len(g.Test[0])))
	if err != nil {
		t.Fatal(err)
	}
	if g.Targets == nil {
		y = y.Softmax(1)
	}
	var rows [][]float32
	values, width := y.Data(), y.Size(1)
	for i := range g.Test {
		rows = append(rows, values[i*width:(i+1)*width])
	}
	return rows
}

func TestMethodsPredictLikeScikitLearn(t *testing.T) {
	near := func(t *testing.T, what string, got, want [][]float32, tolerance float64) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("%s: %d rows, want %d", what, len(got), len(want))
		}
		for i := range want {
			for j, w := range want[i] {
				if d := math.Abs(float64(got[i][j] - w)); !(d <= tolerance*math.Max(1, math.Abs(float64(w)))) {
					t.Errorf("%s: example %d: got %v, want %v", what, i, got[i], want[i])
					break
				}
			}
		}
	}
	for _, g := range readGolden(t) {
		near(t, "linear", g.predict(t, baseline.Linear()), g.Linear, 1e-3)
		votes := g.predict(t, baseline.Neighbors(5))
		if g.Targets != nil {
			near(t, "neighbors", votes, g.Votes, 1e-5)
			continue
		}
		classes := len(g.Votes[0])
		for i := range votes { // undo the smoothing
			for j := range votes[i] {
				votes[i][j] = (votes[i][j]*float32(5+classes) - 1) / 5
			}
		}
		near(t, "neighbors", votes, g.Votes, 1e-5)
		for i, row := range g.predict(t, baseline.Neighbors(4)) { // an even number has ties
			if got := argMax(row); got != g.Class[i] {
				t.Errorf("neighbors: example %d: class %d, want %d", i, got, g.Class[i])
			}
		}
		for i, row := range g.predict(t, baseline.Majority()) {
			if got := argMax(row); got != g.Majority {
				t.Errorf("majority: example %d: class %d, want %d", i, got, g.Majority)
			}
		}
	}
}

func argMax(row []float32) (at int) {
	for i, v := range row {
		if v > row[at] {
			at = i
		}
	}
	return at
}

func TestMajorityOfTargetsIsTheirMean(t *testing.T) {
	set, err := data.FromTargets([][]float32{{1}, {2}, {3}}, [][]float32{{1, 10}, {2, 20}, {6, 60}})
	if err != nil {
		t.Fatal(err)
	}
	model, err := baseline.Majority().Fit(t.Context(), set)
	if err != nil {
		t.Fatal(err)
	}
	y, err := accel.Predict(t.Context(), model, tensor.Zeros(2, 1))
	if err != nil {
		t.Fatal(err)
	}
	if got := y.Data(); len(got) != 4 || got[0] != 3 || got[1] != 30 || got[2] != 3 || got[3] != 30 {
		t.Error(got)
	}
}

// A table of the digits, with a model of the caller in it.
func TestCompare(t *testing.T) {
	train, test, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	table, err := baseline.Compare(t.Context(), train, test)
	if err != nil {
		t.Fatal(err)
	}
	accuracy := func(name string) float64 { return table.Row(name).Result.Accuracy() }
	if m, l, n := accuracy("majority"), accuracy("linear"), accuracy("5 nearest neighbors"); m > 0.15 || l < 0.9 || n < 0.93 {
		t.Errorf("accuracies %v, %v, %v", m, l, n)
	}
	own, err := baseline.Compare(t.Context(), train, test, baseline.Trained("my model", table.Row("linear").Model))
	if err != nil {
		t.Fatal(err)
	}
	if got := own.Row("my model").Result.Accuracy(); got != accuracy("linear") {
		t.Errorf("my model: %v", got)
	}
	if own.Row("linear") != nil {
		t.Error("a row that was not asked for")
	}
	text := table.Report().MIMEBundle()["text/plain"].(string)
	for _, part := range []string{"model", "accuracy", "F1 (macro)", "majority", "5 nearest neighbors", test.Name()} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}

// The linear model is an ordinary one: it has parameters and can be trained on.
func TestLinearHasParameters(t *testing.T) {
	g := readGolden(t)[0]
	model, err := baseline.Linear().Fit(t.Context(), g.dataset(t))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(nn.Parameters(model)); n != 2 {
		t.Errorf("%d parameters", n)
	}
}

func TestErrors(t *testing.T) {
	set, err := data.FromSlices([][]float32{{1, 2}, {3, 4}}, []int{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	notANumber, err := data.FromSlices([][]float32{{1, 2}, {3, float32(math.NaN())}}, []int{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	text, err := data.Windows([]int{0, 1, 0, 1, 0, 1}, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	other, err := data.FromTargets([][]float32{{1, 2}}, [][]float32{{1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		train, test *data.Dataset
		method      baseline.Method
		want        string
	}{
		{nil, set, baseline.Linear(), "data set is nil"},
		{set, nil, baseline.Linear(), "data set is nil"},
		{set.First(0), set, baseline.Linear(), "is empty"},
		{notANumber, set, baseline.Linear(), "value 1 of example 1 is NaN"},
		{text, text, baseline.Majority(), "each position of a sequence"},
		{set, set, baseline.Neighbors(0), "from 1 to the 2 examples"},
		{set, set, baseline.Neighbors(3), "from 1 to the 2 examples"},
		{set, set, baseline.Trained("mine", nil), "mine: the model is nil"},
		{set, other, baseline.Linear(), ""},
	} {
		_, err := baseline.Compare(t.Context(), c.train, c.test, c.method)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want %q", c.method, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := baseline.Linear().Fit(ctx, set); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancellation: %v", err)
	}
}

// A feature that is constant in the training set is not scaled, so another value of it does not become a large number.
func TestConstantFeatureIsNotScaled(t *testing.T) {
	for _, n := range []int{3, 41, 49, 55} {
		x, y := make([][]float32, n), make([]int, n)
		for i := range x {
			x[i], y[i] = []float32{7, float32(i)}, i%2
		}
		train, err := data.FromSlices(x, y)
		if err != nil {
			t.Fatal(err)
		}
		model, err := baseline.Neighbors(1).Fit(t.Context(), train)
		if err != nil {
			t.Fatal(err)
		}
		// The neighbor of (7.01, i) is example i.
		for i := range x {
			if got := model.Forward(tensor.New([]float32{7.01, float32(i)}, 1, 2)).ArgMax(1).Ints()[0]; got != y[i] {
				t.Fatalf("%d times 7: example %d has class %d, want %d", n, i, got, y[i])
			}
		}
	}
}
