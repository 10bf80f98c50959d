package parallel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// testTime limits the duration of a test, in case it hangs.
const testTime = 3 * time.Minute

// ranks makes a group of n ranks that is closed at the end of the test.
func ranks(t testing.TB, n int, options ...Option) []*Group {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testTime)
	defer cancel()
	all, err := Local(ctx, n, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, g := range all {
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return all
}

// each runs f on all ranks concurrently and returns their errors.
func each(t testing.TB, all []*Group, f func(ctx context.Context, g *Group) error) []error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testTime)
	defer cancel()
	errs := make([]error, len(all))
	var running sync.WaitGroup
	for r, g := range all {
		running.Go(func() { errs[r] = f(ctx, g) })
	}
	running.Wait()
	return errs
}

// mustEach runs f on all ranks and fails the test if f fails on any of them.
func mustEach(t testing.TB, all []*Group, f func(ctx context.Context, g *Group) error) {
	t.Helper()
	for r, err := range each(t, all, f) {
		if err != nil {
			t.Fatalf("rank %d of %d: %v", r, len(all), err)
		}
	}
}

// random returns values of different magnitudes, so that the order of a sum changes its result.
func random(n int, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64() * math.Pow(10, float64(r.IntN(7)-3)))
	}
	return x
}

var lengths = []int{0, 1, 2, 3, 5, 7, 8, 31, 1000, 1023, 5000, 16384, 65537}

func TestAllReduce(t *testing.T) {
	for n := 1; n <= 8; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			all := ranks(t, n)
			for _, length := range lengths {
				for _, how := range []Reduction{Sum, Mean} {
					testReduction(t, all, length, how)
				}
			}
		})
	}
}

func testReduction(t *testing.T, all []*Group, length int, how Reduction) {
	t.Helper()
	n := len(all)
	want := make([]float64, length)
	size := make([]float64, length) // sum of the absolute values, which bounds the error
	float32s, float64s := make([][]float32, n), make([][]float64, n)
	for r := range n {
		float32s[r] = random(length, uint64(r))
		float64s[r] = make([]float64, length)
		for i, v := range float32s[r] {
			want[i] += float64(v)
			size[i] += math.Abs(float64(v))
			float64s[r][i] = float64(v)
		}
	}
	if how == Mean {
		for i := range want {
			want[i] /= float64(n)
		}
	}
	mustEach(t, all, func(ctx context.Context, g *Group) error {
		r := g.Rank()
		return errors.Join(g.AllReduce(ctx, float32s[r], how), g.AllReduceFloat64(ctx, float64s[r], how))
	})
	for i := range length {
		for r := range n {
			if math.Float32bits(float32s[r][i]) != math.Float32bits(float32s[0][i]) || float64s[r][i] != float64s[0][i] {
				t.Fatalf("%v of %d numbers on %d ranks: number %d is %v on rank %d and %v on rank 0", how, length, n, i, float32s[r][i], r, float32s[0][i])
			}
		}
		if e := math.Abs(float64(float32s[0][i]) - want[i]); e > 1e-6*size[i] {
			t.Fatalf("%v of %d numbers on %d ranks: number %d is %v, want %v", how, length, n, i, float32s[0][i], want[i])
		}
		if e := math.Abs(float64s[0][i] - want[i]); e > 1e-14*size[i] {
			t.Fatalf("%v of %d float64 on %d ranks: number %d is %v, want %v", how, length, n, i, float64s[0][i], want[i])
		}
	}
}

func TestAllReduceTwiceIsTheSame(t *testing.T) {
	all := ranks(t, 5)
	var first [5][]float32
	for round := range 3 {
		data := make([][]float32, 5)
		mustEach(t, all, func(ctx context.Context, g *Group) error {
			data[g.Rank()] = random(70001, uint64(g.Rank()))
			return g.AllReduce(ctx, data[g.Rank()], Mean)
		})
		for r := range data {
			if round == 0 {
				first[r] = data[r]
			}
			for i, v := range data[r] {
				if math.Float32bits(v) != math.Float32bits(first[0][i]) {
					t.Fatalf("round %d: number %d of rank %d is %v, was %v", round, i, r, v, first[0][i])
				}
			}
		}
	}
}

func TestAllReduceKeepsWhatIsNoNumber(t *testing.T) {
	all := ranks(t, 3)
	inf := float32(math.Inf(1))
	for _, length := range []int{4, 5000} {
		mustEach(t, all, func(ctx context.Context, g *Group) error {
			data := make([]float32, length)
			if g.Rank() == 1 {
				data[0], data[1] = float32(math.NaN()), inf
			}
			if g.Rank() == 2 {
				data[2], data[1] = inf, -inf
			}
			if err := g.AllReduce(ctx, data, Sum); err != nil {
				return err
			}
			if data[0] == data[0] || data[1] == data[1] || data[2] != inf || data[3] != 0 {
				return fmt.Errorf("%v", data[:4])
			}
			return nil
		})
	}
}

