package tune

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/parallel"
	"github.com/quernlab/quern/accel/tensor"
)

// onRanks runs a search on n ranks, or without a group if n is 0, and returns the searches and errors.
func onRanks(t *testing.T, n int, objective func(rank int) func(*Trial) (float64, error), given ...Option) (searches []*Search, errs []error) {
	t.Helper()
	if n == 0 {
		s, err := Run(t.Context(), objective(0), append(given, Quiet())...)
		return []*Search{s}, []error{err}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	groups, err := parallel.Local(ctx, n)
	if err != nil {
		t.Fatal(err)
	}
	searches, errs = make([]*Search, n), make([]error, n)
	var running sync.WaitGroup
	for r, g := range groups {
		running.Go(func() {
			searches[r], errs[r] = Run(ctx, objective(r), append(append([]Option{}, given...), Quiet(), OnRanks(g))...)
		})
	}
	running.Wait()
	for _, g := range groups {
		_ = g.Close() // it may be broken
	}
	return searches, errs
}

// described is a search without its times.
func described(s *Search) string {
	var b strings.Builder
	fmt.Fprintln(&b, s.Method, s.spent, s.Notes)
	for _, t := range s.Trials {
		fmt.Fprintln(&b, t, t.Reports)
	}
	return b.String()
}

// mixed has a setting that only some trials request, one that diverges, and one for which there is not enough memory.
func mixed(t *Trial) (float64, error) {
	x, rate := t.Float("x", -2, 2), t.LogFloat("rate", 1e-4, 1)
	value := x*x + rate
	if t.Choice("kind", "plain", "deep") == "deep" {
		value += float64(t.Int("layers", 1, 4))
	}
	for unit := 1; unit <= 4; unit++ {
		if !t.Report(value + 1/float64(unit)) {
			break
		}
	}
	switch {
	case x > 1.8:
		return 0, &tensor.OutOfMemoryError{}
	case x < -1.8:
		return 1 / (x - x), nil
	}
	return value, nil
}

// A search makes the same trials on any number of ranks, if the number of trials that do not know each other's results is the
// same.
func TestRanksMakeTheSameTrials(t *testing.T) {
	for _, method := range []Option{Random(), Grid(2), TPE(), GP()} {
		for _, together := range []int{1, 2, 3, 5} {
			for _, more := range [][]Option{nil, {Halving(1, 2)}, {Budget(61)}} {
				want := ""
				for _, ranks := range []int{0, 1, 2, 3} {
					searches, errs := onRanks(t, ranks, func(int) func(*Trial) (float64, error) { return mixed },
						append([]Option{method, Trials(22), Concurrent(together)}, more...)...)
					for rank, s := range searches {
						if errs[rank] != nil {
							t.Fatalf("%v, Concurrent(%d), rank %d of %d: %v", method, together, rank, ranks, errs[rank])
						}
						if got := described(s); want == "" {
							want = got
						} else if got != want {
							t.Fatalf("%v, Concurrent(%d), %v: rank %d of %d made other trials than one process:\n%s\nwant\n%s", method, together, more, rank, ranks, got, want)
						}
					}
				}
			}
		}
	}
}

// Random and Grid do not depend on other trials at all.
func TestConcurrentDoesNotMatter(t *testing.T) {
	for _, method := range []Option{Random(), Grid(2)} {
		want := ""
		for _, together := range []int{1, 4, 7} {
			s := search(t, mixed, method, Trials(40), Concurrent(together))
			_, got, _ := strings.Cut(described(s), "\n")
			if want == "" {
				want = got
			} else if got != want {
				t.Errorf("%v: with Concurrent(%d)\n%s\nwant\n%s", method, together, got, want)
			}
		}
	}
}

// Trials of a round have different settings although they do not know each other's results, and the search is hardly
// worse than one after the other.
func TestConcurrentTrialsDiffer(t *testing.T) {
	for _, method := range []Option{TPE(), GP()} {
		s := search(t, bowl, method, Trials(40), Concurrent(4))
		for i := 12; i < 40; i += 4 {
			for j := i + 1; j < i+4; j++ {
				if s.Trials[i].settings() == s.Trials[j].settings() {
					t.Errorf("%v: trials %d and %d have both %s", method, i+1, j+1, s.Trials[i].settings())
				}
			}
		}
		c, err := Compare(t.Context(), bowl, []Variant{NewVariant("random", Random()), NewVariant("concurrent", method, Concurrent(4))}, Trials(40), Seeds(10))
		if err != nil {
			t.Fatal(err)
		}
		random, _ := c.Variants[0].Best()
		if best, _ := c.Variants[1].Best(); best > random/2 {
			t.Errorf("%v: random %.4f, Concurrent(4) %.4f", method, random, best)
		}
	}
}

// A search of several ranks that was interrupted within a round continues with the same trials, on any number of ranks.
func TestRanksResume(t *testing.T) {
	for _, method := range []Option{Grid(2), TPE()} {
		want := described(search(t, mixed, method, Trials(16), Concurrent(3)))
		for _, stop := range []int{1, 4, 5, 8} {
			file := filepath.Join(t.TempDir(), "trials")
			_, errs := onRanks(t, 3, func(int) func(*Trial) (float64, error) {
				return func(t *Trial) (float64, error) {
					value, err := mixed(t)
					if t.Number == stop {
						err = errors.New("the machine stops")
					}
					return value, err
				}
			}, method, Trials(16), Resume(file))
			for rank, err := range errs {
				if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("tune: trial %d with x", stop)) || !strings.Contains(err.Error(), "the machine stops") {
					t.Errorf("rank %d: %v", rank, err)
				}
			}
			for _, ranks := range []int{2, 0} {
				searches, errs := onRanks(t, ranks, func(int) func(*Trial) (float64, error) { return mixed }, method, Trials(16), Resume(file), Concurrent(3))
				if got := described(searches[0]); errs[0] != nil || got != want {
					t.Errorf("%v stopped in trial %d, on %d ranks: %v\n%s\nwant\n%s", method, stop, ranks, errs[0], got, want)
				}
			}
		}
	}
}

