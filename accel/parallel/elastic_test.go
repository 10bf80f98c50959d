package parallel

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// counting is a training of elastic ranks whose state is a number: each step adds 1 on rank 0, which saves it.
type counting struct {
	t       testing.TB
	address string
	steps   int
	hook    func(ctx context.Context, g *Group, step int) error // called before each step
	stopped func(ctx context.Context, g *Group)                 // called when the ranks have agreed to stop

	running sync.WaitGroup
	mu      sync.Mutex
	saved   int
	sizes   []int // of the groups, as rank 0 has seen them
}

// start runs Elastic in a goroutine. Its error comes from the channel.
func (c *counting) start(ctx context.Context, least, most int, options ...Option) chan error {
	done := make(chan error, 1)
	all := append([]Option{At(RankInfo{Address: c.address}), Secret("s"), Timeout(testTime)}, options...)
	c.running.Go(func() { done <- Elastic(ctx, least, most, c.train, all...) })
	return done
}

func (c *counting) train(ctx context.Context, g *Group) error {
	if g.First() {
		c.mu.Lock()
		c.sizes = append(c.sizes, g.Size())
		c.mu.Unlock()
	}
	c.mu.Lock()
	state := []float64{float64(c.saved)}
	c.mu.Unlock()
	if !g.First() {
		state[0] = 0
	}
	if err := g.AllReduceFloat64(ctx, state, Sum); err != nil { // all get the state of rank 0
		return err
	}
	for step := int(state[0]); step < c.steps; step++ {
		if c.hook != nil {
			if err := c.hook(ctx, g, step); err != nil {
				return err
			}
		}
		vote := []float64{0}
		if g.Changing() || ctx.Err() != nil {
			vote[0] = 1
		}
		if err := g.AllReduceFloat64(context.WithoutCancel(ctx), vote, Sum); err != nil {
			return err
		}
		if vote[0] > 0 {
			if c.stopped != nil {
				c.stopped(ctx, g)
			}
			return errors.Join(ErrChanging, ctx.Err())
		}
		if g.First() {
			c.mu.Lock()
			if c.saved != step {
				c.t.Errorf("step %d on top of %d", step, c.saved)
			}
			c.saved++
			c.mu.Unlock()
		}
	}
	return nil
}

// ends checks that processes end without an error.
func ends(t *testing.T, all ...chan error) {
	t.Helper()
	for i, done := range all {
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("process %d: %v", i, err)
			}
		case <-time.After(testTime):
			t.Fatalf("process %d does not end", i)
		}
	}
}

func TestElastic(t *testing.T) {
	c := &counting{t: t, address: freeAddress(t), steps: 5}
	ends(t, c.start(t.Context(), 3, 3), c.start(t.Context(), 3, 3), c.start(t.Context(), 3, 3))
	if c.saved != 5 || !slices.Equal(c.sizes, []int{3}) {
		t.Errorf("%d steps in groups of %v", c.saved, c.sizes)
	}
}

func TestElasticAlone(t *testing.T) {
	c := &counting{t: t, address: freeAddress(t), steps: 5}
	ends(t, c.start(t.Context(), 1, 1))
	if c.saved != 5 || !slices.Equal(c.sizes, []int{1}) {
		t.Errorf("%d steps in groups of %v", c.saved, c.sizes)
	}
}

// drop ends the connections of a rank without a notice, as the system does when its process ends.
func (g *Group) drop() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	close(g.end)
	for _, l := range append([]*link{g.next, g.previous}, g.hub...) {
		if l != nil {
			l.close()
		}
	}
}

// A rank is lost; the others go on without it, and with another one as soon as it comes.
func TestElasticRankIsLost(t *testing.T) {
	c := &counting{t: t, address: freeAddress(t), steps: 30}
	var late chan error
	dead := make(chan struct{})
	c.hook = func(_ context.Context, g *Group, step int) error {
		switch {
		case step == 10 && g.Size() == 3 && g.Rank() == 2:
			g.drop()
			<-dead
			return errors.New("gone")
		case step == 20 && g.Size() == 2 && g.First():
			if late == nil {
				late = c.start(t.Context(), 2, 3)
			}
		}
		if step >= 20 && g.Size() == 2 && g.First() {
			<-g.changing // the process has come
		}
		return nil
	}
	all := make(chan error, 3)
	for range 3 {
		done := c.start(t.Context(), 2, 3)
		go func() { all <- <-done }()
	}
	ends(t, all, all) // two of them
	ends(t, late)
	close(dead)
	c.running.Wait()
	if c.saved != 30 || !slices.Equal(c.sizes, []int{3, 2, 3}) {
		t.Errorf("%d steps in groups of %v", c.saved, c.sizes)
	}
}