func TestBroadcastAndGather(t *testing.T) {
	for n := 1; n <= 8; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			all := ranks(t, n)
			for _, length := range []int{0, 1, 100, 70000, 300001} {
				mustEach(t, all, func(ctx context.Context, g *Group) error {
					from := (length + 1) % n
					mine := strings.Repeat(string(rune('a'+g.Rank())), length)
					got, err := g.Broadcast(ctx, from, []byte(mine))
					if err != nil {
						return err
					}
					if want := strings.Repeat(string(rune('a'+from)), length); string(got) != want {
						return fmt.Errorf("broadcast of %d bytes from %d differs", length, from)
					}
					if err := g.Barrier(ctx); err != nil {
						return err
					}
					parts, err := g.AllGather(ctx, []byte(mine[:length*g.Rank()/n]))
					if err != nil {
						return err
					}
					for r, p := range parts {
						if want := strings.Repeat(string(rune('a'+r)), length*r/n); string(p) != want {
							return fmt.Errorf("part of rank %d: %d bytes, want %d", r, len(p), len(want))
						}
					}
					return nil
				})
			}
		})
	}
}

func TestBarrierWaitsForAll(t *testing.T) {
	all := ranks(t, 4)
	var mu sync.Mutex
	came := 0
	mustEach(t, all, func(ctx context.Context, g *Group) error {
		for round := 1; round <= 20; round++ {
			mu.Lock()
			came++
			mu.Unlock()
			if err := g.Barrier(ctx); err != nil {
				return err
			}
			mu.Lock()
			n := came
			mu.Unlock()
			if n < 4*round {
				return fmt.Errorf("round %d: only %d came before the barrier", round, n)
			}
			if err := g.Barrier(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestAloneIsAGroup(t *testing.T) {
	g, err := Join(t.Context(), At(RankInfo{Size: 1}))
	if err != nil {
		t.Fatal(err)
	}
	data := []float32{1, 2}
	all, err := g.AllGather(t.Context(), []byte("x"))
	if err := errors.Join(err, g.AllReduce(t.Context(), data, Mean), g.Barrier(t.Context()), g.Close()); err != nil {
		t.Fatal(err)
	}
	if data[1] != 2 || len(all) != 1 || string(all[0]) != "x" || g.String() != "rank 0 of 1" || g.LocalSize() != 1 || !g.First() {
		t.Error(data, all, g)
	}
}

func FuzzAllReduce(f *testing.F) {
	f.Add(uint8(2), uint16(5), false, uint64(1))
	f.Add(uint8(7), uint16(20000), true, uint64(2))
	f.Fuzz(func(t *testing.T, n uint8, length uint16, mean bool, seed uint64) {
		all := ranks(t, int(n%8)+1)
		how := Sum
		if mean {
			how = Mean
		}
		testReduction(t, all, int(length), how)
	})
}

// TestNilContexts calls what exchanges something without a context, which is an error that says so. The group works afterwards.
func TestNilContexts(t *testing.T) {
	model := nn.Dense(2)
	model.Forward(tensor.Zeros(1, 3))
	all := ranks(t, 2)
	for name, call := range map[string]func(ctx context.Context, g *Group) error{
		"AllReduce":        func(ctx context.Context, g *Group) error { return g.AllReduce(ctx, make([]float32, 3), Sum) },
		"AllReduceFloat64": func(ctx context.Context, g *Group) error { return g.AllReduceFloat64(ctx, make([]float64, 3), Sum) },
		"ReduceScatter": func(ctx context.Context, g *Group) error {
			_, err := g.ReduceScatter(ctx, make([]float32, 4), Sum)
			return err
		},
		"ReduceScatterFloat64": func(ctx context.Context, g *Group) error {
			_, err := g.ReduceScatterFloat64(ctx, make([]float64, 4), Sum)
			return err
		},
		"AllGatherInto":   func(ctx context.Context, g *Group) error { return g.AllGatherInto(ctx, make([]float32, 4)) },
		"AllGather":       func(ctx context.Context, g *Group) error { _, err := g.AllGather(ctx, nil); return err },
		"Broadcast":       func(ctx context.Context, g *Group) error { _, err := g.Broadcast(ctx, 0, nil); return err },
		"Barrier":         func(ctx context.Context, g *Group) error { return g.Barrier(ctx) },
		"Topology":        func(ctx context.Context, g *Group) error { _, err := g.Topology(ctx); return err },
		"BroadcastModel":  func(ctx context.Context, g *Group) error { return BroadcastModel(ctx, g, model) },
		"Gradients.Begin": func(ctx context.Context, g *Group) error { return NewGradients(g, model).Begin(ctx) },
		"Gradients.Exchange": func(ctx context.Context, g *Group) error {
			_, err := NewGradients(g, model).Exchange(ctx, Exchange{})
			return err
		},
		"Gradients.Backward": func(ctx context.Context, g *Group) error {
			return NewGradients(g, model).Backward(ctx, tensor.Zeros(), 1)
		},
		"Mesh": func(ctx context.Context, g *Group) error { _, err := Mesh(ctx, g, 2, 1, 1); return err },
	} {
		var none context.Context
		for r, g := range all {
			if err := call(none, g); err == nil || !strings.Contains(err.Error(), "the context is nil") {
				t.Errorf("%s on rank %d: %v", name, r, err)
			}
		}
	}
	if err := BroadcastModel(t.Context(), nil, model); err == nil || !strings.Contains(err.Error(), "the group is nil") {
		t.Errorf("without a group: %v", err)
	}
	mustEach(t, all, func(ctx context.Context, g *Group) error { return g.Barrier(ctx) })
}
