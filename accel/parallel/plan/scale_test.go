//go:build unix

package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/models"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/parallel"
	"github.com/quernlab/quern/accel/prof"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
)

// scaled are the models that TestScale trains, with the examples of each rank. The number of values in the sums is what
// distinguishes them.
var scaled = map[string]struct {
	examples int
	build    func() nn.Module
	batch    func(examples int) (x, y *tensor.Tensor)
}{
	"GPT": {
		examples: 8,
		build: func() nn.Module {
			return models.GPT2(models.GPT2Config{VocabSize: 256, Positions: 64, Width: 192, Layers: 4, Heads: 4})
		},
		batch: func(n int) (x, y *tensor.Tensor) {
			return classes(1, 256, n, 64), classes(2, 256, n, 64)
		},
	},
	"MLP": {
		examples: 128,
		build: func() nn.Module {
			return nn.Sequential(nn.Dense(1024), nn.ReLU(), nn.Dense(1024), nn.ReLU(), nn.Dense(10))
		},
		batch: func(n int) (x, y *tensor.Tensor) {
			return tensor.Randn(tensor.NewGenerator(1), n, 784), classes(2, 10, n)
		},
	},
}

// classes returns random classes.
func classes(seed uint64, n int, shape ...int) *tensor.Tensor {
	return tensor.RandInt(tensor.NewGenerator(seed), 0, n, shape...)
}

// measured is what rank 0 of TestScale prints. CPU times are medians of the means of all ranks.
type measured struct {
	Step    float64 // median, in seconds
	CPU     float64 // seconds of CPU time of a rank in a step
	Compute float64 // the same of a step without an exchange
	Model   Model   // with blocks that take Compute
	Link    Link    // of more than one rank
}

const scaleVariable = "QUERN_TEST_SCALE"

// TestScale predicts the step of 1 to 8 processes that share the cores of this machine, and compares it with the measured step. make scale
// prints the table. A prediction adds the exchange to a profile of steps without one. The link is measured between two processes;
// the profile is that of as many processes at the same time, but at most two for each core: more of them do not change what caches
// and memory do. All is measured in CPU time, since other programs may use the machine: divided by the cores that the ranks use, it is
// the time of a step on an idle machine.
func TestScale(t *testing.T) {
	if os.Getenv("QUERN_LONG") == "" {
		t.Skip("QUERN_LONG is not set")
	}
	cores := machineCores()
	milliseconds := func(s float64) string { return fmt.Sprintf("%.1f ms", 1000*s) }
	table := new(display.Report).Table("model", "processes", "profile of", "predicted", "CPU time", "difference", "wall time", "without exchange")
	for _, name := range []string{"GPT", "MLP"} {
		t.Run(name, func(t *testing.T) {
			of, profiled := map[int]measured{}, 0
			for _, n := range []int{1, 2, 4, 8} {
				of[n] = scale(t, name, n)
				if n <= 2*cores {
					profiled = n
				}
				c := Cluster{
					GPU: GPU{Name: "a core", Memory: 16e9}, PerNode: n, Nodes: 1, Within: of[2].Link, Cores: cores,
					Efficiency: Efficiency{Network: 1},
				}
				if n == 1 {
					c.Within.Bandwidth = 1 // nothing is sent
				}
				examples := scaled[name].examples
				p, err := Predict(of[profiled].Model, c, Layout{DP: n, TP: 1, PP: 1, MicroBatch: examples, Sequential: true}, n*examples)
				if err != nil {
					t.Fatal(err)
				}
				shared := float64(n) / float64(min(n, cores)) // ranks of a core
				took, alone := shared*of[n].CPU, shared*of[n].Compute
				difference := p.Time/took - 1
				table.Row(name, n, profiled, milliseconds(p.Time), milliseconds(took), fmt.Sprintf("%+.0f %%", 100*difference), milliseconds(of[n].Step), milliseconds(alone))
				if limit := 0.15; math.Abs(difference) > limit {
					t.Errorf("%s on %d processes: the prediction differs by %+.0f %%, more than %.0f %%", name, n, 100*difference, 100*limit)
				}
			}
			l := of[2].Link
			t.Logf("the link sends %.1f GB/s, copies take %.2f ns a byte, the latency is %.0f µs", l.Bandwidth/1e9, l.Copy*1e9, l.Latency*1e6)
		})
	}
	load, _ := os.ReadFile("/proc/loadavg")
	t.Logf("%d cores, load %s\n%v", cores, strings.TrimSpace(string(load)), table)
}

// cpuTime returns the CPU time of this process in seconds.
func cpuTime(t *testing.T) float64 {
	t.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return float64(r.Utime.Nano()+r.Stime.Nano()) / 1e9
}