// A rank leaves because its context is done, or fails; the others go on, with the next group at the same step.
func TestElasticRankLeaves(t *testing.T) {
	broken := errors.New("its disk is full")
	for _, row := range []struct {
		name  string
		rank  int // rank 0 is where the others meet
		end   func(cancel context.CancelFunc) error
		first bool // its process has ended before training has ended on the others
		want  error
	}{
		{"interrupted", 1, func(cancel context.CancelFunc) error { cancel(); return nil }, false, context.Canceled},
		{"interrupted, the others slow", 1, func(cancel context.CancelFunc) error { cancel(); return nil }, true, context.Canceled},
		{"rank 0 interrupted", 0, func(cancel context.CancelFunc) error { cancel(); return nil }, false, context.Canceled},
		{"rank 0 interrupted, the others slow", 0, func(cancel context.CancelFunc) error { cancel(); return nil }, true, context.Canceled},
		{"fails", 2, func(context.CancelFunc) error { return broken }, false, broken},
		{"rank 0 fails", 0, func(context.CancelFunc) error { return broken }, false, broken},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := &counting{t: t, address: freeAddress(t), steps: 20}
			var mu sync.Mutex
			left := false
			type key struct{}
			c.hook = func(ctx context.Context, g *Group, step int) error {
				mu.Lock()
				defer mu.Unlock()
				if step == 10 && g.Rank() == row.rank && !left {
					left = true
					return row.end(ctx.Value(key{}).(context.CancelFunc))
				}
				return nil
			}
			c.stopped = func(ctx context.Context, g *Group) {
				switch {
				case !row.first || g.Size() < 3:
				case ctx.Err() != nil:
					g.drop()
				default:
					<-g.broken
				}
			}
			var all []chan error
			for range 3 {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				all = append(all, c.start(context.WithValue(ctx, key{}, cancel), 1, 3))
			}
			c.running.Wait()
			var errs []error
			for _, done := range all {
				if err := <-done; err != nil {
					errs = append(errs, err)
				}
			}
			if len(errs) != 1 || !errors.Is(errs[0], row.want) || c.saved != 20 || !slices.Equal(c.sizes, []int{3, 2}) {
				t.Errorf("%d steps in groups of %v, errors %v", c.saved, c.sizes, errs)
			}
		})
	}
}

// With too few ranks a group waits for another one.
func TestElasticWaits(t *testing.T) {
	c := &counting{t: t, address: freeAddress(t), steps: 20}
	dead := make(chan struct{})
	late := make(chan chan error, 1)
	var once atomic.Bool
	c.hook = func(_ context.Context, g *Group, step int) error {
		if step == 10 && g.Rank() == 1 && once.CompareAndSwap(false, true) {
			late <- c.start(t.Context(), 2, 2)
			g.drop()
			<-dead
			return errors.New("gone")
		}
		return nil
	}
	a, b := c.start(t.Context(), 2, 2), c.start(t.Context(), 2, 2)
	select {
	case err := <-a:
		a <- err
		ends(t, a)
	case err := <-b:
		b <- err
		ends(t, b)
	}
	ends(t, <-late)
	close(dead)
	c.running.Wait()
	if c.saved != 20 || !slices.Equal(c.sizes, []int{2, 2}) {
		t.Errorf("%d steps in groups of %v", c.saved, c.sizes)
	}
}

// A rank that the others have lost since its process was suspended joins the next group, with the state of the others, and so does
// rank 0, where they meet.
func TestElasticRankIsSuspended(t *testing.T) {
	for _, rank := range []int{0, 1, 2} {
		t.Run(fmt.Sprintf("rank %d", rank), func(t *testing.T) {
			t.Parallel()
			c := &counting{t: t, address: freeAddress(t), steps: 20}
			var once atomic.Bool
			c.hook = func(_ context.Context, g *Group, step int) error {
				if step != 10 || g.Size() < 3 || once.Load() {
					return nil
				}
				if g.Rank() == rank { // what it finds when it continues
					<-g.broken
				} else if g.Rank() == (rank+1)%3 {
					once.Store(true)
					g.lose(rank, "sent no heartbeat")
				}
				return nil
			}
			ends(t, c.start(t.Context(), 3, 3), c.start(t.Context(), 3, 3), c.start(t.Context(), 3, 3))
			if c.saved != 20 || !slices.Equal(c.sizes, []int{3, 3}) {
				t.Errorf("%d steps in groups of %v", c.saved, c.sizes)
			}
		})
	}
}

// never is a function of Elastic that must not be called.
func never(context.Context, *Group) error { return errors.New("train was called") }

func TestElasticWithoutTraining(t *testing.T) {
	if err := Elastic(t.Context(), 1, 2, nil); err == nil || err.Error() != "parallel: Elastic(1, 2): the function that trains is nil" {
		t.Error(err)
	}
}

