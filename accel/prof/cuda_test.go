//go:build !race

// The race detector makes the simulation ten times slower; the tests of the packages below
// already run this code with it.

package prof_test

import (
	"encoding/json"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/internal/cuda"
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/engine/devices"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/prof"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/testenv"
)

// kernelTime is the duration of each kernel on the simulated GPU of these tests.
const kernelTime = 5 * time.Millisecond

// timed is the name of that GPU.
const timed = "simulated:timed"

func init() {
	devices.Register(timed, func() (ir.Device, error) {
		d, err := fake.Open(fake.Options{KernelTime: func(string, driver.Dim, driver.Dim) time.Duration { return kernelTime }})
		if err != nil {
			return nil, err
		}
		return cuda.Open(timed, d, 0, cuda.Libraries{})
	})
}

// onCUDA runs f on a simulated GPU.
func onCUDA(t *testing.T, f func()) {
	t.Helper()
	if err := tensors.SetDevice(timed); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := tensors.SetDevice("cpu"); err != nil {
			t.Error(err)
		}
	}()
	f()
}

// profileOnCUDA returns a profile of a small model on the simulated GPU.
var profileOnCUDA *prof.Report

func measuredOnCUDA(t *testing.T) *prof.Report {
	t.Helper()
	if profileOnCUDA == nil {
		onCUDA(t, func() {
			step := training(t, 8, nn.Flatten(), nn.Dense(12), nn.ReLU(), nn.Dense(10))
			r, err := prof.Run(t.Context(), step, prof.Warmup(2), prof.Active(4))
			if err != nil {
				t.Fatal(err)
			}
			profileOnCUDA = r
		})
	}
	return profileOnCUDA
}

// A GPU holds at least what tensors take.
func TestMemoryUseOnCUDA(t *testing.T) {
	use := measuredOnCUDA(t).MemoryUse()
	if use.Allocated <= 0 || use.Reserved < use.Allocated || use.Peak < max(use.Forward, use.Backward, use.Update) || use.Backward <= 0 {
		t.Errorf("%+v", use)
	}
}

// Kernels of the back end have the occupancy of the formula. The simulated GPU assigns no registers.
func TestKernelsOnCUDA(t *testing.T) {
	r := measuredOnCUDA(t)
	described := 0
	for _, o := range r.Ops {
		for _, k := range o.Kernels {
			if k.Registers != 0 || k.SharedBytes < 0 || k.Occupancy < 0 || k.Occupancy > 1 || (k.Occupancy > 0) != (len(k.LimitedBy) > 0) {
				t.Errorf("%+v", k)
			}
			if k.Occupancy > 0 {
				described++
			}
		}
	}
	if described == 0 {
		t.Error("no kernel has an occupancy")
	}
	text := r.Kernels().String()
	for _, want := range []string{"occupancy", "limited by", "warps", r.Ops[0].Kernels[0].Name} {
		if !strings.Contains(text, want) || !strings.Contains(r.Report().String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, text)
		}
	}
}

