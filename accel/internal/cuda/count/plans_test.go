// Package count_test compares the plans of models at full size with golden files: what a GPU would be asked to do.
package count_test

import (
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda"
	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/engine/devices"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/engine/trace"
	"github.com/quernlab/quern/accel/models"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/internal/golden"
)

// parsed has the modules of all tests.
var parsed fake.Modules

// open makes a new GPU the current device.
func open(t *testing.T, name, variants string) *fake.Driver {
	t.Helper()
	d := fake.Counting(fake.H100, &parsed)
	v, err := cuda.ParseVariants(variants)
	if err != nil {
		t.Fatal(err)
	}
	devices.Register(name, func() (ir.Device, error) { return cuda.Open(name, d, 0, cuda.Libraries{Variants: v}) })
	if err := tensors.SetDevice(name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tensors.SetDevice("cpu"); err != nil {
			t.Error(err)
		}
	})
	return d
}

// training trains a model in a precision.
type training struct {
	trained
	model     nn.Module
	optimizer *optim.Optimizer
	x, y      *tensor.Tensor
	dtype     tensor.DType
	gpu       *fake.Driver
}

func (t trained) start(gpu *fake.Driver) *training {
	s := &training{trained: t, gpu: gpu, model: t.model(), x: t.x(), y: t.y()}
	tensor.NoGrad(func() { s.model.Forward(s.x) }) // makes the parameters
	s.optimizer = optim.AdamW(s.model, 1e-3)
	return s
}

func (s *training) step() {
	var y, loss *tensor.Tensor
	tensor.Autocast(s.dtype, func() {
		y = s.model.Forward(s.x)
		loss = s.loss(y, s.y)
	})
	s.optimizer.ZeroGrad()
	loss.Backward()
	y.Release()
	s.optimizer.Step()
	loss.Release()
}

// warmUp is how many steps may compile, allocate, and make graphs.
const warmUp = 4

// measured is what one step after the warm-up does.
type measured struct {
	fake.Counts
	lists           int
	program         *trace.Program // of the largest list
	beside, product int            // bytes that steps read and write
}

func (s *training) measure(t *testing.T) measured {
	t.Helper()
	// Memory that is dropped but not released comes back at points that do not depend on the garbage collector's pace.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	ir.Collect()
	for range warmUp {
		s.step()
	}
	steady := s.gpu.Total().Live
	before, stats := s.gpu.Total(), tensors.Stats()
	const steps = 2
	for range steps {
		s.step()
	}
	after := s.gpu.Total()
	if after.Live != steady {
		t.Errorf("memory grows from %d to %d bytes in %d steps", steady, after.Live, steps)
	}
	m := measured{Counts: after, lists: (tensors.Stats().Flushes - stats.Flushes) / steps}
	for name, n := range before.Nodes {
		m.Nodes[name] -= n
	}
	for name := range m.Nodes {
		if m.Nodes[name] /= steps; m.Nodes[name] == 0 {
			delete(m.Nodes, name)
		}
	}
	m.Calls = (after.Calls - before.Calls) / steps
	m.Launches = (after.Launches - before.Launches) / steps
	m.GraphLaunches = (after.GraphLaunches - before.GraphLaunches) / steps
	m.GraphNodes = (after.GraphNodes - before.GraphNodes) / steps
	m.Allocs, m.Instantiates, m.Updates = after.Allocs-before.Allocs, after.Instantiates-before.Instantiates, after.Updates-before.Updates
	m.Copies = (after.Copies - before.Copies) / steps
	m.BytesToDevice = (after.BytesToDevice - before.BytesToDevice) / steps
	m.Syncs = after.Syncs - before.Syncs
	m.Early = after.Early
	s.trace(t, &m)
	return m
}

// products are the ops whose bytes count as those of matrix multiplications.
var products = []string{"MatMul", "Linear", "Conv2D", "Conv2DInputGradient", "Conv2DWeightGradient", "Attention", "AttentionGradient"}

