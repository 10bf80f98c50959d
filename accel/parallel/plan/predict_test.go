package plan

import (
	"cmp"
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/parallel"
	"github.com/quernlab/quern/accel/prof"
	"github.com/quernlab/quern/accel/tensor"
)

func near(got, want, within float64) bool { return math.Abs(got-want) <= within*math.Abs(want) }

// TestParameters compares with the published numbers of parameters.
func TestParameters(t *testing.T) {
	t.Parallel()
	gpt2 := gpt2Small
	gpt2.Vocabulary = 50257
	for _, c := range []struct {
		model Transformer
		want  float64
	}{{gpt2, 124_439_808}, {llama8B, 8_030_261_248}, {llama70B, 70_553_706_496}, {llama405B, 405_853_388_800}} {
		if got := c.model.Model(BF16()).Parameters(); got != c.want {
			t.Errorf("%s has %.0f parameters, want %.0f", c.model.Name, got, c.want)
		}
	}
}

// TestActivations compares with the formulas of Korthikanti et al., 2022, for s tokens, width h and a heads.
func TestActivations(t *testing.T) {
	t.Parallel()
	m := gpt22B.Model(BF16())
	const s, h, a = 2048.0, 6144.0, 64.0
	for _, c := range []struct {
		name   string
		layout Layout
		want   float64
	}{
		{"all", Layout{TP: 1}, s * h * (34 + 5*a*s/h)},
		{"tensor parallel", Layout{TP: 8}, s * h * (10 + 24.0/8 + 5*a*s/h/8)},
		{"sequence parallel", Layout{TP: 8, SequenceParallel: true}, s * h / 8 * (34 + 5*a*s/h)},
		{"attention recomputed", Layout{TP: 8, SequenceParallel: true, Recompute: RecomputeAttention}, s * h / 8 * 34},
		{"blocks recomputed", Layout{TP: 8, Recompute: RecomputeBlocks}, s * h * 2},
	} {
		if got, _ := (predictor{Layout: c.layout}).kept(m.Blocks[1]); !near(got, c.want, 1e-9) {
			t.Errorf("%s: a block keeps %g bytes, want %g", c.name, got, c.want)
		}
	}
}

// TestZeRO compares with figure 1 of Rajbhandari et al., ZeRO, 2020: 7.5 billion parameters on 64 GPUs.
func TestZeRO(t *testing.T) {
	t.Parallel()
	precision := BF16()
	precision.Gradients = 2
	// Many small blocks, because ZeRO 3 gathers some of them.
	m := Model{Precision: precision}
	for range 750 {
		m.Blocks = append(m.Blocks, Block{Parameters: 1e7})
	}
	c := DGXH100(8)
	c.Reserved = 0
	for stage, want := range []float64{120e9, 31.4e9, 16.6e9, 1.9e9} {
		p, err := Predict(m, c, Layout{DP: 64, TP: 1, PP: 1, ZeRO: stage, MicroBatch: 1}, 64)
		if err != nil {
			t.Fatal(err)
		}
		memory := p.Memory
		if got := memory.Parameters + memory.Gradients + memory.Optimizer; !near(got, want, 0.02) {
			t.Errorf("ZeRO %d needs %.3g bytes, want %.3g", stage, got, want)
		}
	}
}

func TestCollectives(t *testing.T) {
	t.Parallel()
	c := Cluster{PerNode: 8, Nodes: 128, Within: Link{Bandwidth: 400e9, Latency: 2e-6}, Between: Link{Bandwidth: 50e9, Latency: 10e-6}, Efficiency: Efficiency{Network: 1}}
	for _, x := range []struct {
		name         string
		size, stride int
		bytes        float64
		want         float64 // seconds of a sum
	}{
		{"one rank", 1, 1, 1e9, 0},
		{"no bytes", 8, 1, 0, 0},
		{"ring in a node", 8, 1, 8e9, 2 * 7.0 / 8 * (8*2e-6 + 8e9/400e9)},
		{"ring of nodes, one rank in each", 4, 8, 8e9, 2 * 3.0 / 4 * (4*10e-6 + 8e9/50e9)},
		{"rings of nodes, two ranks in each", 8, 4, 8e9, 2 * 7.0 / 8 * (4*2e-6 + 4*10e-6 + 8e9/100e9)},
		{"rings of full nodes", 16, 1, 8e9, 2 * 15.0 / 16 * (14*2e-6 + 2*10e-6 + 8e9/400e9)},
		{"tree for few bytes", 1024, 1, 1e3, 2 * (3*2e-6 + 7*10e-6 + 1e3/400e9)},
	} {
		if got := c.group(x.size, x.stride).allReduce(x.bytes); !near(got, x.want, 1e-9) {
			t.Errorf("%s: %g s, want %g s", x.name, got, x.want)
		}
	}
}