func TestReportOnCUDA(t *testing.T) {
	r := measuredOnCUDA(t)
	if r.Device != timed || len(r.Steps) != 4 {
		t.Fatalf("%d steps on %q", len(r.Steps), r.Device)
	}
	// Every kernel takes kernelTime, and an op as long as its kernels.
	kernels := 0
	for _, o := range r.Ops {
		if len(o.Kernels) == 0 {
			t.Errorf("%s has no kernels", o.Name)
		}
		for _, k := range o.Kernels {
			kernels++
			if k.End-k.Begin != kernelTime || k.Name == "" || k.Blocks < 1 || k.Threads < 1 {
				t.Errorf("%s: kernel %+v", o.Name, k)
			}
		}
		if want := time.Duration(len(o.Kernels)) * kernelTime; o.End-o.Begin != want {
			t.Errorf("%s takes %v, want %v", o.Name, o.End-o.Begin, want)
		}
		if s := r.Steps[o.Step]; o.Begin < s.Begin || o.End > s.End {
			t.Errorf("%s of step %d is outside of %v", o.Name, o.Step, s)
		}
	}
	c := r.Counts
	if c.Launches != 1 || c.Lists != 1 || c.Syncs != 0 || c.Planned != 0 || c.Kernels != float64(kernels)/4 || c.Ops != float64(len(r.Ops))/4 {
		t.Errorf("%+v for %d kernels of %d ops", c, kernels, len(r.Ops))
	}
	// Steps follow each other without a gap on the GPU unless the host was late.
	launched := map[int]time.Duration{}
	for _, h := range r.Host {
		if h.Kind == prof.Launching {
			launched[h.Step] = h.End
		}
	}
	for k, s := range r.Steps {
		busy := time.Duration(0)
		for _, o := range r.Ops {
			if o.Step == k {
				busy += o.End - o.Begin
			}
		}
		if late := max(0, launched[k]-s.Begin); s.End-s.Begin-busy > late+100*time.Microsecond && k < 3 {
			t.Errorf("step %d takes %v, its ops %v; the host launched %v after its beginning", k, s.End-s.Begin, busy, late)
		}
		if k > 0 && s.Begin != r.Steps[k-1].End {
			t.Errorf("step %d begins at %v, the one before ends at %v", k, s.Begin, r.Steps[k-1].End)
		}
		gaps := time.Duration(0)
		for _, g := range r.Gaps() {
			if g.Step == k {
				gaps += g.End - g.Begin
			}
		}
		if gaps+busy != s.End-s.Begin {
			t.Errorf("step %d takes %v, its ops %v and its gaps %v", k, s.End-s.Begin, busy, gaps)
		}
	}
	b := r.Breakdown()
	if sum := b.Forward + b.Backward + b.Update + b.Waiting + b.Planning + b.Copying + b.Synchronizing + b.Profiling + b.Host; (sum - r.StepTime()).Abs() > time.Microsecond {
		t.Errorf("the parts of %v add up to %v", r.StepTime(), sum)
	}
	var cuda, host time.Duration
	for _, row := range r.Rows() {
		cuda += row.SelfCUDA
		host += row.Self
		if row.Self > 0 && row.SelfCUDA > 0 || row.SelfCUDA > row.TotalCUDA {
			t.Errorf("%+v", row)
		}
	}
	if want := time.Duration(kernels) * kernelTime; cuda != want || host <= 0 {
		t.Errorf("the rows have %v on the GPU, want %v, and %v of the host", cuda, want, host)
	}
	if layers := names(r.Layers().Rows); !slices.Contains(layers, "1 Dense(12)") || !slices.Contains(layers, "AdamW") {
		t.Errorf("the layers are %q", layers)
	}
	if len(r.Memory()) == 0 {
		t.Error("no memory")
	}
}

// If a result is read in the middle of a step, the GPU waits for the host.
func TestGapsOnCUDA(t *testing.T) {
	var r *prof.Report
	onCUDA(t, func() {
		step := training(t, 8, nn.Flatten(), nn.Dense(10))
		x := tensor.Ones(4)
		var err error
		r, err = prof.Run(t.Context(), func() error {
			if err := step(); err != nil {
				return err
			}
			x.Sum().Item()
			time.Sleep(30 * time.Millisecond) // the program itself
			return nil
		}, prof.Warmup(2), prof.Active(3))
		if err != nil {
			t.Fatal(err)
		}
	})
	if r.Counts.Syncs != 1 || r.Counts.ToHost != 4 {
		t.Errorf("%+v", r.Counts)
	}
	sums := map[string]time.Duration{}
	for _, g := range r.Gaps() {
		sums[g.Reason] += g.End - g.Begin
	}
	if sums["host"] < 3*30*time.Millisecond {
		t.Errorf("the gaps are %v", sums)
	}
	kinds := map[prof.HostKind]int{}
	for _, h := range r.Host {
		kinds[h.Kind]++
	}
	if kinds[prof.Launching] < 6 || kinds[prof.Synchronizing] < 3 || kinds[prof.Reading] != 3 {
		t.Errorf("the host did %v", kinds)
	}
}