// trace records one step to see what its programs read and write.
func (s *training) trace(t *testing.T, m *measured) {
	t.Helper()
	c, ok := trace.Start()
	if !ok {
		t.Fatal("a profile is being recorded")
	}
	s.step()
	c.Stop()
	for _, f := range c.Flushes() {
		if m.program == nil || f.Program.Arena > m.program.Arena {
			m.program = f.Program
		}
		for _, step := range f.Program.Steps {
			bytes := 0
			for _, o := range slices.Concat(step.In, step.Out) {
				bytes += ir.Len(o.Shape) * o.Size
			}
			if slices.Contains(products, step.Ops[0]) {
				m.product += bytes
			} else {
				m.beside += bytes
			}
		}
	}
}

// bound returns the most bytes of temporaries that are alive in one step of a program.
func bound(p *trace.Program) (most int) {
	change := make([]int, len(p.Steps)+1)
	for _, s := range p.Slots {
		if s.Kind == trace.Temporary {
			change[s.First] += s.Bytes
			change[s.Last+1] -= s.Bytes
		}
	}
	live := 0
	for _, c := range change {
		live += c
		most = max(most, live)
	}
	return most
}

func megabytes(n int) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

func (m measured) String() string {
	var b strings.Builder
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-32s "+format+"\n", append([]any{name}, args...)...)
	}
	row("graphs", "%d", m.GraphLaunches)
	row("kernels outside of graphs", "%d", m.Launches)
	row("nodes", "%d", m.Launches+m.GraphNodes)
	row("calls of the driver", "%d", m.Calls)
	row("allocations", "%d", m.Allocs)
	row("graphs made, nodes updated", "%d, %d", m.Instantiates, m.Updates)
	row("waits", "%d", m.Syncs)
	if m.Early > 0 {
		row("begin early, in all graphs", "%d", m.Early)
	}
	row("copies, bytes to the device", "%d, %d", m.Copies, m.BytesToDevice)
	row("beside the products", "%s", megabytes(m.beside))
	row("operands of the products", "%s", megabytes(m.product))
	row("memory", "%s", megabytes(m.Live))
	low := bound(m.program)
	row("temporaries", "%s, %.2f times the most that are alive", megabytes(m.program.Arena), float64(m.program.Arena)/float64(max(1, low)))
	b.WriteByte('\n')
	for _, name := range slices.SortedFunc(maps.Keys(m.Nodes), func(a, b string) int {
		if d := m.Nodes[b] - m.Nodes[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	}) {
		row(name, "%d", m.Nodes[name])
	}
	return b.String()
}

// TestPlans compares the plans of models at full size with golden files. A change that makes a
// number worse needs a reason.
func TestPlans(t *testing.T) {
	for _, model := range all {
		t.Run(model.name, func(t *testing.T) {
			s := model.start(open(t, "counting "+model.name, ""))
			for _, d := range []tensor.DType{tensor.Float32, tensor.BFloat16} {
				s.dtype = d
				m := s.measure(t)
				if low := bound(m.program); float64(m.program.Arena) > 1.15*float64(low) {
					t.Errorf("%v: temporaries need %d bytes, more than 1.15 times the %d that are alive at once", d, m.program.Arena, low)
				}
				golden.Check(t, fmt.Sprintf("%s-%v.txt", model.name, d), []byte(model.size+", "+fmt.Sprint(d)+"\n\n"+m.String()))
			}
		})
	}
}

// TestFrozenPlans trains a layer behind a frozen model, as transfer learning does. Only the batch is cast in each
// step: the weights of the model never change.
func TestFrozenPlans(t *testing.T) {
	for _, model := range all {
		if !slices.Contains([]string{"mlp", "resnet9", "vit"}, model.name) {
			continue
		}
		t.Run(model.name, func(t *testing.T) {
			frozen := model
			frozen.model = func() nn.Module {
				m := model.model()
				nn.Freeze(m)
				if vit, ok := m.(*models.ViTModel); ok {
					vit.Head = nn.Dense(10)
					return vit
				}
				return nn.Sequential(m, nn.Dense(10))
			}
			s := frozen.start(open(t, "counting frozen "+model.name, ""))
			s.dtype = tensor.BFloat16
			m := s.measure(t)
			var casts []string // of what is older than the step
			for _, step := range m.program.Steps {
				if step.Ops[0] == "Cast" && m.program.Slots[step.In[0].Slot].Kind != trace.Temporary {
					casts = append(casts, fmt.Sprint(step.In))
				}
			}
			if len(casts) != 1 || m.GraphLaunches != 1 || m.Launches != 0 || m.Allocs != 0 || m.Instantiates != 0 || m.Updates != 0 {
				t.Errorf("the steps that cast are\n%s\nwant that of the batch:\n%v", strings.Join(casts, "\n"), m)
			}
		})
	}
}

