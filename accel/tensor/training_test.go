package tensor

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/internal/cpu"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

// mlp is a small classifier with AdamW written in tensor ops.
type mlp struct {
	x, y   *Tensor
	params []*Tensor
	m, v   []*Tensor
	step   int
}

func newMLP(g *Generator, batch int, sizes ...int) *mlp {
	n := &mlp{x: Randn(g, batch, sizes[0])}
	labels := make([]int, batch)
	for i := range labels {
		labels[i] = g.Intn(sizes[len(sizes)-1])
	}
	n.y = FromInts(labels, batch)
	for i := 1; i < len(sizes); i++ {
		bound := 1 / math.Sqrt(float64(sizes[i-1]))
		for _, shape := range [][]int{{sizes[i], sizes[i-1]}, {sizes[i]}} {
			n.params = append(n.params, Parameter(Uniform(g, -bound, bound, shape...)))
			n.m = append(n.m, Zeros(shape...))
			n.v = append(n.v, Zeros(shape...))
		}
	}
	return n
}

func (n *mlp) forward() *Tensor {
	x := n.x
	for i := 0; i < len(n.params); i += 2 {
		y := Linear(x, n.params[i], n.params[i+1])
		if i > 0 {
			x.Release()
		}
		if x = y; i+2 < len(n.params) {
			x = releaseAfter(y, (*Tensor).ReLU)
		}
	}
	return x
}

// train runs one step as a user would write it and returns the loss.
func (n *mlp) train() *Tensor {
	logits := n.forward()
	loss := CrossEntropy(logits, n.y)
	logits.Release()
	loss.Backward()
	n.update(1e-2)
	return loss
}

// update is AdamW (Loshchilov and Hutter, arXiv:1711.05101).
func (n *mlp) update(rate float64) {
	n.step++
	const beta1, beta2, epsilon, decay = 0.9, 0.999, 1e-8, 0.01
	correct1 := 1 - math.Pow(beta1, float64(n.step))
	correct2 := 1 - math.Pow(beta2, float64(n.step))
	NoGrad(func() {
		for i, p := range n.params {
			g := p.Grad()
			n.m[i].Assign(add(n.m[i].MulScalar(beta1), g.MulScalar(1-beta1)))
			square := releaseAfter(g, (*Tensor).Square)
			n.v[i].Assign(add(n.v[i].MulScalar(beta2), releaseAfter(square, func(t *Tensor) *Tensor { return t.MulScalar(1 - beta2) })))
			root := releaseAfter(releaseAfter(n.v[i].MulScalar(1/correct2), (*Tensor).Sqrt), func(t *Tensor) *Tensor { return t.AddScalar(epsilon) })
			change := n.m[i].Div(root)
			root.Release()
			scaled := releaseAfter(change, func(t *Tensor) *Tensor { return t.MulScalar(-rate / correct1) })
			p.Assign(add(p.MulScalar(1-rate*decay), scaled))
		}
	})
	Flush()
	for _, p := range n.params {
		p.ZeroGrad()
	}
}

func add(a, b *Tensor) *Tensor {
	c := a.Add(b)
	a.Release()
	b.Release()
	return c
}

func TestTraining(t *testing.T) {
	n := newMLP(NewGenerator(1), 64, 20, 32, 4)
	first := n.train().Item()
	tensors.ResetStats()
	last := 0.0
	for range 60 {
		last = n.train().Item()
	}
	if !(last < first/4) {
		t.Errorf("the loss went from %v to %v only", first, last)
	}
	if s := tensors.Stats(); s.PlansMade > 1 || s.PlanHits < 59 {
		t.Errorf("steps after the first made %d plans and reused %d: %+v", s.PlansMade, s.PlanHits, s)
	}
}

// TestSteadyStepReusesMemory runs many steps and compares the heap after each half.
func TestSteadyStepReusesMemory(t *testing.T) {
	n := newMLP(NewGenerator(1), 64, 100, 64, 10)
	heap := func() (uint64, int) {
		ir.Collect()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc, tensors.Stats().LiveBytes
	}
	for range 20 {
		n.train()
	}
	before, live := heap()
	for range 400 {
		n.train()
	}
	after, liveAfter := heap()
	if after > before+256<<10 {
		t.Errorf("400 steps grew the heap from %d to %d bytes", before, after)
	}
	if liveAfter > live+64<<10 {
		t.Errorf("400 steps grew the live values from %d to %d bytes", live, liveAfter)
	}
	var a, b runtime.MemStats
	runtime.ReadMemStats(&a)
	for range 100 {
		n.train()
	}
	runtime.ReadMemStats(&b)
	parameters := 0
	for _, p := range n.params {
		parameters += p.Numel() * 4
	}
	if each := int(b.TotalAlloc-a.TotalAlloc) / 100; each > 64<<10 {
		t.Errorf("a step allocates %d bytes; the parameters take %d", each, parameters)
	} else {
		t.Logf("a step allocates %d bytes in %d objects; the parameters take %d", each, (b.Mallocs-a.Mallocs)/100, parameters)
	}
}

func withThreads(threads int, f func()) { withDevice(cpu.New(threads), f) }

// withDevice runs f on another device.
func withDevice(d *cpu.Device, f func()) {
	defer d.Close()
	withRecorder(ir.NewRecorder(d), f)
}

// withRecorder runs f with another recorder.
func withRecorder(r *ir.Recorder, f func()) {
	e := shared()
	e.enter()
	e.recorder.Flush()
	old := e.recorder
	e.recorder = r
	e.leave()
	defer func() {
		e.enter()
		e.recorder = old
		e.leave()
	}()
	f()
}

// TestSameBitsOnAnyNumberOfThreads trains with one seed on 1, 2, 3 and 5 threads.
func TestSameBitsOnAnyNumberOfThreads(t *testing.T) {
	var want []float32
	for _, threads := range []int{1, 2, 3, 5, 2} {
		withThreads(threads, func() {
			g := NewGenerator(3)
			n := newMLP(g, 96, 50, 70, 10)
			for range 5 {
				n.x.SetData(Randn(g, 96, 50).Dropout(0.3, g, true).Data())
				n.train()
			}
			var got []float32
			for _, p := range n.params {
				got = append(got, p.Data()...)
			}
			got = append(got, n.params[0].Sum().Data()...)
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d threads give other parameters than 1", threads)
			}
		})
	}
}

// TestImplementationsAgree trains with each instruction set that this CPU has.
func TestImplementationsAgree(t *testing.T) {
	losses := map[string]float64{}
	for _, name := range cpu.Implementations() {
		withDevice(cpu.NewWith(name, 2), func() {
			n := newMLP(NewGenerator(4), 60, 30, 45, 7)
			for range 20 {
				losses[name] = n.train().Item()
			}
		})
	}
	for name, loss := range losses {
		if want := losses["generic"]; !(math.Abs(loss-want) < 1e-3*want) {
			t.Errorf("%s ends at a loss of %v, generic at %v", name, loss, want)
		}
	}
}

func TestFusionOfAnUpdate(t *testing.T) {
	n := newMLP(NewGenerator(1), 8, 4, 3)
	n.train()
	n.train()
	tensors.ResetStats()
	n.train()
	// Linear; loss and its gradient; the constant that starts it; two weight
	// gradients; two updates.
	if s := tensors.Stats(); s.Steps > 8 {
		t.Errorf("a step of one layer is %d kernels for %d ops", s.Steps, s.Ops)
	}
}
