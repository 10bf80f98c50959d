package active_test

import (
	"context"
	"errors"
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/active"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/display"
)

var study = flag.Bool("study", false, "compare all strategies on digits, over ten seeds; minutes")

func quiet(t *testing.T) {
	old := display.SetSink(display.SinkFunc(func(display.Message) {}))
	t.Cleanup(func() { display.SetSink(old) })
}

func newMLP() nn.Module {
	return nn.Sequential(nn.Flatten(), nn.Dense(64), nn.ReLU(), nn.Dense(10))
}

// Checks the claim that active learning saves labels, with ten seeds.
//
//	go test ./accel/active -run MarginBeatsRandom -v            margin
//	go test ./accel/active -run MarginBeatsRandom -v -study     all strategies
func TestMarginBeatsRandomOnDigits(t *testing.T) {
	if testing.Short() {
		t.Skip("many trainings")
	}
	quiet(t)
	train, test, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	strategies, budget, model := []active.Strategy{active.Random(), active.Margin()}, 200, newMLP
	batch := 36
	training := active.Train(accel.Steps(150), accel.BatchSize(32), accel.AdamW(5e-3)) // fewer steps than the default, because of the race detector
	if *study {
		strategies = append(strategies, active.LeastConfident(), active.Entropy(), active.BADGE(), active.CoreSet(), active.TypiClust(), active.BALD())
		budget, batch, training = 400, 20, active.Option{}
		model = func() nn.Module {
			return nn.Sequential(nn.Flatten(), nn.Dense(64), nn.ReLU(), nn.Dropout(0.1), nn.Dense(10))
		}
	}
	c, err := active.Compare(t.Context(), model, train, test, strategies,
		active.Initial(20), active.Batch(batch), active.Budget(budget), active.Seeds(10), training)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%v", c)
	random, _ := c.Strategies[0].At(200)
	margin, _ := c.Strategies[1].At(200)
	if margin-random < 0.02 {
		t.Errorf("with 200 labels: random %.3f, margin %.3f", random, margin)
	}
}