// TestLengthsShareKernels trains a recurrent model with sequences of other lengths. They need no other kernels but those of another
// tile for the products of few rows: a kernel takes a second to load.
func TestLengthsShareKernels(t *testing.T) {
	lstm := all[slices.IndexFunc(all, func(m trained) bool { return m.name == "lstm" })]
	for _, dtype := range []tensor.DType{tensor.Float32, tensor.BFloat16} {
		gpu := open(t, fmt.Sprint("lengths ", dtype), "")
		loaded := func() []string {
			return slices.DeleteFunc(gpu.Functions(), func(name string) bool { return strings.HasPrefix(name, "gemm") })
		}
		s := lstm.start(gpu)
		s.dtype = dtype
		s.step()
		s.step()
		before := loaded()
		for _, length := range []int{96, 17, 200} {
			s.x, s.y = tensor.Zeros(64, length, 512), tensor.Zeros(64, length, 512)
			s.step()
			if now := loaded(); !slices.Equal(now, before) {
				t.Errorf("%v, %d time steps: kernels\n%v\nwant\n%v", dtype, length, now, before)
			}
		}
	}
}

// TestVariantPlans compares plans in bfloat16 with a part of the back end off, or on, with the default.
func TestVariantPlans(t *testing.T) {
	plan := func(model, setting string) measured {
		s := all[slices.IndexFunc(all, func(m trained) bool { return m.name == model })].start(open(t, "counting "+model+" "+setting, setting))
		s.dtype = tensor.BFloat16
		m := s.measure(t)
		if m.GraphLaunches != 1 || m.Launches != 0 || m.Allocs != 0 || m.Instantiates != 0 || m.Updates != 0 {
			t.Errorf("%s, %s:\n%v", model, setting, m)
		}
		return m
	}
	last := plan("resnet9", "")
	for model, want := range map[string]measured{"mlp": plan("mlp", ""), "resnet9": last} {
		got := plan(model, "pdl=on")
		if kernels := got.GraphNodes - got.Nodes["fill"]; !maps.Equal(got.Nodes, want.Nodes) || got.Early == 0 || got.Early%(kernels-1) != 0 || want.Early != 0 || kernels < 10 {
			t.Errorf("%s: not all kernels but the first one of each graph begin early:\n%v", model, got)
		}
	}
	rows := plan("resnet9", "layout=off")
	for _, name := range []string{"batchnorm_f32", "batchnorm_input_f32", "batchnorm_statistics_f32", "batchnorm_sums_f32"} {
		if other := strings.Replace(name, "batchnorm", "batchnormlast", 1); rows.Nodes[name] != 8 || rows.Nodes[other] != 0 || last.Nodes[name] != 0 || last.Nodes[other] != 8 {
			t.Errorf("%s and %s with layout=off:\n%v", name, other, rows)
		}
	}
	// Convolutions of our own copy two factors and the result.
	copies := func(m measured) int {
		return m.Nodes["transpose2_any"] + m.Nodes["copy2_any"] + m.Nodes["copy4_any"] + m.Nodes["transpose4_any"]
	}
	convolutions := func(m measured) (n int) {
		for name, count := range m.Nodes {
			if strings.HasPrefix(name, "convlast_") {
				n += count
			}
		}
		return n
	}
	if n := convolutions(last); n < 20 || convolutions(rows) != n || copies(last) != 0 || copies(rows) != 3*n {
		t.Errorf("%d convolutions, with layout=off %d, and %d copies:\n%v", n, convolutions(rows), copies(rows), rows)
	}
}