func TestShowsOnCUDA(t *testing.T) {
	r := measuredOnCUDA(t)
	bundle, _ := display.Render(r)
	page, text := bundle["text/html"].(string), bundle["text/plain"].(string)
	for _, want := range []string{"on simulated", "launches of", "kernels for", "Self CUDA %", "CUDA total", "1 Dense(12)"} {
		if !strings.Contains(page, want) || !strings.Contains(text, want) {
			t.Errorf("%q is not shown:\n%s", want, text)
		}
	}
	if rows := names(r.Rows()); !slices.Contains(rows, "launching") || !slices.Contains(rows, "host") {
		t.Errorf("the rows are %q", rows)
	}
	svg := r.Timeline().SVG()
	for _, want := range []string{"host", timed, "gaps", "layers"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the timeline has no %q", want)
		}
	}
	c := r.Ceilings()
	if !(c.FLOPs > 0) || !(c.Bytes > 0) || len(c.TensorCores) != 3 || tensors.Device() != "cpu" {
		t.Errorf("%+v, now on %s", c, tensors.Device())
	}
	if svg := r.Roofline().SVG(); !strings.Contains(svg, "bfloat16") || !strings.Contains(svg, "TF32") {
		t.Error("the roofline has not all ceilings")
	}
	if len(r.Hints()) == 0 {
		t.Error("no hints")
	}
}

// The trace has its rows, and an arrow from each launch to the kernels that it started.
func TestTraceOnCUDA(t *testing.T) {
	r := measuredOnCUDA(t)
	path := filepath.Join(t.TempDir(), "gpu.trace.json")
	if err := r.Save(path); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	type event struct {
		Ph, Cat, Name, Bp string
		PID, TID, ID      int
		Ts, Dur           float64
		Args              map[string]any
	}
	var trace struct {
		DeviceProperties []map[string]any
		TraceEvents      []event
	}
	if err := json.Unmarshal(raw, &trace); err != nil {
		t.Fatal(err)
	}
	if len(trace.DeviceProperties) != 1 || trace.DeviceProperties[0]["name"] != timed {
		t.Errorf("devices %v", trace.DeviceProperties)
	}
	rows, starts, ends := map[[2]int]string{}, map[int]event{}, map[int]event{}
	var slices []event
	for _, e := range trace.TraceEvents {
		switch e.Ph {
		case "M":
			rows[[2]int{e.PID, e.TID}], _ = e.Args["name"].(string)
		case "s":
			starts[e.ID] = e
		case "f":
			ends[e.ID] = e
		case "X":
			slices = append(slices, e)
		}
	}
	around := func(row, name string, at float64) bool {
		for _, e := range slices {
			if rows[[2]int{e.PID, e.TID}] == row && e.Name == name && e.Ts <= at+1e-3 && at <= e.Ts+e.Dur {
				return true
			}
		}
		return false
	}
	kernels := 0
	for _, e := range slices {
		if e.Cat != "kernel" {
			continue
		}
		kernels++
		id := int(e.Args["correlation"].(float64))
		s, f := starts[id], ends[id]
		if rows[[2]int{e.PID, e.TID}] != "kernels" || s.ID != id || f.Bp != "e" || f.Ts != e.Ts || f.TID != e.TID || f.PID != e.PID || s.Ts > f.Ts+1e-3 {
			t.Errorf("kernel %+v, arrow from %+v to %+v", e, s, f)
		}
		if !around("program", "launching", s.Ts) {
			t.Errorf("arrow %d begins at no launch", id)
		}
		if math.Abs(e.Dur-float64(kernelTime/time.Microsecond)) > 1e-3 {
			t.Errorf("kernel of %v µs", e.Dur)
		}
	}
	if kernels == 0 || len(starts) != kernels || len(ends) != kernels {
		t.Errorf("%d kernels, %d and %d ends of arrows", kernels, len(starts), len(ends))
	}
}

