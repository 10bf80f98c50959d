package trials

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/parallel"
	"github.com/quernlab/quern/accel/tensor"
)

// onRanks calls f on n ranks, or without a group if n is 0, and returns their errors.
func onRanks(t *testing.T, n int, f func(ctx context.Context, group *parallel.Group) error) []error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if n == 0 {
		return []error{f(ctx, nil)}
	}
	groups, err := parallel.Local(ctx, n)
	if err != nil {
		t.Fatal(err)
	}
	errs := make([]error, n)
	var running sync.WaitGroup
	for r, g := range groups {
		running.Go(func() { errs[r] = f(ctx, g) })
	}
	running.Wait()
	for _, g := range groups {
		_ = g.Close() // it may be broken
	}
	return errs
}

type result struct {
	Job   int
	Value float64
}

func TestRun(t *testing.T) {
	for _, ranks := range []int{0, 1, 2, 3} {
		for _, jobs := range []int{0, 1, 2, 7} {
			var mu sync.Mutex
			ran := map[int]int{} // how often each job ran
			for rank, err := range onRanks(t, ranks, func(ctx context.Context, group *parallel.Group) error {
				got, err := Run(ctx, group, jobs, func(job int) (result, error) {
					mu.Lock()
					ran[job]++
					mu.Unlock()
					return result{job, math.Sqrt(float64(job))}, nil
				})
				if err != nil {
					return err
				}
				var want []result
				for job := range jobs {
					want = append(want, result{job, math.Sqrt(float64(job))})
				}
				if !reflect.DeepEqual(got, want) {
					return fmt.Errorf("got %v, want %v", got, want)
				}
				return nil
			}) {
				if err != nil {
					t.Errorf("%d jobs on %d ranks: rank %d: %v", jobs, ranks, rank, err)
				}
			}
			for job, times := range ran {
				if times != 1 {
					t.Errorf("%d jobs on %d ranks: job %d ran %d times", jobs, ranks, job, times)
				}
			}
			if len(ran) != jobs {
				t.Errorf("%d jobs on %d ranks: %d ran", jobs, ranks, len(ran))
			}
		}
	}
}

func TestRunFails(t *testing.T) {
	full := errors.New("the disk is full")
	for _, row := range []struct {
		name    string
		do      func(cancel func(), rank, job int) error
		results int
		is      error
		want    [3]string // in the errors of the ranks
	}{
		{"one job", func(_ func(), _, job int) error {
			if job == 4 {
				return full
			}
			return nil
		}, 5, nil, [3]string{"rank 1: the disk is full", "rank 1: the disk is full", "rank 1: the disk is full"}},
		{"two jobs: the first counts", func(_ func(), _, job int) error {
			if job == 4 || job == 5 {
				return fmt.Errorf("job %d", job)
			}
			return nil
		}, 5, nil, [3]string{"rank 1: job 4", "rank 1: job 4", "rank 1: job 4"}},
		{"a rank is interrupted", func(cancel func(), _, job int) error {
			if job == 2 {
				cancel()
				return context.Canceled
			}
			return nil
		}, 3, context.Canceled, [3]string{"rank 2 was interrupted", "rank 2 was interrupted", "rank 2 was interrupted: context canceled"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			for rank, err := range onRanks(t, 3, func(ctx context.Context, group *parallel.Group) error {
				ctx, cancel := context.WithCancel(ctx)
				defer cancel()
				got, err := Run(ctx, group, 8, func(job int) (int, error) { return job, row.do(cancel, group.Rank(), job) })
				if len(got) != row.results {
					return fmt.Errorf("results %v and %w", got, err)
				}
				return err
			}) {
				if err == nil || !strings.Contains(err.Error(), row.want[rank]) || row.is != nil && !errors.Is(err, row.is) {
					t.Errorf("rank %d: got %v, want %s", rank, err, row.want[rank])
				}
			}
		})
	}
}

// A rank that is lost or panics ends the others at their next exchange.
func TestRunWithoutARank(t *testing.T) {
	for _, row := range []struct {
		name string
		job  func(group *parallel.Group) error
		want string
	}{
		{"lost", func(group *parallel.Group) error { return group.Close() }, "parallel: rank 1 (127.0.0.1:"},
		{"panic", func(*parallel.Group) error { panic("a bug") }, "gave up: a trial has panicked"},
	} {
		t.Run(row.name, func(t *testing.T) {
			errs := onRanks(t, 2, func(ctx context.Context, group *parallel.Group) (err error) {
				defer func() {
					if p := recover(); p != nil {
						err = fmt.Errorf("panic: %v", p)
					}
				}()
				_, err = Run(ctx, group, 4, func(job int) (int, error) {
					if job == 1 {
						return job, row.job(group)
					}
					return job, nil
				})
				return err
			})
			var lost *parallel.LostError
			if !errors.As(errs[0], &lost) || !strings.Contains(errs[0].Error(), row.want) || errs[1] == nil {
				t.Errorf("got %v, want %s", errs, row.want)
			}
		})
	}
}

