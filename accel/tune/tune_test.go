package tune

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/tensor"
)

// bowl has its minimum 0 at rate 0.01 and width 40 with the word "b".
func bowl(t *Trial) (float64, error) {
	rate, width := t.LogFloat("rate", 1e-4, 1), t.Int("width", 1, 100)
	v := math.Pow(math.Log10(rate)+2, 2) + math.Pow(float64(width-40)/30, 2)
	if t.Choice("word", "a", "b", "c") != "b" {
		v++
	}
	return v, nil
}

func search(t *testing.T, objective func(*Trial) (float64, error), options ...Option) *Search {
	t.Helper()
	s, err := Run(t.Context(), objective, append([]Option{Quiet()}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// tried returns the settings of all trials.
func tried(s *Search) (all []string) {
	for _, t := range s.Trials {
		all = append(all, t.settings())
	}
	return all
}

func TestGrid(t *testing.T) {
	for name, tt := range map[string]struct {
		objective func(*Trial) (float64, error)
		want      []string
	}{
		"product": {
			func(t *Trial) (float64, error) {
				t.Choice("a", "x", "y")
				return t.Float("b", 0, 1), nil
			},
			[]string{"a x, b 0", "a x, b 0.5", "a x, b 1", "a y, b 0", "a y, b 0.5", "a y, b 1"},
		},
		"orders of magnitude": {
			func(t *Trial) (float64, error) { return t.LogFloat("a", .01, 1), nil },
			[]string{"a 0.01", "a 0.1", "a 1"},
		},
		"few whole numbers": {
			func(t *Trial) (float64, error) { return float64(t.Int("a", 7, 8)), nil },
			[]string{"a 7", "a 8"},
		},
		"only with others": {
			func(t *Trial) (float64, error) {
				if t.Choice("kind", "plain", "deep") == "deep" {
					t.Int("layers", 2, 3)
				}
				return 0, nil
			},
			[]string{"kind plain", "kind deep, layers 2", "kind deep, layers 3"},
		},
		"one value": {
			func(t *Trial) (float64, error) { return t.Float("a", 5, 5), nil },
			[]string{"a 5"},
		},
		"nothing asked": {func(*Trial) (float64, error) { return 1, nil }, []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tried(search(t, tt.objective, Grid(3))); !slices.Equal(got, tt.want) {
				t.Errorf("tried %q, want %q", got, tt.want)
			}
		})
	}
}

// TestRanges checks that all searches stay within the ranges.
func TestRanges(t *testing.T) {
	for _, method := range []Option{Random(), TPE(), GP(), Grid(4)} {
		s := search(t, func(t *Trial) (float64, error) {
			f, l, n := t.Float("f", -1, 2), t.LogFloat("l", 1e-3, 1e-2), t.Int("n", -3, -1)
			if f < -1 || f > 2 || l < 1e-3 || l > 1e-2 || n < -3 || n > -1 {
				return 0, fmt.Errorf("%v is out of range", t.Settings)
			}
			if again := t.Float("f", -1, 2); again != f {
				return 0, fmt.Errorf("asked again, f is %g and was %g", again, f)
			}
			return f, nil
		}, method, Trials(60))
		seen := map[any]bool{}
		for _, trial := range s.Trials {
			seen[trial.Get("n")] = true
		}
		if len(seen) != 3 {
			t.Errorf("%v: of three whole numbers %d were tried", method, len(seen))
		}
	}
}

// TestTPE checks that TPE finds better settings than Random: the mean over ten seeds of the
// best of forty trials.
func TestTPE(t *testing.T) {
	c, err := Compare(t.Context(), bowl, []Variant{NewVariant("random", Random()), NewVariant("TPE", TPE())}, Trials(40), Seeds(10))
	if err != nil {
		t.Fatal(err)
	}
	random, _ := c.Variants[0].Best()
	tpe, _ := c.Variants[1].Best()
	if tpe > random/2 {
		t.Errorf("random %.4f, TPE %.4f", random, tpe)
	}
	if text := c.String(); !strings.Contains(text, "TPE") || !strings.Contains(text, "10 seeds") {
		t.Error(text)
	}
}

// The text, the page and the figure name the seeds that were measured, whenever the comparison ends.
func TestCompareNamesItsSeeds(t *testing.T) {
	for _, row := range []struct {
		searches int // before the one that is interrupted
		want     string
	}{
		{0, "no seeds"},
		{1, "1 seed"},
		{2, "1 seed"},
		{3, "standard deviation of 2 seeds (a), 1 seed (b)"},
		{4, "standard deviation of 2 seeds"},
		{6, "standard deviation of 3 seeds"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		objective := func(trial *Trial) (float64, error) {
			if calls++; calls == 2*row.searches+2 { // the second of two trials
				cancel()
			}
			return trial.Float("x", 0, 1), nil
		}
		c, err := Compare(ctx, objective, []Variant{NewVariant("a", Random()), NewVariant("b", Random())}, Trials(2), Seeds(3))
		cancel()
		if ended := row.searches < 6; ended != (err != nil) {
			t.Fatalf("after %d searches: %v", row.searches, err)
		}
		page := (&Comparison{Variants: c.Variants, Err: c.Err}).Report().MIMEBundle()["text/html"].(string)
		if !strings.Contains(c.String(), row.want) || !strings.Contains(page, row.want) || !strings.Contains(c.Figure().String(), row.want) {
			t.Errorf("after %d searches, want %q:\n%s\n%v", row.searches, row.want, c, c.Figure())
		}
		if strings.Contains(c.String(), "±") != (row.searches > 2) {
			t.Errorf("after %d searches:\n%s", row.searches, c)
		}
	}
}

// TestHalving has trials whose value is their number: the second of three is stopped after the
// first unit.
func TestHalving(t *testing.T) {
	values := []float64{3, 5, 2, 4, 1, math.NaN()}
	s := search(t, func(t *Trial) (float64, error) {
		for range 9 {
			if !t.Report(values[t.Number-1]) {
				return math.Inf(1), nil
			}
		}
		return values[t.Number-1], nil
	}, Halving(1, 3), Trials(6))
	var got []string
	for _, t := range s.Trials {
		got = append(got, fmt.Sprintf("%s after %d", t.State, len(t.Reports)))
	}
	want := []string{"finished after 9", "stopped after 1", "finished after 9", "stopped after 1", "finished after 9", "diverged after 1"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if best := s.Best(); best.Number != 5 || s.spent != 30 {
		t.Errorf("best %v, %d units", best, s.spent)
	}
}

func TestBudget(t *testing.T) {
	s := search(t, func(t *Trial) (float64, error) {
		for range 4 {
			if !t.Report(1) {
				break
			}
		}
		return 1, nil
	}, Budget(10), Trials(99))
	if len(s.Trials) != 3 || s.spent != 10 || s.Trials[2].State != Stopped {
		t.Errorf("%d trials, %d units, the last %s", len(s.Trials), s.spent, s.Trials[2].State)
	}
}

// TestResume kills each search after its seventh trial, in the middle of a line. The resumed
// search must end like an uninterrupted one.
func TestResume(t *testing.T) {
	for _, method := range []Option{TPE(), GP(), Random(), Grid(3)} {
		t.Run(method.String(), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "search.jsonl")
			whole := search(t, bowl, method, Trials(25))
			search(t, bowl, method, Trials(7), Resume(path))
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.WriteString(`{"number":8,"sta`); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			calls := 0
			resumed := search(t, func(t *Trial) (float64, error) { calls++; return bowl(t) }, method, Trials(25), Resume(path))
			if got, want := tried(resumed), tried(whole); !slices.Equal(got, want) {
				t.Errorf("tried %q\nwant %q", got, want)
			}
			if calls != 18 {
				t.Errorf("%d trials were made after the first 7", calls)
			}
			if again := search(t, bowl, method, Trials(25), Resume(path)); again.Best().Number != whole.Best().Number {
				t.Errorf("read again, the best is %v", again.Best())
			}
			if _, err := Run(t.Context(), bowl, method, Seed(2), Resume(path), Quiet()); err == nil || !strings.Contains(err.Error(), "seed 1") {
				t.Errorf("another seed: %v", err)
			}
		})
	}
}

// TestResumeOfTheFirstLine kills a search while it writes the first line of its file.
func TestResumeOfTheFirstLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "search.jsonl")
	search(t, bowl, Trials(2), Resume(path))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range bytes.IndexByte(whole, '\n') + 1 {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if s := search(t, bowl, Trials(2), Resume(path)); len(s.Trials) != 2 {
			t.Fatalf("%d bytes: %v", n, s)
		}
	}
	if err := os.WriteFile(path, []byte("notes"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), bowl, Trials(2), Resume(path), Quiet()); err == nil {
		t.Error("a file of something else is written over")
	}
}

