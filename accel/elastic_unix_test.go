//go:build unix

package accel_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/parallel"
)

// elasticTraining is a training on processes that are killed at random.
type elasticTraining struct {
	Folder      string // of the file of Resume and the result
	Address     string
	Least, Most int
	Steps       int
}

// elasticVariable contains the fields of an elasticTraining.
const elasticVariable = "QUERN_TEST_ELASTIC"

// elasticResult is what rank 0 writes at the end.
type elasticResult struct {
	Weights map[string][]float32
	Losses  []float64
}

// TestElasticProcess is one process of an elastic training. It prints a line for each group and each step.
func TestElasticProcess(t *testing.T) {
	task := os.Getenv(elasticVariable)
	if task == "" {
		t.Skip("not started as an elastic rank")
	}
	var c elasticTraining
	if _, err := fmt.Sscanf(task, "%q %q %d %d %d", &c.Folder, &c.Address, &c.Least, &c.Most, &c.Steps); err != nil {
		t.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(t.Context(), syscall.SIGTERM)
	defer stop()
	digits, _, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	err = parallel.Elastic(ctx, c.Least, c.Most, func(ctx context.Context, group *parallel.Group) error {
		fmt.Println("group", group.Size(), "rank", group.Rank())
		accel.Seed(3)
		model := nn.Sequential(nn.Flatten(), nn.Dense(24), nn.ReLU(), nn.Dropout(0.3), nn.Dense(16), nn.Tanh(), nn.Dense(10))
		// 101 examples: the parts of the ranks differ in the last batch of an epoch.
		run, err := accel.Fit(ctx, model, digits.First(101), accel.DataParallel(group), accel.Quiet(), accel.NoChecks(), accel.BatchSize(32), accel.Steps(c.Steps), accel.AdamW(3e-3),
			accel.Resume(filepath.Join(c.Folder, "run.safetensors")), accel.SaveEvery(3),
			accel.StopWhen(func(r *accel.Run) bool { fmt.Println("step", len(r.Steps)); return false }))
		if err != nil || !group.First() {
			return err
		}
		result := elasticResult{Weights: map[string][]float32{}}
		for _, p := range nn.State(model) {
			result.Weights[p.Name] = p.Data()
		}
		for _, s := range run.Steps {
			result.Losses = append(result.Losses, s.Loss)
		}
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(result); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(c.Folder, "result"), b.Bytes(), 0o600)
	}, parallel.Secret("s"), parallel.Timeout(elasticLimit), parallel.HeartbeatTimeout(5*time.Second), parallel.At(parallel.RankInfo{Address: c.Address}))
	if ctx.Err() != nil {
		if !errors.Is(err, context.Canceled) && err != nil {
			t.Errorf("after SIGTERM: %v", err)
		}
		return
	}
	if err != nil {
		t.Error(err)
	}
}

// elasticLimit is how long nothing may happen in an elastic training.
const elasticLimit = 90 * time.Second

// elasticRun is the processes of an elastic training.
type elasticRun struct {
	t       *testing.T
	c       elasticTraining
	lines   chan string // of all processes
	running sync.WaitGroup

	mu     sync.Mutex
	living map[int]*exec.Cmd // by number
	doomed map[int]bool      // were sent a signal
	said   map[int]*strings.Builder
}

// run trains with most processes until they end. disturb is called after each step that a process has made.
func (c elasticTraining) run(t *testing.T, disturb func(r *elasticRun, step int)) elasticResult {
	t.Helper()
	c.Folder, c.Address = t.TempDir(), elasticAddress(t)
	r := &elasticRun{t: t, c: c, lines: make(chan string, 1000), living: map[int]*exec.Cmd{}, doomed: map[int]bool{}, said: map[int]*strings.Builder{}}
	for range c.Most {
		r.start()
	}
	ended := make(chan struct{})
	go func() {
		r.running.Wait()
		close(ended)
	}()
	for going := true; going; {
		select {
		case line := <-r.lines:
			step := 0
			if n, _ := fmt.Sscanf(line, "step %d", &step); n == 1 {
				disturb(r, step)
			}
		case <-ended:
			going = false
		case <-time.After(elasticLimit):
			r.stop()
			t.Fatalf("nothing has happened for %v\n%s", elasticLimit, r.text())
		}
	}
	if t.Failed() {
		t.Fatal(r.text())
	}
	b, err := os.ReadFile(filepath.Join(c.Folder, "result"))
	if err != nil {
		t.Fatalf("%v\n%s", err, r.text())
	}
	var result elasticResult
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(&result); err != nil {
		t.Fatal(err)
	}
	return result
}