// machineCores returns the number of cores that processes of this machine can use.
func machineCores() int {
	out, err := exec.Command("nproc").Output()
	n := 0
	if _, scanErr := fmt.Sscan(string(out), &n); err != nil || scanErr != nil {
		return 1
	}
	return n
}

// scale trains a model on n processes with one thread each, and returns what rank 0 measured.
func scale(t *testing.T, name string, n int) (m measured) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	listener.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	commands := make([]*exec.Cmd, n)
	out := make([]bytes.Buffer, n)
	for r := range commands {
		c := exec.CommandContext(ctx, self, "-test.run", "^TestScaleRank$")
		c.Env = append(os.Environ(), scaleVariable+"="+name, "GOMAXPROCS=1", "MASTER_ADDR=127.0.0.1", "MASTER_PORT="+port,
			fmt.Sprint("RANK=", r), fmt.Sprint("WORLD_SIZE=", n))
		c.Stdout, c.Stderr = &out[r], &out[r]
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		commands[r] = c
	}
	for r, c := range commands {
		if err := c.Wait(); err != nil {
			t.Fatalf("rank %d of %d: %v\n%s", r, n, err, out[r].Bytes())
		}
	}
	_, text, _ := strings.Cut(out[0].String(), "measured ")
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&m); err != nil {
		t.Fatalf("%v in\n%s", err, &out[0])
	}
	return m
}

// TestScaleRank is a process of TestScale.
func TestScaleRank(t *testing.T) {
	of, ok := scaled[os.Getenv(scaleVariable)]
	if !ok {
		return // it is started by scale
	}
	ctx := t.Context()
	g, err := parallel.Join(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	model := of.build()
	x, y := of.batch(of.examples)
	model.Forward(x).Release() // creates the parameters
	gradients := parallel.NewGradients(g, model)
	if err := gradients.Begin(ctx); err != nil {
		t.Fatal(err)
	}
	optimizer := optim.AdamW(model, 1e-3)
	step := func(backward func(*tensor.Tensor) error) error {
		optimizer.ZeroGrad()
		loss := nn.CrossEntropy(model.Forward(x), y)
		if err := backward(loss); err != nil {
			return err
		}
		optimizer.Step()
		tensor.Synchronize()
		loss.Release()
		return nil
	}
	computes := func() error { return step(func(loss *tensor.Tensor) error { loss.Backward(); return nil }) }
	trains := func() error {
		return step(func(loss *tensor.Tensor) error { return gradients.Backward(ctx, loss, 1/float64(g.Size())) })
	}
	report, err := prof.Run(ctx, computes, prof.Warmup(2), prof.Active(4)) // of all ranks at the same time
	if err != nil {
		t.Fatal(err)
	}
	var m measured
	if m.Model, err = FromProfile(report, model, of.examples); err != nil {
		t.Fatal(err)
	}
	if g.Size() > 1 {
		if m.Link, err = measureLink(ctx, g, func() float64 { return cpuTime(t) }); err != nil {
			t.Fatal(err)
		}
	}
	const warmup, rounds = 2, 11
	var walls []float64
	var cpu [2][]float64
	for k := range warmup + rounds {
		for i, do := range []func() error{trains, computes} {
			if err := g.AllReduceFloat64(ctx, []float64{0}, parallel.Sum); err != nil { // begins on all ranks
				t.Fatal(err)
			}
			began, used := time.Now(), cpuTime(t)
			if err := do(); err != nil {
				t.Fatal(err)
			}
			passed, mean := time.Since(began), []float64{cpuTime(t) - used}
			if err := g.AllReduceFloat64(ctx, mean, parallel.Mean); err != nil {
				t.Fatal(err)
			}
			if k < warmup {
				continue
			}
			if cpu[i] = append(cpu[i], mean[0]); i == 0 {
				walls = append(walls, passed.Seconds())
			}
		}
	}
	m.Step, m.CPU, m.Compute = median(walls), median(cpu[0]), median(cpu[1])
	m.Model = inTime(m.Model, m.Compute, of.examples)
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("measured %s\n", text)
}

// inTime returns a model whose step with a number of examples takes a time.
func inTime(m Model, seconds float64, examples int) Model {
	total := m.Update / float64(examples)
	for _, b := range m.Blocks {
		total += b.Forward.Seconds + b.Backward.Seconds
	}
	factor := seconds / float64(examples) / total
	m.Update *= factor
	for i := range m.Blocks {
		m.Blocks[i].Forward.Seconds *= factor
		m.Blocks[i].Backward.Seconds *= factor
	}
	return m
}
