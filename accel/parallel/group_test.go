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
)

// testTime bounds what a test waits for; what hangs would wait forever.
const testTime = 3 * time.Minute

// ranks makes a group of n, which ends with the test.
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

// each runs f on all ranks at once and gives what each returned.
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

// well is each where nothing may fail.
func well(t testing.TB, all []*Group, f func(ctx context.Context, g *Group) error) {
	t.Helper()
	for r, err := range each(t, all, f) {
		if err != nil {
			t.Fatalf("rank %d of %d: %v", r, len(all), err)
		}
	}
}

// random are numbers of different sizes, in which the order of a sum shows.
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
	size := make([]float64, length) // of what is added up, which bounds its error
	single, double, half := make([][]float32, n), make([][]float64, n), make([][]uint16, n)
	wantHalf := make([]float64, length)
	for r := range n {
		single[r] = random(length, uint64(r))
		double[r], half[r] = make([]float64, length), make([]uint16, length)
		for i, v := range single[r] {
			want[i] += float64(v)
			size[i] += math.Abs(float64(v))
			double[r][i] = float64(v)
			half[r][i] = toBFloat16(v)
			wantHalf[i] += float64(math.Float32frombits(uint32(half[r][i]) << 16))
		}
	}
	if how == Mean {
		for i := range want {
			want[i] /= float64(n)
			wantHalf[i] /= float64(n)
		}
	}
	well(t, all, func(ctx context.Context, g *Group) error {
		r := g.Rank()
		return errors.Join(g.AllReduce(ctx, single[r], how), g.AllReduceFloat64(ctx, double[r], how), g.AllReduceBFloat16(ctx, half[r], how))
	})
	for i := range length {
		for r := range n {
			if math.Float32bits(single[r][i]) != math.Float32bits(single[0][i]) || double[r][i] != double[0][i] || half[r][i] != half[0][i] {
				t.Fatalf("%v of %d numbers on %d ranks: number %d is %v on rank %d and %v on rank 0", how, length, n, i, single[r][i], r, single[0][i])
			}
		}
		if e := math.Abs(float64(single[0][i]) - want[i]); e > 1e-6*size[i] {
			t.Fatalf("%v of %d numbers on %d ranks: number %d is %v, want %v", how, length, n, i, single[0][i], want[i])
		}
		if e := math.Abs(double[0][i] - want[i]); e > 1e-14*size[i] {
			t.Fatalf("%v of %d float64 on %d ranks: number %d is %v, want %v", how, length, n, i, double[0][i], want[i])
		}
		got := float64(math.Float32frombits(uint32(half[0][i]) << 16))
		if e := math.Abs(got - wantHalf[i]); e > math.Abs(wantHalf[i])/256+1e-6*size[i] {
			t.Fatalf("%v of %d bfloat16 on %d ranks: number %d is %v, want %v", how, length, n, i, got, wantHalf[i])
		}
	}
}