func TestRanksFail(t *testing.T) {
	for _, row := range []struct {
		name      string
		objective func(t *Trial) (float64, error)
		want      [2]string
		trials    int
	}{
		{"a trial fails", func(t *Trial) (float64, error) {
			value, err := mixed(t)
			if t.Number == 4 {
				err = errors.New("no such file")
			}
			return value, err
		}, [2]string{"tune: Run: rank 1: tune: trial 4 with", "tune: Run: rank 1: tune: trial 4 with"}, 3},
		{"the first trial fails", func(t *Trial) (float64, error) {
			return 0, errors.New("no such file")
		}, [2]string{"tune: Run: rank 0: tune: trial 1", "tune: Run: rank 0: tune: trial 1"}, 0},
		{"a setting is wrong", func(t *Trial) (float64, error) {
			return t.Float("x", 3, 2), nil
		}, [2]string{`tune: Run: rank 0: tune: setting "x" of trial 1`, `tune: Run: rank 0: tune: setting "x" of trial 1`}, 0},
		{"trials of one round disagree", func(t *Trial) (float64, error) {
			if t.Number == 4 {
				return float64(len(t.Choice("x", "a", "b"))), nil
			}
			return t.Float("y", 1, 2), nil
		}, [2]string{"", ""}, 6},
		{"trials of a later round disagree", func(t *Trial) (float64, error) {
			if t.Number == 4 {
				return float64(len(t.Choice("x", "a", "b"))), nil
			}
			return t.Float("x", 1, 2), nil
		}, [2]string{`rank 1: tune: setting "x" of trial 4`, `tune: setting "x" of trial 4`}, 3},
		{"trials of the first round disagree", func(t *Trial) (float64, error) {
			if t.Number == 2 {
				return float64(len(t.Choice("x", "a", "b"))), nil
			}
			return t.Float("x", 1, 2), nil
		}, [2]string{`tune: setting "x" of trial 2`, `tune: setting "x" of trial 2`}, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			searches, errs := onRanks(t, 2, func(int) func(*Trial) (float64, error) { return row.objective }, Trials(6))
			for rank, err := range errs {
				if (err == nil) != (row.want[rank] == "") || err != nil && !strings.Contains(err.Error(), row.want[rank]) {
					t.Errorf("rank %d: got %v, want %s", rank, err, row.want[rank])
				}
				if len(searches[rank].Trials) != row.trials {
					t.Errorf("rank %d: %d trials, want %d", rank, len(searches[rank].Trials), row.trials)
				}
			}
		})
	}
}