// TestParts checks predictions of a model with measured times by hand: two blocks of 1 s forward and 2 s backward, and 4e9 bytes of
// gradients each.
func TestParts(t *testing.T) {
	t.Parallel()
	block := Block{Parameters: 1e9, Forward: Work{Seconds: 1}, Backward: Work{Seconds: 2}}
	m := Model{Blocks: []Block{block, block}, Precision: Precision{Weights: 4, Gradients: 4, Optimizer: 8}, Update: 0.5}
	c := Cluster{GPU: GPU{Memory: 1e12}, PerNode: 8, Nodes: 1, Within: Link{Bandwidth: 4e9}, Efficiency: Efficiency{Network: 1}, Price: 3600}
	for _, x := range []struct {
		name   string
		layout Layout
		cores  int
		link   Link // another one than that of c
		want   Parts
	}{
		{"one GPU", Layout{DP: 1, PP: 1}, 0, Link{}, Parts{Compute: 24, Update: 0.5}},
		// Each sum takes 2·1/2·1 s. The first is hidden by the backward pass of the other block.
		{"data", Layout{DP: 2, PP: 1}, 0, Link{}, Parts{Compute: 12, Data: 1, Update: 0.5}},
		{"data, not overlapped", Layout{DP: 2, PP: 1, Sequential: true}, 0, Link{}, Parts{Compute: 12, Data: 2, Update: 0.5}},
		{"data on one core", Layout{DP: 2, PP: 1, Sequential: true}, 1, Link{}, Parts{Compute: 24, Data: 4, Update: 1}},
		// One sum of all 8e9 bytes, which are copied in 0.8 s. A ring of two has twice the latency.
		{"data, one slow sum", Layout{DP: 2, PP: 1, Sequential: true}, 0, Link{Bandwidth: 4e9, Latency: 0.3, Copy: 1e-10}, Parts{Compute: 12, Data: 2 + 0.8 + 2*0.3, Update: 0.5}},
		// A reduce-scatter of 0.5 s for each block, an all-gather of 1 s for all, and half of the update.
		{"ZeRO 1", Layout{DP: 2, PP: 1, ZeRO: 1}, 0, Link{}, Parts{Compute: 12, Data: 0.5 + 1, Update: 0.25}},
		// In each of two micro-batches, the last reduce-scatter is not hidden.
		{"ZeRO 2", Layout{DP: 2, PP: 1, ZeRO: 2}, 0, Link{}, Parts{Compute: 12, Data: 2*0.5 + 1, Update: 0.25}},
		// The first all-gather of each pass is not hidden, and neither is the last reduce-scatter.
		{"ZeRO 3", Layout{DP: 2, PP: 1, ZeRO: 3}, 0, Link{}, Parts{Compute: 12, Data: 2 * (0.5 + 0.5 + 0.5), Update: 0.25}},
		{"pipeline", Layout{DP: 1, PP: 2}, 0, Link{}, Parts{Compute: 12, Bubble: 3, Update: 0.25}},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			c := c
			x.layout.TP, x.layout.MicroBatch, c.Cores, c.Within = 1, 2, x.cores, cmp.Or(x.link, c.Within)
			if x.layout.ZeRO == 0 {
				x.layout.MicroBatch = 1
			}
			batch := 4
			if x.layout.ZeRO >= 2 {
				x.layout.MicroBatch = 1
			}
			p, err := Predict(m, c, x.layout, batch)
			if err != nil {
				t.Fatal(err)
			}
			if !near(p.Parts.Compute, x.want.Compute, 1e-9) || math.Abs(p.Parts.Data-x.want.Data) > 1e-9 ||
				math.Abs(p.Parts.Bubble-x.want.Bubble) > 1e-9 || !near(p.Parts.Update, x.want.Update, 1e-9) {
				t.Errorf("%+v, want %+v", p.Parts, x.want)
			}
			total := x.want.Compute + x.want.Data + x.want.Bubble + x.want.Update
			if !near(p.Time, total, 1e-9) || !near(p.Rate, 4/total, 1e-9) || !near(p.Cost, total*float64(x.layout.GPUs()), 1e-9) {
				t.Errorf("time %g s, rate %g, cost %g, want %g s", p.Time, p.Rate, p.Cost, total)
			}
		})
	}
}

// TestTied predicts a model whose second block uses the parameters of the first. In a pipeline, both stages have them.
func TestTied(t *testing.T) {
	t.Parallel()
	block := Block{Parameters: 1e9, Forward: Work{Seconds: 1}, Backward: Work{Seconds: 2}}
	last := block
	last.Tied = 1e9
	m := Model{Blocks: []Block{block, last}, Precision: Precision{Weights: 4, Gradients: 4, Optimizer: 8}, Update: 0.5}
	c := Cluster{GPU: GPU{Memory: 1e12}, PerNode: 2, Nodes: 1, Within: Link{Bandwidth: 4e9}, Efficiency: Efficiency{Network: 1}}
	for pp, want := range map[int]struct{ data, update, memory float64 }{
		1: {0, 0.5, 16 * 2e9},
		2: {1, 0.5, 16 * 2e9}, // a ring of two: each sends 4e9 bytes in two halves
	} {
		p, err := Predict(m, c, Layout{DP: 1, TP: 1, PP: pp, MicroBatch: 1}, 4)
		if err != nil {
			t.Fatal(err)
		}
		if !near(p.Parts.Data, want.data, 1e-9) || !near(p.Parts.Update, want.update, 1e-9) || !near(p.Memory.Total(), want.memory, 1e-9) {
			t.Errorf("pp %d: data %g s, update %g s, %g bytes, want %+v", pp, p.Parts.Data, p.Parts.Update, p.Memory.Total(), want)
		}
	}
}

