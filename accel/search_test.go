package accel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/parallel/plan"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
)

func TestFindLR(t *testing.T) {
	train, _ := digits(t)
	accel.Seed(1)
	model := mlp(32)
	if _, err := accel.Evaluate(t.Context(), model, train.First(1)); err != nil {
		t.Fatal(err)
	}
	before := weights(model)
	s, err := accel.FindLR(t.Context(), model, train, accel.AdamW(1))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(weights(model), before) {
		t.Error("the model has other weights than before")
	}
	if !(s.LearningRate > 1e-5 && s.LearningRate < 1) {
		t.Errorf("%v", s)
	}
	if n := len(s.LearningRates); n < 20 || len(s.Losses) != n || math.Abs(s.LearningRates[0]-1e-7) > 1e-12 || !slices.IsSorted(s.LearningRates) {
		t.Errorf("rates %v", s.LearningRates)
	}
	// A search that took longer than a second has its figure on the page already.
	fresh := &accel.LRSearch{LearningRate: s.LearningRate, LearningRates: s.LearningRates, Losses: s.Losses}
	if data, metadata := display.Render(fresh); data["image/png"] == nil || metadata["image/png"] == nil || !strings.HasPrefix(data["text/plain"].(string), "learning rate ") {
		t.Errorf("shows %v", data["text/plain"])
	}
	if svg := s.Figure().SVG(); !strings.Contains(svg, "steepest at "+plotted(s.LearningRate)) {
		t.Errorf("the figure does not mark %v: %v", plotted(s.LearningRate), s.Figure())
	}
	// Training with the suggested rate works.
	run, err := accel.Fit(t.Context(), model, train, accel.AdamW(s.LearningRate), accel.Epochs(3), accel.Quiet())
	if must(t, run, err); !(run.Loss() < s.Losses[0]/2) {
		t.Errorf("with rate %v the loss went from %v to %v", s.LearningRate, s.Losses[0], run.Loss())
	}
	if _, err := accel.FindLR(t.Context(), model, nil); err == nil {
		t.Error("no set is taken")
	}
	none := &accel.LRSearch{LearningRate: math.NaN()}
	if text := none.String(); !strings.Contains(text, "no learning rate found") {
		t.Errorf("%q", text)
	}
}

// plotted formats a learning rate like figures.
func plotted(rate float64) string {
	if rate >= 1e-3 {
		return strings.TrimRight(fmt.Sprintf("%.3g", rate), "0")
	}
	return strings.ReplaceAll(strings.Replace(fmt.Sprintf("%.2e", rate), "e-0", "e−", 1), "-", "−")
}