func TestAllReduceTwiceIsTheSame(t *testing.T) {
	all := ranks(t, 5)
	var first [5][]float32
	for round := range 3 {
		data := make([][]float32, 5)
		well(t, all, func(ctx context.Context, g *Group) error {
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
		well(t, all, func(ctx context.Context, g *Group) error {
			data := make([]float32, length)
			half := make([]uint16, length)
			if g.Rank() == 1 {
				data[0], data[1] = float32(math.NaN()), inf
				half[0], half[1] = toBFloat16(data[0]), toBFloat16(inf)
			}
			if g.Rank() == 2 {
				data[2], data[1] = inf, -inf
				half[2] = toBFloat16(inf)
			}
			if err := errors.Join(g.AllReduce(ctx, data, Sum), g.AllReduceBFloat16(ctx, half, Sum)); err != nil {
				return err
			}
			if data[0] == data[0] || data[1] == data[1] || data[2] != inf || data[3] != 0 || half[1] != toBFloat16(inf) || half[0]&0x7f == 0 {
				return fmt.Errorf("%v, %x", data[:4], half[:4])
			}
			return nil
		})
	}
}

func TestToBFloat16(t *testing.T) {
	for _, c := range []struct {
		in   uint32
		want uint16
	}{
		{0x3f800000, 0x3f80}, {0x3f808000, 0x3f80}, {0x3f818000, 0x3f82}, {0x3f808001, 0x3f81}, // to the even one of two
		{0x7f7fffff, 0x7f80}, {0x7f800000, 0x7f80}, {0xff800000, 0xff80}, {0x80000000, 0x8000}, {0x7f800001, 0x7fc0},
	} {
		if got := toBFloat16(math.Float32frombits(c.in)); got != c.want {
			t.Errorf("%08x: got %04x, want %04x", c.in, got, c.want)
		}
	}
}

func TestBroadcastAndGather(t *testing.T) {
	for n := 1; n <= 8; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			all := ranks(t, n)
			for _, length := range []int{0, 1, 100, 70000, 300001} {
				well(t, all, func(ctx context.Context, g *Group) error {
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
	well(t, all, func(ctx context.Context, g *Group) error {
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

func TestMismatch(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(ctx context.Context, g *Group) error
	}{
		{"lengths", func(ctx context.Context, g *Group) error {
			return g.AllReduce(ctx, make([]float32, 10+g.Rank()/2), Sum)
		}},
		{"long lengths", func(ctx context.Context, g *Group) error {
			return g.AllReduce(ctx, make([]float32, 90000+g.Rank()/2), Sum)
		}},
		{"kinds", func(ctx context.Context, g *Group) error {
			if g.Rank() == 1 {
				return g.Barrier(ctx)
			}
			return g.AllReduce(ctx, make([]float32, 90000), Sum)
		}},
		{"order", func(ctx context.Context, g *Group) error {
			if g.Rank() == 2 {
				if err := g.Barrier(ctx); err != nil {
					return err
				}
				_, err := g.AllGather(ctx, nil)
				return err
			}
			if _, err := g.AllGather(ctx, nil); err != nil {
				return err
			}
			return g.Barrier(ctx)
		}},
		{"roots", func(ctx context.Context, g *Group) error {
			_, err := g.Broadcast(ctx, g.Rank()%2, []byte("x"))
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			mismatches := 0
			for r, err := range each(t, ranks(t, 3), c.do) {
				var mismatch *MismatchError
				var lost *LostError
				switch {
				case errors.As(err, &mismatch):
					mismatches++
				case err == nil && c.name == "roots" && r == 0: // which had only to send
				case errors.As(err, &lost) && strings.Contains(err.Error(), "all ranks must do the same"):
				default:
					t.Errorf("rank %d: %v", r, err)
				}
			}
			if mismatches == 0 {
				t.Error("no rank has noticed")
			}
		})
	}
}

func TestARankThatDies(t *testing.T) {
	for _, n := range []int{2, 3, 5} {
		for dead := range n {
			t.Run(fmt.Sprintf("%d of %d", dead, n), func(t *testing.T) {
				t.Parallel()
				all := ranks(t, n)
				for r, err := range each(t, all, func(ctx context.Context, g *Group) error {
					for range 3 {
						if err := g.AllReduce(ctx, make([]float32, 50000), Sum); err != nil {
							return err
						}
					}
					if g.Rank() == dead { // as the system does when a process ends, which says nothing any more
						g.mu.Lock()
						g.closed = true
						g.mu.Unlock()
						close(g.end)
						for _, l := range append([]*link{g.next, g.previous}, g.hub...) {
							if l != nil {
								l.close()
							}
						}
						return nil
					}
					return g.AllReduce(ctx, make([]float32, 50000), Sum)
				}) {
					var lost *LostError
					if r != dead && (!errors.As(err, &lost) || lost.Rank != dead || !strings.Contains(err.Error(), fmt.Sprintf("rank %d (127.0.0.1:", dead))) {
						t.Errorf("rank %d: %v", r, err)
					}
				}
			})
		}
	}
}

func TestARankThatIsSilent(t *testing.T) {
	// Rank 1 is stopped: its connections stand, and nothing comes.
	all := ranks(t, 3, HeartbeatTimeout(500*time.Millisecond))
	for _, l := range all[1].hub {
		if l != nil {
			l.sending.Lock()
			defer l.sending.Unlock()
		}
	}
	for r, err := range each(t, all, func(ctx context.Context, g *Group) error {
		if g.Rank() == 1 {
			<-g.broken
			return nil
		}
		return g.Barrier(ctx)
	}) {
		var lost *LostError
		if r != 1 && (!errors.As(err, &lost) || lost.Rank != 1 || !strings.Contains(err.Error(), "has not been heard of for 500ms")) {
			t.Errorf("rank %d: %v", r, err)
		}
	}
}

func TestARankThatGivesUp(t *testing.T) {
	for _, n := range []int{2, 4} {
		all := ranks(t, n)
		for r, err := range each(t, all, func(ctx context.Context, g *Group) error {
			if g.Rank() == n-1 {
				g.Fail(errors.New("the disk is full"))
				return nil
			}
			return g.Barrier(ctx)
		}) {
			var lost *LostError
			if r != n-1 && (!errors.As(err, &lost) || lost.Rank != n-1 || !strings.Contains(err.Error(), "has given up: the disk is full")) {
				t.Errorf("rank %d: %v", r, err)
			}
		}
		if err := all[0].Barrier(context.Background()); err == nil || err.Error() != all[0].Err().Error() {
			t.Errorf("a broken group gives %v", err)
		}
	}
}

func TestInterrupt(t *testing.T) {
	all := ranks(t, 3)
	ctx, cancel := context.WithCancel(context.Background())
	for r, err := range each(t, all, func(context.Context, *Group) error { return nil }) {
		if err != nil {
			t.Fatal(r, err)
		}
	}
	errs := each(t, all, func(_ context.Context, g *Group) error {
		if g.Rank() == 2 {
			cancel() // and never comes
			<-g.broken
			return nil
		}
		return g.AllReduce(ctx, make([]float32, 90000), Sum)
	})
	interrupted := 0
	for r, err := range errs[:2] {
		var lost *LostError
		switch {
		case errors.Is(err, context.Canceled):
			interrupted++
		case !errors.As(err, &lost):
			t.Errorf("rank %d: %v", r, err)
		}
	}
	if interrupted == 0 {
		t.Error(errs)
	}
}

func TestClose(t *testing.T) {
	all := ranks(t, 3)
	if err := all[1].Close(); err != nil {
		t.Fatal(err)
	}
	if err := all[1].Barrier(context.Background()); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	for r, err := range each(t, []*Group{all[0], all[2]}, func(ctx context.Context, g *Group) error { return g.Barrier(ctx) }) {
		var lost *LostError
		if !errors.As(err, &lost) || lost.Rank != 1 || !strings.Contains(err.Error(), "has left the group") {
			t.Errorf("rank %d: %v", 2*r, err)
		}
	}
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
