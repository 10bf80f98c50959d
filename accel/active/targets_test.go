package active_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/active"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
)

// curve returns examples x = 0, 1, 2 … with the targets 2x and 3x.
func curve(t *testing.T, n int) *data.Dataset {
	t.Helper()
	var x, y [][]float32
	for i := range n {
		x, y = append(x, []float32{float32(i)}), append(y, []float32{float32(2 * i), float32(3 * i)})
	}
	set, err := data.FromTargets(x, y)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// scaled returns a model that multiplies its input by two factors.
func scaled(a, b float32) nn.Module {
	return nn.Lambda(func(x *nn.Tensor) *nn.Tensor { return x.MatMul(tensor.New([]float32{a, b}, 1, 2)) })
}

// TestRegression goes round the loop with targets that the data set has and with others, and resumes.
func TestRegression(t *testing.T) {
	path := filepath.Join(t.TempDir(), "targets.jsonl")
	set := curve(t, 6)
	pool, err := active.Resume(path, set, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	// The members differ by x, so the largest x that has no label is selected, whatever the seed.
	pick, err := active.Query(t.Context(), nil, pool, active.Deviation(scaled(1, 1), scaled(2, 3)), 1)
	if left := pool.Unlabeled(); err != nil || pick[0] != slices.Max(left) {
		t.Fatalf("selected %v of %v: %v", pick, left, err)
	}
	if err := pool.LabelTargets(pick, []float32{7, 8}); err != nil {
		t.Fatal(err)
	}
	if got, ok := pool.KnownTargets(pick[0]); !ok || !slices.Equal(got, []float32{7, 8}) {
		t.Errorf("KnownTargets: %v, %v", got, ok)
	}
	labeled := pool.Labeled()
	if last := labeled.Target(2); !slices.Equal(last, []float32{7, 8}) || labeled.Len() != 3 {
		t.Errorf("the labeled examples are %v, the last has the targets %v", labeled, last)
	}
	if x := labeled.Example(0)[0]; labeled.Target(0)[0] != 2*x {
		t.Errorf("example %v has the targets %v", x, labeled.Target(0))
	}
	if _, err := accel.Fit(t.Context(), nn.Dense(2), labeled, accel.Epochs(1), accel.Quiet()); err != nil {
		t.Error(err)
	}
	if err := pool.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := active.Resume(path, set, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got := again.Labeled().Target(2); again.Len() != 3 || !slices.Equal(got, []float32{7, 8}) {
		t.Errorf("resumed %v with the targets %v", again, got)
	}
}

func TestTargetErrors(t *testing.T) {
	nan := float32(math.NaN())
	pool, classes := active.NewPool(curve(t, 6), 1, 1), active.NewPool(flat(t), 2, 1)
	open := pool.Unlabeled()
	query := func(p *active.Pool, model nn.Module, s active.Strategy) error {
		_, err := active.Query(t.Context(), model, p, s, 1)
		return err
	}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{pool.LabelTargets(open[:1], []float32{1}), "1 targets were given, but examples have 2"},
		{pool.LabelTargets(open[:1], []float32{1, nan}), "NaN is not finite"},
		{pool.LabelTargets(open[:2], []float32{1, 2}), "1 vectors of targets for 2 examples"},
		{pool.LabelTargets([]int{9}), "out of range"},
		{pool.Label(open[:1], 1), "use LabelTargets"},
		{classes.LabelTargets(classes.Unlabeled()[:1]), "use Label"},
		{query(pool, scaled(1, 2), active.Margin()), "use Deviation"},
		{query(pool, nil, active.Deviation(scaled(1, 2))), "at least 2 models, got 1"},
		{query(pool, nil, active.Deviation(scaled(1, 2), nn.Dense(3))), "returns 3 values, but examples has 2 targets"},
		{query(classes, scaled(1, 2), active.BinaryEntropy()), "use Margin"},
		{active.Ask(t.Context(), pool, open, classAsker{}), "cannot ask for numbers"},
		{active.Ask(t.Context(), pool, open, active.Oracle(func(int) int { return 0 })), "returns classes"},
	} {
		if tt.err == nil || !strings.Contains(tt.err.Error(), tt.want) {
			t.Errorf("got %v, want an error with %q", tt.err, tt.want)
		}
	}
	var notFinite *active.NotFiniteError
	if err := query(pool, scaled(nan, 1), active.BinaryEntropy()); !errors.As(err, &notFinite) {
		t.Errorf("a model that returns NaN: %v", err)
	}
	if pool.Len() != 1 {
		t.Errorf("%d examples have labels after errors", pool.Len())
	}
	if text := pool.String(); text != "examples: 1 of 6 examples labeled" {
		t.Error(text)
	}
}

// flat returns a data set of two classes.
func flat(t *testing.T) *data.Dataset {
	t.Helper()
	set, err := data.FromSlices([][]float32{{1}, {2}, {3}, {4}}, []int{0, 1, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestSeveralLabels selects the example whose labels have probabilities near ½.
func TestSeveralLabels(t *testing.T) {
	set, err := data.FromTargets([][]float32{{3}, {-4}, {0.1}, {5}}, [][]float32{{1, 0}, {0, 1}, {1, 1}, {0, 0}})
	if err != nil {
		t.Fatal(err)
	}
	pool := active.NewPool(set, 0, 1)
	if err := pool.Label([]int{0}); err != nil {
		t.Fatal(err)
	}
	pick, err := active.Query(t.Context(), scaled(1, -2), pool, active.BinaryEntropy(), 2)
	if err != nil || !slices.Equal(pick, []int{2, 1}) {
		t.Errorf("selected %v, %v", pick, err)
	}
}

// classAsker cannot answer with numbers.
type classAsker struct{}

func (classAsker) Ask(context.Context, *active.Question) (int, error) { return 0, nil }

// TestAskForTargets answers with numbers, after lines that are none.
func TestAskForTargets(t *testing.T) {
	var shown strings.Builder
	old := display.SetSink(display.SinkFunc(func(m display.Message) { shown.WriteString(fmt.Sprint(m.Data["text/plain"], "\n")) }))
	t.Cleanup(func() { display.SetSink(old) })
	set, err := curve(t, 6).WithTargets("width", "height")
	if err != nil {
		t.Fatal(err)
	}
	pool := active.NewPool(set, 0, 1)
	lines := "1\n1, x\n1e99 2\n1.5, -2\n\n3 4\nq\n"
	if err := active.Ask(t.Context(), pool, []int{4, 2, 0, 1}, active.Prompt(strings.NewReader(lines))); err != nil {
		t.Fatal(err)
	}
	for i, want := range map[int][]float32{4: {1.5, -2}, 0: {3, 4}} {
		if got, ok := pool.KnownTargets(i); !ok || !slices.Equal(got, want) {
			t.Errorf("example %d has %v, want %v", i, got, want)
		}
	}
	if pool.Len() != 2 {
		t.Errorf("%d examples have targets", pool.Len())
	}
	for _, want := range []string{"Which numbers? width, height (empty: skip, q: end)", `"1" has 1 numbers, but 2 are needed`, `"x" is not a number`, `"1e99" is not a number`} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("%q is not shown:\n%s", want, shown.String())
		}
	}
	if err := active.Ask(t.Context(), pool, []int{4, 5}, active.Oracle(nil)); err != nil {
		t.Fatal(err)
	}
	if got, _ := pool.KnownTargets(5); !slices.Equal(got, []float32{10, 15}) || pool.Len() != 3 {
		t.Errorf("Oracle answers %v", got)
	}
}

// TestCompareRegression compares strategies by the error of models of y = x².
func TestCompareRegression(t *testing.T) {
	old := display.SetSink(display.SinkFunc(func(display.Message) {}))
	t.Cleanup(func() { display.SetSink(old) })
	var x, y [][]float32
	for i := range 120 {
		v := float32(i)/60 - 1
		x, y = append(x, []float32{v}), append(y, []float32{v * v})
	}
	set, err := data.FromTargets(x, y)
	if err != nil {
		t.Fatal(err)
	}
	c, err := active.Compare(t.Context(), func() nn.Module { return nn.Sequential(nn.Dense(16), nn.ReLU(), nn.Dense(1)) }, set, set,
		[]active.Strategy{active.Random(), active.CoreSet()}, active.Initial(2), active.Batch(14), active.Budget(30), active.Seeds(2),
		active.Train(accel.Steps(150), accel.AdamW(0.02)), active.Target(1.5))
	if err != nil {
		t.Fatal(err)
	}
	first, _ := c.Strategies[0].At(2)
	last, _ := c.Strategies[0].At(30)
	if !(last < first/2) || !(last > 0) || !c.Strategies[0].Curves[0].Regression {
		t.Errorf("RMSE from %g to %g", first, last)
	}
	for _, l := range c.Strategies {
		if n, ok := l.LabelsTo(1.5); n != 2 || !ok {
			t.Errorf("%s: an RMSE of 1.5 with %d labels, %v", l.Name, n, ok)
		}
		if n, ok := l.LabelsTo(last * 1.0001); l.Name == "random" && (n != 30 || !ok) {
			t.Errorf("the final RMSE with %d labels, %v", n, ok)
		}
		if _, ok := l.LabelsTo(1e-9); ok {
			t.Error("an RMSE of 1e-9 was reached")
		}
	}
	if text := c.Conclusion(); !strings.HasPrefix(text, "RMSE 1.5: random 2 labels, ") || !strings.Contains(c.Figure().SVG(), "Error by labels") {
		t.Errorf("%s", text)
	}
}