func TestFindBatchSize(t *testing.T) {
	train, _ := digits(t)
	accel.Seed(1)
	model := mlp(8)
	s, err := accel.FindBatchSize(t.Context(), model, train.First(100))
	if err != nil {
		t.Fatal(err)
	}
	var sizes []int
	highest, chosen := 0.0, 0.0
	for _, v := range s.Trials {
		sizes = append(sizes, v.Size)
		highest = max(highest, v.ExamplesPerSecond)
		if v.Size == s.Size {
			chosen = v.ExamplesPerSecond
		}
	}
	if !slices.Equal(sizes, []int{16, 32, 64}) || !(chosen >= 0.9*highest) || !(highest > 0) {
		t.Errorf("%+v", s)
	}
	unshown := &accel.BatchSizeSearch{Size: s.Size, Trials: s.Trials, Stopped: s.Stopped} // s omits a figure that it drew during the search
	if data, _ := display.Render(unshown); data["image/png"] == nil || !strings.HasPrefix(data["text/plain"].(string), "batch size ") {
		t.Errorf("shows %v", data["text/plain"])
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := accel.FindBatchSize(ctx, model, train); !errors.Is(err, context.Canceled) {
		t.Errorf("want context.Canceled, got %v", err)
	}
}

func TestCompare(t *testing.T) {
	train, test := digits(t)
	train = train.First(200)
	models := 0
	newModel := func() nn.Module { models++; return mlp(8) }
	c, err := accel.Compare(t.Context(), newModel, train,
		accel.NewVariant("small rate", accel.Epochs(2), accel.AdamW(1e-4), accel.Validate(test)),
		accel.NewVariant("large <rate>", accel.Epochs(3), accel.AdamW(1e-2), accel.Validate(test)))
	if err != nil {
		t.Fatal(err)
	}
	if models != 6 || len(c.Variants) != 2 || len(c.Variants[0].Runs) != 3 {
		t.Fatalf("%d models, %+v", models, c)
	}
	// Sample mean and sample standard deviation, computed by hand.
	v := c.Variants[1]
	a, b, d := v.Runs[0].Loss(), v.Runs[1].Loss(), v.Runs[2].Loss()
	m := (a + b + d) / 3
	mean, deviation := v.Loss()
	want := math.Sqrt(((a-m)*(a-m) + (b-m)*(b-m) + (d-m)*(d-m)) / 2)
	if !(math.Abs(mean-m) < 1e-12) || !(math.Abs(deviation-want) < 1e-12) || a == b {
		t.Errorf("mean %v ± %v, want %v ± %v", mean, deviation, m, want)
	}
	worse, _ := c.Variants[0].Accuracy()
	if better, _ := v.Accuracy(); !(better > worse) {
		t.Errorf("accuracies %v and %v", worse, better)
	}
	unshown := &accel.Comparison{Dataset: c.Dataset, Seeds: c.Seeds, Variants: c.Variants} // c omits a figure that it drew during the comparison
	data, _ := display.Render(unshown)
	page, text := data["text/html"].(string), data["text/plain"].(string)
	for _, want := range []string{"quern-figure", "large &lt;rate&gt;", "±", "validation", "3 seeds"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if want := fmt.Sprintf("%.4f ± %.4f", mean, deviation); !strings.Contains(text, want) {
		t.Errorf("the text has no %q:\n%s", want, text)
	}
	accel.Seed(2)
	again := mlp(8)
	run, err := accel.Fit(t.Context(), again, train, accel.Epochs(3), accel.AdamW(1e-2), accel.Validate(test), accel.Quiet())
	if must(t, run, err); run.Loss() != v.Runs[1].Loss() {
		t.Errorf("seed 2 by hand gives %v, in the comparison %v", run.Loss(), v.Runs[1].Loss())
	}
}

func TestCompareEndsEarly(t *testing.T) {
	train, _ := digits(t)
	c, err := accel.Compare(t.Context(), func() nn.Module { return mlp(4) }, train.First(64),
		accel.NewVariant("diverges", accel.SGD(1e30, 0)), accel.NewVariant("wrong", accel.Epochs(0)))
	if err == nil || !strings.Contains(err.Error(), "accel: Compare: wrong: ") || len(c.Variants[0].Runs) != 1 {
		t.Errorf("%v, %+v", err, c.Variants)
	}
	for _, want := range []string{": 1 of 1 run diverged", "ended early", "–"} {
		if !strings.Contains(c.String(), want) {
			t.Errorf("the text has no %q:\n%s", want, c)
		}
	}
	if _, err := accel.Compare(t.Context(), nil, train); err == nil {
		t.Error("no model is taken")
	}
	if _, err := accel.Compare(t.Context(), func() nn.Module { return mlp(4) }, train); err == nil {
		t.Error("no variant is taken")
	}
}

// The text, the page and the figure name the seeds that were measured, whenever the comparison ends.
func TestCompareNamesItsSeeds(t *testing.T) {
	train, test := digits(t)
	train = train.First(64)
	for _, row := range []struct {
		trained int // runs before the one that is interrupted
		want    string
	}{
		{0, "1 seed"},
		{1, "1 seed"},
		{2, "1 seed"},
		{3, "2 seeds (a), 1 seed (b)"},
		{4, "2 seeds"},
		{5, "3 seeds (a), 2 seeds (b)"},
		{6, "3 seeds"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		models := 0
		newModel := func() nn.Module { models++; return mlp(4) }
		options := []accel.Option{accel.Epochs(3), accel.Validate(test.First(64)), accel.AfterStep(func(n int) error {
			if models > row.trained && n == 2 {
				cancel()
			}
			return nil
		})}
		c, err := accel.Compare(ctx, newModel, train, accel.NewVariant("a", options...), accel.NewVariant("b", options...))
		cancel()
		if ended := row.trained < 6; ended != errors.Is(err, context.Canceled) {
			t.Fatalf("after %d runs: %v", row.trained, err)
		}
		runs := 0
		for _, v := range c.Variants {
			runs += len(v.Runs)
		}
		if want := max(row.trained, min(row.trained+1, 2)); runs != want {
			t.Errorf("after %d runs there are %d, want %d: an interrupted run counts if it is a variant's first", row.trained, runs, want)
		}
		unshown := &accel.Comparison{Dataset: c.Dataset, Seeds: c.Seeds, Variants: c.Variants, Err: c.Err}
		page := unshown.Report().MIMEBundle()["text/html"].(string)
		of, means := "standard deviation of "+row.want, "mean of "+row.want
		if row.want == "1 seed" {
			of, means = "; 1 seed", ", 1 seed"
		}
		if !strings.Contains(c.String(), of) || !strings.Contains(page, of) || !strings.Contains(c.Figure().String(), means) {
			t.Errorf("after %d runs, want %q and %q:\n%s\n%v", row.trained, of, means, c, c.Figure())
		}
		if strings.Contains(c.String(), "±") != (row.trained > 2) {
			t.Errorf("after %d runs:\n%s", row.trained, c)
		}
	}
}

func TestCard(t *testing.T) {
	train, test := digits(t)
	accel.Seed(42)
	run, err := accel.Fit(t.Context(), mlp(8), train.First(100), accel.Epochs(2), accel.Validate(test), accel.Quiet())
	must(t, run, err)
	path := filepath.Join(t.TempDir(), "card.json")
	if err := run.Card().Save(path); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var card map[string]any
	if err := json.Unmarshal(b, &card); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"dataset": "digits, train", "seed": "42", "order_seed": fmt.Sprint(run.Seed), "steps": 4.0, "epochs": 2.0, "examples": 200.0,
		"loss": run.Loss(), "accuracy": run.Accuracy(), "device": "cpu",
	} {
		if card[name] != want {
			t.Errorf("%s: want %v, got %v", name, want, card[name])
		}
	}
	if options := fmt.Sprint(card["options"]); options != "[Epochs(2) Validate(digits, test) Quiet()]" {
		t.Errorf("options %s", options)
	}
	var none *accel.Run = &accel.Run{Best: -1}
	if text := none.Card().String(); strings.Contains(text, `"loss"`) || !strings.Contains(text, `"steps": 0`) {
		t.Errorf("a run without steps: %s", text)
	}
	// JupyterLab prefers JSON to HTML, and would show a tree.
	if data, _ := display.Render(run.Card()); data["application/json"] != nil || !strings.Contains(data["text/html"].(string), "<b>Training on digits, train</b>") {
		t.Errorf("the card shows itself as %v", data)
	}
}

// follow returns a model of tokens whose largest logit is that of the next token modulo 5.
func follow() nn.Module {
	return nn.Lambda(func(x *nn.Tensor) *nn.Tensor {
		n, length := x.Size(0), x.Size(1)
		logits := make([]float32, n*length*5)
		for i, token := range x.Ints() {
			logits[5*i+(token+1)%5] = 4
		}
		return tensor.New(logits, n, length, 5)
	})
}

func TestGenerate(t *testing.T) {
	accel.Seed(1)
	got, err := accel.Generate(t.Context(), follow(), []int{3}, 7, accel.Temperature(0))
	if err != nil || !slices.Equal(got, []int{3, 4, 0, 1, 2, 3, 4, 0}) {
		t.Errorf("%v, %v", got, err)
	}
	got, err = accel.Generate(t.Context(), follow(), []int{0, 2}, 4, accel.TopK(1))
	if err != nil || !slices.Equal(got, []int{0, 2, 3, 4, 0, 1}) {
		t.Errorf("TopK(1): %v, %v", got, err)
	}
	// exp(4) against four times exp(0): the next token has probability 93.2 %.
	right := 0
	got, err = accel.Generate(t.Context(), follow(), []int{0}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i < len(got); i++ {
		if got[i] == (got[i-1]+1)%5 {
			right++
		}
	}
	if right < 900 || right > 960 {
		t.Errorf("%d of 1000 draws are the likeliest", right)
	}
	for name, tt := range map[string]struct {
		prompt  []int
		options []accel.Option
	}{
		"no prompt":   {nil, nil},
		"temperature": {[]int{1}, []accel.Option{accel.Temperature(-1)}},
		"most":        {[]int{1}, []accel.Option{accel.TopK(-1)}},
	} {
		if _, err := accel.Generate(t.Context(), follow(), tt.prompt, 1, tt.options...); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	if got, err := accel.Generate(t.Context(), follow(), []int{1}, -1); err == nil {
		t.Errorf("-1 more tokens are %v", got)
	}
	if got, err := accel.Generate(t.Context(), follow(), []int{1}, 0, accel.TopK(0)); err != nil || !slices.Equal(got, []int{1}) {
		t.Errorf("no more tokens are %v, %v", got, err)
	}
	var shape *tensor.ShapeError
	if _, err := accel.Generate(t.Context(), nn.Sequential(), []int{1}, 1); !errors.As(err, &shape) {
		t.Errorf("a model of tokens to tokens: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := accel.Generate(ctx, follow(), []int{1}, 1); !errors.Is(err, context.Canceled) || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
}

// TestSequences trains a small GPT to count, continues a sequence with it, and reaches its
// maximum length.
func TestSequences(t *testing.T) {
	var tokens []int
	for i := range 200 {
		tokens = append(tokens, i%6)
	}
	train, err := data.Windows(tokens, 8, 1)
	if err != nil {
		t.Fatal(err)
	}
	accel.Seed(2)
	gpt := nn.Sequential(
		nn.Embedding(6, 16), nn.PositionEmbedding(8, 16),
		nn.Repeat(2, func(int) nn.Module { return nn.Residual(nn.LayerNorm(), nn.SelfAttention(2, nn.Causal())) }),
		nn.LayerNorm(), nn.Dense(6))
	run, err := accel.Fit(t.Context(), gpt, train, accel.Epochs(8), accel.BatchSize(24), accel.AdamW(0.01), accel.Quiet())
	must(t, run, err)
	result, err := accel.Evaluate(t.Context(), gpt, train)
	if err != nil {
		t.Fatal(err)
	}
	if result.Accuracy() != 1 || result.ConfusionMatrix() != nil || !(run.Steps[0].Accuracy < 0.7) {
		t.Errorf("accuracy from %v to %v", run.Steps[0].Accuracy, result.Accuracy())
	}
	got, err := accel.Generate(t.Context(), gpt, []int{2, 3}, 20, accel.Temperature(0))
	if err != nil {
		t.Fatal(err)
	}
	for i, token := range got {
		if token != (i+2)%6 {
			t.Fatalf("it counts %v", got)
		}
	}
}

// A search for a learning rate that takes long shows the losses so far under its bar.
func TestFindLRShowsPartialResults(t *testing.T) {
	train, _ := digits(t)
	accel.Seed(1)
	shown := make(chan string, 1000)
	previous := display.SetSink(display.SinkFunc(func(m display.Message) { shown <- m.Data["text/plain"].(string) }))
	t.Cleanup(func() { display.SetSink(previous) })
	first := ""
	wait := nn.Lambda(func(x *nn.Tensor) *nn.Tensor {
		if first == "" { // each step takes long, until there is a figure
			select {
			case first = <-shown:
			case <-time.After(30 * time.Millisecond):
			}
		}
		return x
	})
	s, err := accel.FindLR(t.Context(), nn.Sequential(mlp(8), wait), train)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(first, "learning rates [") || !strings.Contains(first, " left") || !strings.Contains(first, "lowest loss") {
		t.Errorf("the first figure is %q", first)
	}
	if data, metadata := display.Render(s); data["image/png"] != nil || metadata != nil || data["text/plain"] != s.String() {
		t.Errorf("the search shows its figure again: %v, %v", data["text/plain"], metadata)
	}
}

// TestSearchesLeaveTheNextTrainingAlone trains after a search, and without one: the same losses.
func TestSearchesLeaveTheNextTrainingAlone(t *testing.T) {
	set := rareClasses(t, 100)
	losses := func(search func(nn.Module) error) (all []float64) {
		accel.Seed(1)
		model := nn.Sequential(nn.Dense(8), nn.Dropout(0.2), nn.Dense(3))
		if _, err := accel.Predict(t.Context(), model, must2(set.Tensors()).X); err != nil {
			t.Fatal(err)
		}
		if err := search(model); err != nil {
			t.Fatal(err)
		}
		run, err := accel.Fit(t.Context(), model, set, accel.Quiet(), accel.Epochs(1), accel.BatchSize(32))
		must(t, run, err)
		for _, s := range run.Steps {
			all = append(all, s.Loss)
		}
		return all
	}
	want := losses(func(nn.Module) error { return nil })
	for name, search := range map[string]func(nn.Module) error{
		"FindLR":        func(m nn.Module) error { _, err := accel.FindLR(t.Context(), m, set); return err },
		"FindBatchSize": func(m nn.Module) error { _, err := accel.FindBatchSize(t.Context(), m, set); return err },
	} {
		if got := losses(search); !slices.Equal(got, want) {
			t.Errorf("after %s: %v, want %v", name, got, want)
		}
	}
}

func TestPlanParallel(t *testing.T) {
	model := plan.Transformer{Name: "small", Layers: 2, Width: 64, Heads: 4, Vocabulary: 100, Sequence: 32}.Model(plan.BF16())
	p, err := accel.PlanParallel(model, plan.DGXH100(1), 16, plan.GPUs(8))
	if err != nil || len(p.Best) != 1 || p.Best[0].Layout.GPUs() != 8 {
		t.Errorf("the plan is %+v, %v", p, err)
	}
}