// TestFromProfile checks what a profile of two layers becomes.
func TestFromProfile(t *testing.T) {
	model := nn.Sequential(nn.Dense(32), nn.ReLU(), nn.Dense(10))
	x, y := tensor.Randn(tensor.NewGenerator(1), 16, 64), tensor.RandInt(tensor.NewGenerator(2), 0, 10, 16)
	model.Forward(x).Release()
	optimizer := optim.AdamW(model, 1e-3)
	report, err := prof.Run(t.Context(), func() error {
		optimizer.ZeroGrad()
		loss := nn.CrossEntropy(model.Forward(x), y)
		loss.Backward()
		optimizer.Step()
		return nil
	}, prof.Warmup(2), prof.Active(3))
	if err != nil {
		t.Fatal(err)
	}
	m, err := FromProfile(report, model, 16)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.Parameters(), float64(64*32+32+32*10+10); got != want {
		t.Errorf("%g parameters, want %g", got, want)
	}
	if m.Modules != 3 {
		t.Errorf("%d modules, want 3", m.Modules)
	}
	total := m.Update
	var names []string
	for _, b := range m.Blocks {
		total += 16 * (b.Forward.Seconds + b.Backward.Seconds)
		names = append(names, b.Name)
	}
	median := math.Inf(1)
	for _, s := range report.Steps { // of three
		longer := 0
		for _, o := range report.Steps {
			if o.End-o.Begin > s.End-s.Begin {
				longer++
			}
		}
		if longer == 1 {
			median = (s.End - s.Begin).Seconds()
		}
	}
	if !near(total, median, 1e-6) || m.Update <= 0 {
		t.Errorf("the blocks %q and the update (%g s) take %g s, the median step %g s", names, m.Update, total, median)
	}
	if _, err := Predict(m, Cluster{GPU: GPU{Memory: 1e9}, PerNode: 1, Nodes: 1}, Layout{DP: 1, TP: 1, PP: 1, MicroBatch: 16}, 16); err != nil {
		t.Error(err)
	}
	if _, err := FromProfile(nil, model, 16); err == nil {
		t.Error("no error without a profile")
	}
	if _, err := FromProfile(report, model, 0); err == nil {
		t.Error("no error without examples")
	}
	report.Host = append(report.Host, prof.HostEvent{Kind: prof.CommunicationWait, Name: "gradients"})
	if _, err := FromProfile(report, model, 16); err == nil || !strings.Contains(err.Error(), "exchange data with other ranks") {
		t.Errorf("the error of a profile with an exchange is %v", err)
	}
}

func TestMeasureLink(t *testing.T) {
	ranks, err := parallel.Local(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	links, errs := make([]Link, 2), make(chan error, 2)
	for r, g := range ranks {
		go func() {
			var err error
			links[r], err = MeasureLink(t.Context(), g)
			errs <- err
		}()
	}
	if err := errors.Join(<-errs, <-errs); err != nil {
		t.Fatal(err)
	}
	if links[0] != links[1] || !(links[0].Bandwidth > 0) || math.IsInf(links[0].Bandwidth, 0) {
		t.Errorf("the links are %+v", links)
	}
	if err := errors.Join(ranks[0].Close(), ranks[1].Close()); err != nil {
		t.Error(err)
	}
	one, err := parallel.Local(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer one[0].Close()
	if _, err := MeasureLink(t.Context(), one[0]); err == nil {
		t.Error("no error for one rank")
	}
}

// TestLinkOf inverts the times of sums.
func TestLinkOf(t *testing.T) {
	t.Parallel()
	want := Link{Bandwidth: 3e9, Latency: 2e-5, Copy: 2e-10}
	few, many := float64(linkBytes[0]), float64(linkBytes[1])
	for _, n := range []int{2, 3, 8} {
		of := func(l Link) group {
			return Cluster{PerNode: n, Nodes: 1, Within: l, Efficiency: Efficiency{Network: 1}}.group(n, 1)
		}
		sums := of(Link{Bandwidth: want.Bandwidth, Latency: want.Latency})
		got := linkOf(n, linkTimes{2 * sums.gather(few), 2 * sums.gather(many), of(want).allReduce(many)})
		if !near(got.Bandwidth, want.Bandwidth, 1e-6) || !near(got.Latency, want.Latency, 1e-6) || !near(got.Copy, want.Copy, 1e-6) {
			t.Errorf("%d ranks: %+v, want %+v", n, got, want)
		}
	}
}