// TestEnds checks the reasons for which a search ends before its last trial.
func TestEnds(t *testing.T) {
	cause := errors.New("no such layer")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for name, tt := range map[string]struct {
		objective func(*Trial) (float64, error)
		trials    int // that the search has
		want      string
	}{
		"its own error": {func(t *Trial) (float64, error) { return float64(t.Int("n", 1, 1)), cause }, 0, `tune: trial 1 with n 1: no such layer`},
		"no range":      {func(t *Trial) (float64, error) { return t.Float("a", 2, 1), nil }, 0, `setting "a" of trial 1: the range from 2 to 1 is empty`},
		"not positive":  {func(t *Trial) (float64, error) { return t.LogFloat("a", 0, 1), nil }, 0, `begins at 0`},
		"too far apart": {func(t *Trial) (float64, error) { return t.Float("a", -math.MaxFloat64, math.MaxFloat64), nil }, 0, `too wide for float64`},
		"not all whole": {func(t *Trial) (float64, error) { return float64(t.Int("a", 0, math.MaxInt)), nil }, 0, `exceed ±2⁵³`},
		"no words":      {func(t *Trial) (float64, error) { t.Choice("a"); return 0, nil }, 0, `there are no choices`},
		"another kind": {func(t *Trial) (float64, error) {
			if t.Number == 2 {
				return float64(t.Int("a", 1, 2)), nil
			}
			return t.Float("a", 1, 2), nil
		}, 1, `setting "a" of trial 2: its range is an integer here, but was a number before`},
		"interrupted, with half a value": {func(t *Trial) (float64, error) {
			if t.Number == 3 {
				cancel()
			}
			return 1, nil
		}, 2, "context canceled"},
		"interrupted": {func(t *Trial) (float64, error) {
			if t.Number == 3 {
				cancel()
				return 0, ctx.Err()
			}
			return 1, nil
		}, 2, "context canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Run(ctx, tt.objective, Quiet())
			if err == nil || !strings.Contains(err.Error(), tt.want) || len(s.Trials) != tt.trials {
				t.Errorf("%d trials, error %v", len(s.Trials), err)
			}
		})
		if strings.HasPrefix(name, "interrupted") {
			ctx, cancel = context.WithCancel(t.Context())
		}
	}
	cancel()
	for _, o := range []Option{Trials(0), Grid(0), Halving(0, 3), Halving(1, 1), Resume(""), Budget(-1), Resume(t.TempDir())} {
		if _, err := Run(t.Context(), bowl, o, Quiet()); err == nil {
			t.Errorf("%v is no error", o)
		}
	}
	if _, err := Run(t.Context(), nil); err == nil {
		t.Error("no objective is no error")
	}
	if _, err := Compare(t.Context(), bowl, nil); err == nil {
		t.Error("a comparison without variants is accepted")
	}
}