func TestElasticErrors(t *testing.T) {
	foreign, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = foreign.Close() }()
	go func() { // a web server, for example
		for {
			conn, err := foreign.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			_ = conn.Close()
		}
	}()
	for _, row := range []struct {
		name        string
		least, most int
		options     []Option
		want        string
	}{
		{"no ranks", 0, 2, nil, "parallel: Elastic(0, 2): the first number must be at least 1"},
		{"fewer at most than at least", 3, 2, nil, "parallel: Elastic(3, 2): the first number must be at least 1"},
		{"too few", 2, 2, []Option{Timeout(time.Second)}, "rank 1 of 2 did not join at 127.0.0.1:"},
		{"another program has the port", 2, 2, []Option{At(RankInfo{Address: foreign.Addr().String()}), Timeout(3 * time.Second)}, "it does not speak TLS: another version or another program; this process has tried for"},
		{"MPI", 2, 2, []Option{MPI()}, "parallel: Elastic does not take MPI()"},
	} {
		t.Run(row.name, func(t *testing.T) {
			options := append([]Option{At(RankInfo{Address: freeAddress(t)}), Secret("s")}, row.options...)
			err := Elastic(t.Context(), row.least, row.most, never, options...)
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %s", err, row.want)
			}
		})
	}
}

// A process that does not belong to the group is rejected at once, and the others are not disturbed.
func TestElasticRejects(t *testing.T) {
	for _, row := range []struct {
		name string
		join func(ctx context.Context, address string) error
		want string
	}{
		{"other numbers", func(ctx context.Context, address string) error {
			return Elastic(ctx, 1, 2, never, At(RankInfo{Address: address}), Secret("s"))
		}, "parallel: rank 0 rejected a process that has no rank yet: it was started with parallel.Elastic(…, 1, 2, …), but rank 0 with parallel.Elastic(…, 2, 2, …)"},
		{"another secret", func(ctx context.Context, address string) error {
			return Elastic(ctx, 2, 2, never, At(RankInfo{Address: address}), Secret("x"))
		}, "it does not know the secret of this run"},
		{"a fixed rank", func(ctx context.Context, address string) error {
			_, err := Join(ctx, At(RankInfo{Rank: 1, Size: 2, LocalRank: 1, LocalSize: 2, Address: address}), Secret("s"))
			return err
		}, "it was started with parallel.Join as one of 2 ranks, but rank 0 with parallel.Elastic(…, 2, 2, …)"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := &counting{t: t, address: freeAddress(t), steps: 3}
			rejected := make(chan error, 1)
			var once sync.Once
			c.hook = func(ctx context.Context, g *Group, _ int) error {
				if g.First() {
					once.Do(func() { rejected <- row.join(ctx, c.address) })
				}
				return nil
			}
			ends(t, c.start(t.Context(), 2, 2), c.start(t.Context(), 2, 2))
			if err := <-rejected; err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %s", err, row.want)
			}
		})
	}
	t.Run("an elastic rank where others are fixed", func(t *testing.T) {
		address := freeAddress(t)
		c := &counting{t: t, address: address}
		first := make(chan error, 1)
		go func() {
			_, err := Join(t.Context(), At(RankInfo{Rank: 0, Size: 2, LocalSize: 2, Address: address}), Secret("s"))
			first <- err
		}()
		for { // until it listens
			conn, err := net.Dial("tcp", address)
			if err == nil {
				_ = conn.Close()
				break
			}
		}
		err := <-c.start(t.Context(), 2, 2)
		if want := "it was started with parallel.Elastic, but rank 0 with parallel.Join as one of 2 ranks"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		if err := <-first; err == nil {
			t.Error("rank 0 reports nothing")
		}
	})
}

func TestElasticEnvironment(t *testing.T) {
	for _, row := range []struct {
		name      string
		variables map[string]string
		want      string // the address
		err       string
	}{
		{"an address", map[string]string{"MASTER_ADDR": "node7", "MASTER_PORT": "1234"}, "node7:1234", ""},
		{"no port", map[string]string{"MASTER_ADDR": "node7"}, "node7:29500", ""},
		{"an Indexed Job", map[string]string{"MASTER_ADDR": "job-0", "JOB_COMPLETION_INDEX": "3"}, "job-0:29500", ""},
		{"Slurm", map[string]string{"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2", "SLURM_STEP_NODELIST": "n[1-2]"}, "n1:20007", ""},
		{"nothing", nil, "", "MASTER_ADDR is not set"},
		{"a port that is no number", map[string]string{"MASTER_ADDR": "node7", "MASTER_PORT": "x"}, "", `MASTER_PORT="x" is not a number`},
	} {
		t.Run(row.name, func(t *testing.T) {
			p, err := elasticInfo(func(name string) (string, bool) { v, ok := row.variables[name]; return v, ok })
			if row.err != "" {
				if err == nil || !strings.Contains(err.Error(), row.err) {
					t.Errorf("got %v, want %s", err, row.err)
				}
				return
			}
			if err != nil || p.Address != row.want {
				t.Errorf("got %s and %v, want %s", p.Address, err, row.want)
			}
		})
	}
}
