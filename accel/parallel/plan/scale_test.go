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
	"slices"
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

// classes returns random classes. A model that learned them would compute with denormal gradients, which are slow.
func classes(seed uint64, n int, shape ...int) *tensor.Tensor {
	return tensor.RandInt(tensor.NewGenerator(seed), 0, n, shape...)
}

// measured is what rank 0 of TestScale prints.
type measured struct {
	Step  float64 // median, in seconds
	CPU   float64 // seconds of CPU time in a step, of all ranks
	Model Model   // of a group of one
	Link  Link    // of the others
}

const scaleVariable = "QUERN_TEST_SCALE"

// TestScale predicts the step of 1 to 8 processes that share the cores of this machine from a profile of one process and the sums of
// two, and compares it with the measured step. make scale prints the table. All is measured in CPU time, since other programs may
// use the machine: divided by the cores that the ranks use, it is the time of a step on an idle machine.
func TestScale(t *testing.T) {
	if os.Getenv("QUERN_LONG") == "" {
		t.Skip("QUERN_LONG is not set")
	}
	cores := machineCores()
	table := new(display.Report).Table("model", "processes", "predicted", "CPU time", "difference", "wall time")
	for _, name := range []string{"GPT", "MLP"} {
		alone, link := scale(t, name, 1), scale(t, name, 2).Link
		for _, n := range []int{1, 2, 4, 8} {
			m := scale(t, name, n)
			c := Cluster{
				GPU: GPU{Name: "a core", Memory: 16e9}, PerNode: n, Nodes: 1, Within: link, Cores: cores,
				Efficiency: Efficiency{Network: 1},
			}
			examples := scaled[name].examples
			p, err := Predict(alone.Model, c, Layout{DP: n, TP: 1, PP: 1, MicroBatch: examples, Sequential: true}, n*examples)
			if err != nil {
				t.Fatal(err)
			}
			idle := m.CPU / float64(min(n, cores))
			difference := p.Time/idle - 1
			milliseconds := func(s float64) string { return fmt.Sprintf("%.1f ms", 1000*s) }
			table.Row(name, n, milliseconds(p.Time), milliseconds(idle), fmt.Sprintf("%+.0f %%", 100*difference), milliseconds(m.Step))
			if limit := 0.15; math.Abs(difference) > limit {
				t.Errorf("%s on %d processes: the prediction differs by %+.0f %%, more than %.0f %%", name, n, 100*difference, 100*limit)
			}
		}
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
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
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
			t.Fatalf("rank %d of %d: %v\n%v", r, n, err, out)
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
	step := func() error {
		optimizer.ZeroGrad()
		loss := nn.CrossEntropy(model.Forward(x), y)
		if err := gradients.Backward(ctx, loss, 1/float64(g.Size())); err != nil {
			return err
		}
		optimizer.Step()
		tensor.Synchronize()
		loss.Release()
		return nil
	}
	var m measured
	if g.Size() == 1 {
		report, err := prof.Run(ctx, step, prof.Warmup(5), prof.Active(10))
		if err != nil {
			t.Fatal(err)
		}
		if m.Model, err = FromProfile(report, model, of.examples); err != nil {
			t.Fatal(err)
		}
	} else {
		m.Link = linkByCPU(t, g)
	}
	const warmup, steps = 5, 15
	var times []float64
	begin := cpuTime(t)
	for k := range warmup + steps {
		if k == warmup {
			times, begin = nil, cpuTime(t)
		}
		began := time.Now()
		if err := step(); err != nil {
			t.Fatal(err)
		}
		times = append(times, time.Since(began).Seconds())
	}
	sum := []float64{(cpuTime(t) - begin) / steps}
	if err := g.AllReduceFloat64(ctx, sum, parallel.Sum); err != nil {
		t.Fatal(err)
	}
	if m.CPU = sum[0]; g.Size() == 1 {
		m.Model = inTime(m.Model, m.CPU, of.examples)
	}
	slices.Sort(times)
	m.Step = times[len(times)/2]
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("measured %s\n", text)
}

// linkByCPU is MeasureLink in CPU time.
func linkByCPU(t *testing.T, g *parallel.Group) Link {
	t.Helper()
	const repeats = 10
	var seconds [len(linkBytes)]float64
	for i, size := range linkBytes {
		values := make([]float32, size/4)
		begin := 0.0
		for k := range repeats + 2 {
			if k == 2 {
				begin = cpuTime(t)
			}
			if err := g.AllReduce(t.Context(), values, parallel.Mean); err != nil {
				t.Fatal(err)
			}
		}
		seconds[i] = (cpuTime(t) - begin) / repeats
	}
	if err := g.AllReduceFloat64(t.Context(), seconds[:], parallel.Mean); err != nil {
		t.Fatal(err)
	}
	return linkOf(g.Size(), seconds)
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