// examples returns a data set of n examples, whose first one begins with the given value.
func examples(n int, first float32) *data.Dataset {
	values := make([]float32, 4*n)
	values[0] = first
	set, err := data.FromTensors(tensor.New(values, n, 4), tensor.FromInts(make([]int, n), n))
	if err != nil {
		panic(err)
	}
	return set
}

// scale is a model with given weights.
type scale struct{ Weight *tensor.Tensor }

func (s *scale) Forward(x *tensor.Tensor) *tensor.Tensor { return x.Mul(s.Weight) }

func scaledBy(value float64, width int) func() nn.Module {
	return func() nn.Module { return &scale{tensor.Parameter(tensor.Full(value, width))} }
}

func dense(width int, activation nn.Module) func() nn.Module {
	return func() nn.Module { return nn.Sequential(nn.Dense(width), activation, nn.Dropout(0.1), nn.Dense(2)) }
}

// TestSame requires an error on all ranks that names the rank whose call differs, after which the group can be used.
func TestSame(t *testing.T) {
	full := errors.New("the disk is full")
	same := func(int) Call { return Call{} }
	for _, row := range []struct {
		name string
		call func(rank int) Call
		err  func(rank int) error
		want string // on all ranks; "" for no error
	}{
		{"equal", func(int) Call { return Call{"Trials(10)", dense(3, nn.ReLU()), []*data.Dataset{examples(5, 0), nil}} }, nil, ""},
		{"arguments", func(rank int) Call { return Call{Arguments: fmt.Sprintf("Trials(%d)", 10+rank)} }, nil, "rank 1 runs other trials than rank 0: Trials(11) instead of Trials(10)"},
		{"another width", func(rank int) Call { return Call{NewModel: dense(3+rank, nn.ReLU())} }, nil, `rank 1 differs from rank 0: its layer "0" Dense(4) is "0" Dense(3) on rank 0`},
		{"another activation", func(rank int) Call {
			return Call{NewModel: dense(3, []nn.Module{nn.ReLU(), nn.Tanh()}[rank])}
		}, nil, `rank 1 differs from rank 0: its layer "" Sequential(Dense(3), Tanh(), Dropout(0.1), Dense(2)) is "" Sequential(Dense(3), ReLU(), Dropout(0.1), Dense(2)) on rank 0`},
		{"more layers", func(rank int) Call {
			return Call{NewModel: func() nn.Module { return nn.Sequential(slices.Repeat([]nn.Module{nn.Tanh()}, 1+rank)...) }}
		}, nil, "Sequential(Tanh(), Tanh()) is \"\" Sequential(Tanh()) on rank 0"},
		{"other weights", func(rank int) Call { return Call{NewModel: scaledBy(float64(rank), 3)} }, nil, "rank 1 differs from rank 0: the values of"},
		{"another type of weights", func(rank int) Call { return Call{NewModel: scaledBy(0, 3+rank)} }, nil, "of 16 bytes, that of rank 0 has"},
		{"another example", func(rank int) Call { return Call{Sets: []*data.Dataset{examples(5, float32(rank))}} }, nil, "rank 1 differs from rank 0: its data set examples has different examples"},
		{"more examples", func(rank int) Call { return Call{Sets: []*data.Dataset{examples(5+rank, 0)}} }, nil, "its data set examples has 6 examples, that of rank 0 has 5"},
		{"another set", func(rank int) Call { return Call{Sets: []*data.Dataset{examples(5, 0), examples(5, 0)}[rank:]} }, nil, "rank 1 differs from rank 0: it has 1 data sets, rank 0 has 2"},
		{"a rank cannot begin", same, func(rank int) error {
			if rank == 1 {
				return full
			}
			return nil
		}, "rank 1: the disk is full"},
		{"no rank can begin", same, func(int) error { return full }, "the disk is full"},
		{"a rank is interrupted", func(rank int) Call {
			return Call{NewModel: func() nn.Module {
				if rank == 1 {
					panic(context.Canceled)
				}
				return nn.Tanh()
			}}
		}, nil, "rank 1 was interrupted: context canceled"},
	} {
		t.Run(row.name, func(t *testing.T) {
			for rank, err := range onRanks(t, 2, func(ctx context.Context, group *parallel.Group) error {
				var failed error
				if row.err != nil {
					failed = row.err(group.Rank())
				}
				err := Same(ctx, group, row.call(group.Rank()), failed)
				return errors.Join(err, group.Barrier(ctx))
			}) {
				if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want) || strings.Contains(err.Error(), "\n")) {
					t.Errorf("rank %d: got %v, want %s", rank, err, row.want)
				}
			}
		})
	}
	for rank, err := range onRanks(t, 2, func(ctx context.Context, group *parallel.Group) error {
		if err := Same(ctx, group, Call{}, full); !errors.Is(err, full) || err.Error() != full.Error() {
			return fmt.Errorf("an error of all ranks is %w", err)
		}
		return nil
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}