// TestDiverged checks that a search continues after settings that do not work, and that none of
// them is best.
func TestDiverged(t *testing.T) {
	s := search(t, func(t *Trial) (float64, error) {
		switch t.Number % 3 {
		case 0:
			return math.NaN(), nil
		case 1:
			return 0, fmt.Errorf("fit: %w", &accel.DivergedError{Step: 1, Loss: math.NaN()})
		}
		if t.Number == 5 {
			return 0, fmt.Errorf("fit: %w", &tensor.OutOfMemoryError{Need: 2, Free: 1})
		}
		return -float64(t.Number) * t.Float("x", 1, 2), nil
	}, Trials(20))
	if len(s.Trials) != 20 || s.Best().Number%3 != 2 || !strings.Contains(s.String(), "13 diverged, 1 out of memory") {
		t.Errorf("%v", s)
	}
	if up := search(t, bowl, Maximize(), Trials(15)); up.Best().Value < 1 {
		t.Errorf("the largest of a bowl: %v", up)
	}
}

// TestShown displays searches of all sizes.
func TestShown(t *testing.T) {
	none, err := Run(t.Context(), bowl, Trials(0))
	if err == nil {
		t.Fatal("no trials are no error")
	}
	for _, s := range []*Search{
		none, search(t, bowl, Trials(1)), search(t, bowl, Trials(12)),
		search(t, func(*Trial) (float64, error) { return math.NaN(), nil }, Trials(3)),
		search(t, func(*Trial) (float64, error) { return 1, nil }, Trials(3)),
	} {
		s.displayed = false // on a slow machine the figure has been displayed already and would be left out
		b := s.Report().MIMEBundle()
		if len(s.Trials) > 0 && !strings.Contains(fmt.Sprint(b["text/html"]), "quern-figure\"") || fmt.Sprint(b["text/plain"]) == "" {
			t.Errorf("%v shows %v", s, b)
		}
	}
}