// go tool pprof reads the profile and its labels.
func TestPprofTool(t *testing.T) {
	goTool := testenv.Command(t, "go")
	path := filepath.Join(t.TempDir(), "gpu.pprof")
	if err := measuredOnCUDA(t).SavePprof(path); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		flags []string
		want  []string
	}{
		{[]string{"-top"}, []string{"Type: time", "Linear", "launching"}},
		{[]string{"-tags"}, []string{"layer: Total", "1 Dense(12)", "phase: Total", "backward", "op: Total"}},
		{[]string{"-top", "-tagfocus", "layer=1 Dense"}, []string{"Linear"}},
	} {
		command := exec.Command(goTool, append(append([]string{"tool", "pprof"}, row.flags...), path)...)
		command.Stderr = io.Discard
		out, err := command.Output()
		if err != nil {
			t.Fatalf("%q: %v", row.flags, err)
		}
		for _, want := range row.want {
			if !strings.Contains(string(out), want) {
				t.Errorf("%q: %q is missing in\n%s", row.flags, want, out)
			}
		}
	}
}

// The host time for the graphs of the profile is not the program's planning, and the report says
// what the events in them cost.
func TestProfileOfTheProfileOnCUDA(t *testing.T) {
	const device, cost = "simulated:events", 20 * time.Microsecond
	devices.Register(device, func() (ir.Device, error) {
		d, err := fake.Open(fake.Options{EventTime: cost, KernelTime: func(string, driver.Dim, driver.Dim) time.Duration { return time.Millisecond }})
		if err != nil {
			return nil, err
		}
		return cuda.Open(device, d, 0, cuda.Libraries{})
	})
	if err := tensors.SetDevice(device); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := tensors.SetDevice("cpu"); err != nil {
			t.Error(err)
		}
	}()
	sizes, step := []int{5, 6, 7, 8}, 0
	models := map[int]func() error{}
	for _, n := range sizes { // plans exist, and graphs with events do not
		models[n] = training(t, 4, nn.Flatten(), nn.Dense(n), nn.ReLU(), nn.Dense(10))
		for range 3 {
			if err := models[n](); err != nil {
				t.Fatal(err)
			}
		}
	}
	r, err := prof.Run(t.Context(), func() error {
		step++
		return models[sizes[(step-1)%len(sizes)]]()
	}, prof.Warmup(1), prof.Active(4))
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	for _, h := range r.Host {
		if h.Kind == prof.Profiling {
			made++
		}
		if h.Kind == prof.Planning {
			t.Errorf("planning: %+v", h)
		}
	}
	if made == 0 {
		t.Error("no graph with events was made: the test is wrong")
	}
	for _, hint := range r.Hints() {
		if strings.Contains(hint, "plans") {
			t.Errorf("nothing is planned, but: %s", hint)
		}
	}
	if d := r.EventCost - cost; d.Abs() > cost/2 || !strings.Contains(r.String(), "its events add about") {
		t.Errorf("the cost of an event is %v, want %v\n%v", r.EventCost, cost, r)
	}
}

func TestServingOnCUDA(t *testing.T) {
	onCUDA(t, func() {
		r, err := prof.Serving(t.Context(), nn.Sequential(nn.Flatten(), nn.Dense(3)), tensor.Ones(4, 2, 2), prof.BatchSizes(1, 4), prof.Requests(2))
		if err != nil || !strings.HasPrefix(r.String(), "measured on "+timed) || len(r.Sizes) != 2 {
			t.Errorf("%v, %v", r, err)
		}
	})
}