func TestCompare(t *testing.T) {
	quiet(t)
	train, test, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	options := []active.Option{active.Initial(30), active.Batch(25), active.Budget(70), active.Seeds(2), active.Train(accel.Epochs(2))}
	compare := func(ctx context.Context, options ...active.Option) (*active.Comparison, error) {
		return active.Compare(ctx, newMLP, train.First(300), test.First(100), []active.Strategy{active.Random(), active.Margin()}, options...)
	}
	c, err := compare(t.Context(), options...)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range c.Strategies {
		if len(l.Curves) != 2 {
			t.Fatalf("%s has %d curves", l.Name, len(l.Curves))
		}
		for k, curve := range l.Curves {
			var labels []int
			for i, p := range curve.Points {
				labels = append(labels, p.Labels)
				if p.Training <= 0 || (p.Querying > 0) != (i > 0) {
					t.Errorf("%s, point %d: %+v", l.Name, i, p)
				}
			}
			if len(labels) != 3 || labels[0] != 30 || labels[1] != 55 || labels[2] != 70 {
				t.Errorf("%s has labels %v", l.Name, labels)
			}
			if curve.Points[0].Accuracy != c.Strategies[0].Curves[k].Points[0].Accuracy {
				t.Error("strategies begin with different labels or models")
			}
		}
	}
	again, err := compare(t.Context(), options...)
	if err != nil {
		t.Fatal(err)
	}
	for k, l := range again.Strategies {
		for n, curve := range l.Curves {
			for i, p := range curve.Points {
				if p.Accuracy != c.Strategies[k].Curves[n].Points[i].Accuracy {
					t.Fatal("the same comparison gives other accuracies")
				}
			}
		}
	}
	unshown := &active.Comparison{Dataset: c.Dataset, Test: c.Test, Seeds: c.Seeds, Target: c.Target, Strategies: c.Strategies} // c omits the figure that it has already displayed
	bundle, _ := display.Render(unshown)
	page, text := bundle["text/html"].(string), bundle["text/plain"].(string)
	for _, want := range []string{"random", "margin", "30 labels", "70 labels", "Seconds for choosing + training"} {
		if !strings.Contains(page, want) || !strings.Contains(text, want) {
			t.Errorf("%q is not shown:\n%s", want, text)
		}
	}
	if !strings.Contains(page, "quern-figure") {
		t.Error("no figure")
	}

	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	if c, err := compare(ctx, options...); !errors.Is(err, context.DeadlineExceeded) || c == nil || c.Err == nil || c.String() == "" {
		t.Errorf("interrupted: %v, %v", c, err)
	}
	for name, options := range map[string][]active.Option{
		"seeds": {active.Seeds(0)}, "budget": {active.Initial(40), active.Budget(30)}, "pool": {active.Budget(301)}, "target": {active.Target(82)},
	} {
		if c, err := compare(t.Context(), options...); err == nil || c.Err == nil {
			t.Errorf("%s: no error", name)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
	if _, err := active.Compare(t.Context(), newMLP, train, test, nil); err == nil {
		t.Error("no strategies, and no error")
	}
	if c, err := active.Compare(t.Context(), newMLP, train, test, []active.Strategy{active.Random(), active.Synthesize()}); err == nil || !strings.Contains(err.Error(), "Synthesize") || len(c.Strategies) > 0 {
		t.Errorf("made examples: %v, after %v", err, c)
	}
	if _, err := active.Compare(t.Context(), newMLP, nil, test, []active.Strategy{active.Random()}); !errors.Is(err, active.ErrNoPool) {
		t.Errorf("no set: %v", err)
	}
}

// The text, the page and the figure name the seeds that were measured, whenever the comparison ends.
func TestCompareNamesItsSeeds(t *testing.T) {
	quiet(t)
	train, test, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		curves int // before the one that is interrupted
		want   string
	}{
		{1, "1 seed"},
		{2, "1 seed"},
		{3, "standard deviation of 2 seeds (random), 1 seed (margin)"},
		{4, "standard deviation of 2 seeds"},
		{6, "standard deviation of 3 seeds"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		models := 0
		newModel := func() nn.Module {
			if models++; models > 2*row.curves+1 { // in the second of two rounds
				cancel()
			}
			return newMLP()
		}
		c, err := active.Compare(ctx, newModel, train.First(100), test.First(50), []active.Strategy{active.Random(), active.Margin()},
			active.Initial(20), active.Batch(10), active.Budget(30), active.Seeds(3), active.Train(accel.Epochs(1)))
		cancel()
		if ended := row.curves < 6; ended != errors.Is(err, context.Canceled) {
			t.Fatalf("after %d curves: %v", row.curves, err)
		}
		unshown := &active.Comparison{Dataset: c.Dataset, Test: c.Test, Seeds: c.Seeds, Target: c.Target, Strategies: c.Strategies, Err: c.Err}
		page := unshown.Report().MIMEBundle()["text/html"].(string)
		if !strings.Contains(c.String(), row.want) || !strings.Contains(page, row.want) || !strings.Contains(c.Figure().String(), row.want) {
			t.Errorf("after %d curves, want %q:\n%s\n%v", row.curves, row.want, c, c.Figure())
		}
		if strings.Contains(c.String(), "±") != (row.curves > 2) {
			t.Errorf("after %d curves:\n%s", row.curves, c)
		}
	}
}

func TestSentence(t *testing.T) {
	curve := func(accuracies ...float64) *active.Curve {
		c := new(active.Curve)
		for k, a := range accuracies {
			c.Add(1000*(k+1), a)
		}
		return c
	}
	c := &active.Comparison{Seeds: 2, Target: 0.82, Strategies: []active.StrategyResult{
		{Name: "random", Curves: []*active.Curve{curve(.7, .78, .81, .85), curve(.7, .8, .83, .85)}}, // the means: .7, .79, .82, .85
		{Name: "margin", Curves: []*active.Curve{curve(.7, .82, .86, .9), curve(.7, .82, .86, .9)}},
		{Name: "slow", Curves: []*active.Curve{curve(.7, .7, .7, .85), curve(.7, .7, .7, .85)}},
		{Name: "never", Curves: []*active.Curve{curve(.7, .7, .7, .7), curve(.7, .7, .7, .7)}},
		{Name: "not run"},
	}}
	want := "82 %: random 3000 labels, margin 2000 (−33 %), slow 4000 (+33 %), never more than 4000."
	if got := c.Conclusion(); !strings.HasPrefix(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
	c.Target, want = 0.995, "99.5 %: random more than 4000 labels, margin more than 4000, slow more than 4000, never more than 4000."
	if got := c.Conclusion(); !strings.HasPrefix(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
	c.Target, want = 0.9, "90 %: random more than 4000 labels, margin 4000, "
	if got := c.Conclusion(); !strings.HasPrefix(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
	rounded := active.StrategyResult{Curves: []*active.Curve{curve(.85), curve(.95)}} // their mean is .8999999999999999
	if n, ok := rounded.LabelsTo(.9); n != 1000 || !ok {
		t.Errorf("90 %% with %d labels, %v", n, ok)
	}
	if mean, deviation := c.Strategies[0].At(3000); mean < .8199 || mean > .8201 || deviation < .0141 || deviation > .0142 {
		t.Errorf("%v ± %v", mean, deviation)
	}
	if none := new(active.Comparison); none.Conclusion() == "" || none.String() == "" || none.Report().MIMEBundle()["text/plain"] == nil {
		t.Error("a comparison of nothing shows nothing")
	}
	var empty active.Curve
	if empty.String() != "no points" || empty.Report().MIMEBundle()["text/plain"] == nil {
		t.Error("an empty curve does not show itself")
	}
}