func TestMeanAndDeviation(t *testing.T) {
	for _, tt := range []struct {
		mean, deviation float64
		want            string
	}{
		{.21172, .002112, "0.2117 ± 0.0021"}, {.1104, .01674, "0.110 ± 0.017"}, {1234.5, 56, "1234 ± 56"}, {.5, 0, "0.5 ± 0"}, {7, math.Inf(1), "7 ± –"}, {3, 1234, "3 ± 1234"},
	} {
		if got := meanWithDeviation(tt.mean, tt.deviation); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// TestOneNameWithTwoRanges requests a setting twice in a trial: the same again, or an error.
func TestOneNameWithTwoRanges(t *testing.T) {
	for name, second := range map[string]func(*Trial){
		"same":   func(t *Trial) { t.Float("a", 0, 1) },
		"float":  func(t *Trial) { t.Float("a", 5, 9) },
		"higher": func(t *Trial) { t.Float("a", 0, 2) },
		"int":    func(t *Trial) { t.Int("a", 0, 1) },
	} {
		_, err := Run(t.Context(), func(t *Trial) (float64, error) {
			a := t.Float("a", 0, 1)
			second(t)
			return a, nil
		}, Trials(2), Quiet())
		var setting *SettingError
		if found := errors.As(err, &setting); found != (name != "same") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The range may change from trial to trial.
	if _, err := Run(t.Context(), func(t *Trial) (float64, error) { return t.Float("a", 0, float64(t.Number)), nil }, Trials(3), Quiet()); err != nil {
		t.Error(err)
	}
}

// TestOtherOptions gives functions of the package options that only others of them take.
func TestOtherOptions(t *testing.T) {
	for want, f := range map[string]func() error{
		`tune: Run does not take Seeds(2): its options are Trials, Budget, Seed, Maximize, Quiet, Resume, Halving, OnRanks, Concurrent, Random, Grid, TPE and GP`: func() error { _, err := Run(t.Context(), bowl, Seeds(2)); return err },
		`tune: Compare: random: tune: Run does not take Seeds(2): its options are Trials, Budget, Seed, Maximize, Quiet, Resume, Halving, OnRanks, Concurrent, Random, Grid, TPE and GP`: func() error {
			_, err := Compare(t.Context(), bowl, []Variant{NewVariant("random", Random(), Seeds(2))}, Seeds(1))
			return err
		},
	} {
		if err := f(); err == nil || err.Error() != want {
			t.Errorf("want %s\ngot  %v", want, err)
		}
	}
}
