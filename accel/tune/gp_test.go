package tune

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
)

// wavy has its minimum -1.899599 at x = -0.6612, and a higher one at 1.6118.
func wavy(t *Trial) (float64, error) {
	x := t.Float("x", -3, 3)
	return math.Sin(4*x)*1.5 - math.Cos(x) + .2*x, nil
}

// TestGPFindsTheMinimum checks the lowest of several minima for each of twenty seeds.
func TestGPFindsTheMinimum(t *testing.T) {
	lowest := math.Inf(1)
	for x := -3.; x < 3; x += 1e-5 {
		lowest = min(lowest, math.Sin(4*x)*1.5-math.Cos(x)+.2*x)
	}
	for seed := range uint64(20) {
		s := search(t, wavy, GP(), Seed(seed), Trials(25))
		if best := s.Best(); best.Value > lowest+1e-3 {
			t.Errorf("seed %d: %v, but the minimum is %.6f", seed, best, lowest)
		}
		up := search(t, func(t *Trial) (float64, error) { v, err := wavy(t); return -v, err }, GP(), Seed(seed), Trials(25), Maximize())
		if !slices.Equal(tried(up), tried(s)) {
			t.Errorf("seed %d: the search for the maximum of the negative function differs", seed)
		}
	}
}

// TestGPBeatsTPE compares medians over seeds.
func TestGPBeatsTPE(t *testing.T) {
	best := func(method Option) float64 {
		var values []float64
		for seed := range uint64(9) {
			values = append(values, search(t, bowl, method, Seed(seed), Trials(30)).Best().Value)
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	if gp, tpe := best(GP()), best(TPE()); gp > tpe/2 {
		t.Errorf("GP %g, TPE %g", gp, tpe)
	}
}

// joint has its minimum only where all settings are right: far from what each setting alone suggests.
func joint(t *Trial) (float64, error) {
	x, y := t.Float("x", 0, 1), t.Float("y", 0, 1)
	return 25*math.Pow(x-y, 2) + math.Pow(x+y-1.4, 2), nil
}

// TestJointSettings checks that TPE finds settings that are good together, which it did not when the densities were
// independent: then the median of these seeds was 0.017.
func TestJointSettings(t *testing.T) {
	var values []float64
	for seed := range uint64(21) {
		values = append(values, search(t, joint, TPE(), Seed(seed), Trials(50)).Best().Value)
	}
	slices.Sort(values)
	if median := values[len(values)/2]; median > .01 {
		t.Errorf("median %g of %v", median, values)
	}
}

// spaces are objectives whose spaces or values are special.
var spaces = map[string]func(*Trial) (float64, error){
	"nothing requested": func(*Trial) (float64, error) { return 1, nil },
	"choices only": func(t *Trial) (float64, error) {
		return float64(len(t.Choice("a", "x", "xx") + t.Choice("b", "y", "yy", "yyy") + t.Choice("c", "z"))), nil
	},
	"single points": func(t *Trial) (float64, error) {
		return t.Float("a", 2, 2) + t.LogFloat("b", 3, 3) + float64(t.Int("c", -4, -4)), nil
	},
	"single points among others": func(t *Trial) (float64, error) { return t.Float("a", 2, 2) * t.Float("b", 0, 1), nil },
	"wide integers": func(t *Trial) (float64, error) {
		return math.Abs(float64(t.Int("a", -maxWhole, maxWhole))) + float64(t.Int("b", maxWhole-1, maxWhole)), nil
	},
	"wide numbers": func(t *Trial) (float64, error) {
		return t.Float("a", -math.MaxFloat64/4, math.MaxFloat64/4) * t.LogFloat("b", math.SmallestNonzeroFloat64, 1), nil
	},
	"constant":   func(t *Trial) (float64, error) { t.Float("a", 0, 1); return 7, nil },
	"two values": func(t *Trial) (float64, error) { return math.Round(t.Float("a", 0, 1)), nil },
	"huge values": func(t *Trial) (float64, error) {
		return math.Copysign(math.MaxFloat64, t.Float("a", -1, 1)), nil
	},
	"tiny values":    func(t *Trial) (float64, error) { return 1 + 1e-15*t.Float("a", -1, 1), nil },
	"only NaN":       func(t *Trial) (float64, error) { return math.NaN() * t.Float("a", 0, 1), nil },
	"only infinite":  func(t *Trial) (float64, error) { t.Float("a", 0, 1); return math.Inf(-1), nil },
	"one finished":   func(t *Trial) (float64, error) { a := t.Float("a", 0, 1); return a / float64(max(0, 2-t.Number)), nil },
	"half are NaN":   func(t *Trial) (float64, error) { return math.Sqrt(t.Float("a", -1, 1)), nil },
	"NaN before all": halfRequested,
	"conditional": func(t *Trial) (float64, error) {
		if t.Choice("kind", "plain", "deep") == "deep" {
			return math.Pow(t.Float("x", 0, 1)-.3, 2) + math.Abs(float64(t.Int("layers", 2, 5)-3)), nil
		}
		return .5 + t.Float("x", 0, 1), nil
	},
	"changing range": func(t *Trial) (float64, error) {
		return t.Float("a", 0, float64(t.Number)) + t.Float("b", 0, 1+float64(t.Number%2)), nil
	},
	"stopped": func(t *Trial) (float64, error) {
		x := t.Float("x", 0, 1)
		for epoch := range 9 {
			if !t.Report(x + 1/float64(1+epoch)) {
				break
			}
		}
		return x + .1, nil
	},
}

// halfRequested fails before the second request where the first value is high.
func halfRequested(t *Trial) (float64, error) {
	a := t.Float("a", 0, 1)
	if a > .7 {
		return 0, &accel.DivergedError{Step: 1, Loss: math.NaN()}
	}
	return a + t.LogFloat("b", .1, 10), nil
}

// TestSpaces checks for each sampler and space that all values are within their ranges, that a second search makes the same
// trials, and that one that is interrupted after any number of trials continues with the same ones.
func TestSpaces(t *testing.T) {
	for _, method := range []Option{TPE(), GP()} {
		for name, objective := range spaces {
			t.Run(method.String()+" "+name, func(t *testing.T) {
				options := []Option{method, Trials(26), Halving(1, 3)}
				whole := search(t, objective, options...)
				if len(whole.Trials) != 26 {
					t.Fatalf("%d trials", len(whole.Trials))
				}
				for _, trial := range whole.Trials {
					for _, s := range trial.Settings {
						if at := (named{s.Name, trial.ranges[s.Name]}).of(trial); math.IsNaN(at) {
							t.Errorf("trial %d: %v is not in the range %+v", trial.Number, s, trial.ranges[s.Name])
						}
					}
				}
				if again := search(t, objective, options...); !slices.Equal(tried(again), tried(whole)) {
					t.Errorf("a second search tried %q, the first %q", tried(again), tried(whole))
				}
				path := filepath.Join(t.TempDir(), "search.jsonl")
				for _, trials := range []int{1, 10, 11, 17, 26} {
					search(t, objective, append(options, Trials(trials), Resume(path))...)
				}
				if resumed := search(t, objective, append(options, Resume(path))...); !slices.Equal(tried(resumed), tried(whole)) {
					t.Errorf("resumed four times, the search tried %q, at once %q", tried(resumed), tried(whole))
				}
			})
		}
	}
}

// TestGPFindsChoices checks that GP finds the best of choices, integers and conditional settings.
func TestGPFindsChoices(t *testing.T) {
	for name, want := range map[string]float64{"choices only": 3, "conditional": .01, "half are NaN": .05, "two values": 0} {
		if s := search(t, spaces[name], GP(), Trials(50)); !(s.Best().Value <= want) {
			t.Errorf("%s: %v, want at most %g", name, s, want)
		}
	}
}

// TestGPOfManyTrials checks that the trials after the 200th are selected as by TPE, with a note.
func TestGPOfManyTrials(t *testing.T) {
	s := &Search{space: map[string]dimension{"x": {kind: number, low: 0, high: 1}}}
	for i := range maxModeled {
		x := math.Mod(float64(i)*math.Phi, 1)
		s.Trials = append(s.Trials, &Trial{Number: i + 1, State: Finished, Value: x * x, Settings: []Setting{{"x", x}}})
	}
	for _, row := range []struct{ trials, notes, planned int }{{9, 0, 0}, {10, 0, 1}, {maxModeled - 1, 0, 1}, {maxModeled, 1, 0}, {maxModeled, 1, 0}} {
		before := &Search{space: s.space, Trials: s.Trials[:row.trials], Notes: s.Notes}
		g := &gp{}
		next := &Trial{Number: row.trials + 1, search: before, random: stream(1, row.trials+1)}
		if !g.begin(before, next) || len(before.Notes) != row.notes || len(g.plan) != row.planned {
			t.Errorf("after %d trials: plan %v, notes %q", row.trials, g.plan, before.Notes)
		}
		if at := g.sample(next, "x", s.space["x"]); !(at >= 0 && at <= 1) {
			t.Errorf("after %d trials: %g", row.trials, at)
		}
		s.Notes = before.Notes
	}
}

// TestResumedKinds checks that a resumed search knows the kinds of the settings.
func TestResumedKinds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "search.jsonl")
	first := func(t *Trial) (float64, error) {
		return t.Float("a", 1, 2) + float64(len(t.Choice("b", "x", "y"))), nil
	}
	search(t, first, Trials(2), Resume(path))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		objective func(*Trial) (float64, error)
		setting   string
		want      string // in the error
	}{
		"int":           {func(t *Trial) (float64, error) { return float64(t.Int("a", 1, 2)), nil }, "a", "is an integer here, but was a number before"},
		"logarithmic":   {func(t *Trial) (float64, error) { return t.LogFloat("a", 1, 2), nil }, "a", "is a number on a logarithmic scale here, but was a number before"},
		"other choices": {func(t *Trial) (float64, error) { t.Choice("b", "x", "z"); return 0, nil }, "b", "is one of x, z here, but was one of x, y before"},
		"other range":   {func(t *Trial) (float64, error) { return t.Float("a", 5, 9), nil }, "", ""},
	} {
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Run(t.Context(), row.objective, Trials(3), Resume(path), Quiet())
		var setting *SettingError
		if errors.As(err, &setting) != (row.setting != "") || setting != nil && (setting.Name != row.setting || setting.Trial != 3 || !strings.Contains(setting.Reason, row.want)) {
			t.Errorf("%s: %v", name, err)
		}
		if row.setting == "" && !(s.Trials[2].Get("a").(float64) >= 5) {
			t.Errorf("%s: %v", name, s.Trials[2])
		}
	}
}

// BenchmarkGP is the time of one selection of six settings by 199 trials.
func BenchmarkGP(b *testing.B) {
	s := &Search{space: map[string]dimension{}}
	for i := range maxModeled - 1 {
		t := &Trial{Number: i + 1, State: Finished}
		r := stream(3, i)
		for j := range 6 {
			name, x := string(rune('a'+j)), r.Float64()
			s.space[name] = dimension{kind: number, low: 0, high: 1}
			t.Settings = append(t.Settings, Setting{name, x})
			t.Value += math.Sin(3*x + float64(j))
		}
		s.Trials = append(s.Trials, t)
	}
	for b.Loop() {
		g := &gp{}
		if g.begin(s, &Trial{Number: maxModeled, search: s, random: stream(1, maxModeled)}); len(g.plan) != 6 {
			b.Fatal(g.plan)
		}
	}
}