// start starts another process.
func (r *elasticRun) start() {
	number := len(r.said) + 1
	cmd := exec.Command(os.Args[0], "-test.run=^TestElasticProcess$")
	cmd.Env = append(os.Environ(), elasticVariable+"="+fmt.Sprintf("%q %q %d %d %d", r.c.Folder, r.c.Address, r.c.Least, r.c.Most, r.c.Steps))
	out, err := cmd.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	said := &strings.Builder{}
	r.mu.Lock()
	r.living[number], r.said[number] = cmd, said
	r.mu.Unlock()
	r.running.Go(func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			r.mu.Lock()
			said.WriteString(lines.Text() + "\n")
			r.mu.Unlock()
			r.lines <- lines.Text()
		}
		err := cmd.Wait()
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.living, number)
		if err != nil && !r.doomed[number] {
			r.t.Errorf("process %d: %v", number, err)
		}
	})
}

// victim returns a living process that was not sent a signal before; 0 for none.
func (r *elasticRun) victim(random *rand.Rand) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []int
	for n := range len(r.said) + 1 {
		if r.living[n] != nil && !r.doomed[n] {
			all = append(all, n)
		}
	}
	if len(all) == 0 {
		return 0
	}
	return all[random.IntN(len(all))]
}

// signal sends a process a signal that ends it, now or later.
func (r *elasticRun) signal(number int, s syscall.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.doomed[number] = true
	if c := r.living[number]; c != nil {
		_ = c.Process.Signal(s) // it may have ended
	}
}

// kills returns how many processes were sent a signal.
func (r *elasticRun) kills() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.doomed)
}

// text returns what the processes have said.
func (r *elasticRun) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	for n := range len(r.said) + 1 {
		if s := r.said[n]; s != nil {
			fmt.Fprintf(&b, "process %d:\n%s", n, s)
		}
	}
	return b.String()
}

// stop ends all processes.
func (r *elasticRun) stop() {
	for n := range len(r.said) + 1 {
		r.signal(n, syscall.SIGKILL)
	}
}

func elasticAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// stopTime is how long a stopped process lives: longer than a heartbeat may be missing.
const stopTime = 15 * time.Second

// killing disturbs a training: at random times it ends a random process and starts another one. Some get SIGKILL, some SIGTERM,
// after which they leave between two steps, and some are stopped first and hold up the others.
func killing(seed uint64, times int, stops bool) func(r *elasticRun, step int) {
	random := rand.New(rand.NewPCG(seed, 0))
	rest, done := 1+random.IntN(12), 0
	return func(r *elasticRun, step int) {
		if rest--; rest > 0 || done == times || step > r.c.Steps-5 {
			return
		}
		victim := r.victim(random)
		if victim == 0 {
			return
		}
		rest = 1 + random.IntN(12)
		done++
		r.start() // before the signal, so that there always is a process
		switch {
		case stops && random.IntN(4) == 0:
			r.signal(victim, syscall.SIGSTOP)
			time.AfterFunc(stopTime, func() { r.signal(victim, syscall.SIGKILL) })
		case random.IntN(2) == 0:
			r.signal(victim, syscall.SIGKILL)
		default:
			r.signal(victim, syscall.SIGTERM)
		}
	}
}

// A training whose processes are killed at random and replaced ends, and its result is bit for bit that of an undisturbed one
// if each group has the same number of ranks. With QUERN_LONG=1 this is repeated for ten minutes.
func TestElasticTraining(t *testing.T) {
	undisturbed := map[int]elasticResult{}
	for ranks := 1; ranks <= 3; ranks++ {
		undisturbed[ranks] = elasticTraining{Least: ranks, Most: ranks, Steps: 40}.run(t, func(*elasticRun, int) {})
		if n := len(undisturbed[ranks].Losses); n != 40 {
			t.Fatalf("%d steps", n)
		}
	}
	begin := time.Now()
	for round := uint64(0); round == 0 || os.Getenv("QUERN_LONG") == "1" && time.Since(begin) < 10*time.Minute; round++ {
		for _, c := range []elasticTraining{{Least: 3, Most: 3, Steps: 40}, {Least: 2, Most: 2, Steps: 40}, {Least: 1, Most: 1, Steps: 40}, {Least: 1, Most: 3, Steps: 40}} {
			kills := 0
			disturb := killing(round, 4, round > 0)
			got := c.run(t, func(r *elasticRun, step int) {
				disturb(r, step)
				kills = r.kills()
			})
			want := undisturbed[c.Most]
			if kills == 0 {
				t.Errorf("round %d, %+v: nothing was disturbed", round, c)
			}
			if c.Least == c.Most && !reflect.DeepEqual(got, want) {
				t.Fatalf("round %d, %+v: the result differs from the undisturbed one: losses %v, want %v", round, c, got.Losses, want.Losses)
			}
			if len(got.Losses) != c.Steps {
				t.Errorf("round %d, %+v: %d steps", round, c, len(got.Losses))
			}
			t.Logf("round %d, %d to %d ranks: %d processes were ended after %v", round, c.Least, c.Most, kills, time.Since(begin).Round(time.Second))
		}
	}
}