// The ranges of settings may change from trial to trial, but not from rank to rank.
func TestRangesOfRanks(t *testing.T) {
	wide := func(n int) float64 { return float64(1 + n) }
	for _, row := range []struct {
		name      string
		objective func(rank int) func(*Trial) (float64, error)
		want      string // "" for no error
	}{
		{"another range on each rank", func(rank int) func(*Trial) (float64, error) {
			return func(t *Trial) (float64, error) {
				return t.Float("x", float64(rank*10), float64(rank*10+1)), nil
			}
		}, `tune: setting "x" of trial 1: its range is 10 to 11 on rank 1, but 0 to 1 on rank 0`},
		{"another range of the second setting", func(rank int) func(*Trial) (float64, error) {
			return func(t *Trial) (float64, error) {
				return t.LogFloat("rate", 1e-3, 1) + float64(t.Int("layers", 1, 2+rank)), nil
			}
		}, `tune: setting "layers" of trial 1: its range is 1 to 3 on rank 1, but 1 to 2 on rank 0`},
		{"by the number of the trial", func(int) func(*Trial) (float64, error) {
			return func(t *Trial) (float64, error) { return t.Float("x", 0, wide(t.Number)), nil }
		}, ""},
		{"even and odd trials", func(int) func(*Trial) (float64, error) {
			return func(t *Trial) (float64, error) { return t.Float("x", 0, wide(t.Number%2)), nil }
		}, ""},
		{"by another setting, and reported", func(int) func(*Trial) (float64, error) {
			return func(t *Trial) (float64, error) {
				layers := t.Int("layers", 1, 4)
				t.Report(float64(layers))
				return t.Float("x", 0, wide(layers)), nil
			}
		}, ""},
		{"by the number of calls", func(int) func(*Trial) (float64, error) {
			calls := 0
			return func(t *Trial) (float64, error) {
				calls++
				return t.Float("x", 0, wide(calls)), nil
			}
		}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			searches, errs := onRanks(t, 2, row.objective, Random(), Trials(8))
			for rank, err := range errs {
				switch {
				case row.want == "" && (err != nil || described(searches[rank]) != described(searches[0]) || len(searches[rank].Trials) != 8):
					t.Errorf("rank %d: %v\n%s", rank, err, described(searches[rank]))
				case row.want != "" && (err == nil || !strings.HasPrefix(err.Error(), row.want)):
					t.Errorf("rank %d: got %v, want %s", rank, err, row.want)
				}
			}
		})
	}
}

func both(want string) [2]string { return [2]string{want, want} }

// Ranks that search for different things notice it before the first trial, and can search again.
func TestRanksDiffer(t *testing.T) {
	groups, err := parallel.Local(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	random := []Variant{NewVariant("random", Random()), NewVariant("grid", Grid(2))}
	for _, row := range []struct {
		name string
		call func(rank int, onRanks Option) error
		want [2]string // "" for no error
	}{
		{"trials", func(rank int, on Option) error {
			_, err := Run(t.Context(), mixed, on, Trials(5+rank), Quiet())
			return err
		}, both("tune: Run: rank 1 runs other trials than rank 0: TPE(), Concurrent(2), Trials(6)")},
		{"objectives", func(rank int, on Option) error {
			_, err := Run(t.Context(), []func(*Trial) (float64, error){mixed, bowl}[rank], on, Trials(5), Quiet())
			return err
		}, both("rank 1 runs other trials than rank 0: TPE(), Concurrent(2), Trials(5), Budget(0), Seed(1), Maximize: false, objective github.com/quernlab/quern/accel/tune.bowl")},
		{"an option of one rank is invalid", func(rank int, on Option) error {
			_, err := Run(t.Context(), mixed, Trials(5-5*rank), on, Quiet())
			return err
		}, both("rank 1: tune: Trials(0)")},
		{"an option of all ranks is invalid", func(rank int, on Option) error {
			_, err := Run(t.Context(), mixed, Trials(0), on, Quiet())
			return err
		}, both("tune: Trials(0)")},
		{"one objective is nil", func(rank int, on Option) error {
			_, err := Run(t.Context(), []func(*Trial) (float64, error){nil, mixed}[rank], on, Quiet())
			return err
		}, both("rank 0: tune: Run: objective is nil")},
		{"variants", func(rank int, on Option) error {
			_, err := Compare(t.Context(), bowl, random[:1+rank], on, Trials(2), Seeds(1))
			return err
		}, both("rank 1 runs other trials than rank 0: [OnRanks(group) Trials(2) Seeds(1)], random [Random()], grid [Grid(2)] instead of")},
		{"no variants on one rank", func(rank int, on Option) error {
			_, err := Compare(t.Context(), bowl, random[:rank], on, Trials(2), Seeds(1))
			return err
		}, both("rank 0: tune: Compare: no variants")},
		{"the corrected call", func(rank int, on Option) error {
			_, err := Compare(t.Context(), bowl, random, on, Trials(2), Seeds(1))
			return err
		}, both("")},
	} {
		var running sync.WaitGroup
		for r, g := range groups {
			running.Go(func() {
				err := row.call(r, OnRanks(g))
				if (err == nil) != (row.want[r] == "") || err != nil && !strings.Contains(err.Error(), row.want[r]) {
					t.Errorf("%s: rank %d: got %v, want %s", row.name, r, err, row.want[r])
				}
			})
		}
		running.Wait()
	}
	for _, g := range groups {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := Run(t.Context(), mixed, OnRanks(nil)); err == nil || !strings.Contains(err.Error(), "the group is nil: check the error of parallel.Join") {
		t.Error(err)
	}
}
