package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Prediction is the predicted step of a layout.
type Prediction struct {
	Layout Layout  // that was predicted
	Time   float64 // of a step, in seconds
	Parts  Parts   // that add up to Time
	Memory Memory  // of the rank that needs most
	Fits   bool    // the memory of each GPU is sufficient
	// Rate is the number of examples per second.
	Rate float64
	// FLOPs is the number of model FLOPs per second and GPU ([Model.FLOPs]).
	FLOPs float64
	// MFU is the model FLOPs utilization: FLOPs as a share of the GPU's peak; 0 if the peak is unknown.
	MFU float64
	// Cost is the price of a step; 0 if the cluster has no price.
	Cost float64
}

// Parts are times in seconds, of the rank that works longest.
type Parts struct {
	Compute float64 // matrix multiplications, or measured work
	Memory  float64 // other ops, which are limited by the bandwidth of the memory
	Tensor  float64 // collectives of tensor parallelism
	Data    float64 // exchange of gradients and parameters that does not overlap with computation
	Bubble  float64 // waiting for other ranks of the pipeline, and for messages to them
	Update  float64 // of the parameters
}

// Memory is bytes on one GPU.
type Memory struct {
	Parameters  float64 // of the model
	Gradients   float64 // of the parameters
	Optimizer   float64 // state of the optimizer
	Activations float64 // also those that are needed for a while
	Reserved    float64 // of the cluster
}

// Total returns the sum.
func (m Memory) Total() float64 {
	return m.Parameters + m.Gradients + m.Optimizer + m.Activations + m.Reserved
}

// Predict simulates a step with a batch of all GPUs together. It returns a [*LayoutError] if the layout does not fit model, cluster
// or batch; a layout that needs too much memory is predicted, and not Fits.
func Predict(m Model, c Cluster, l Layout, batch int) (Prediction, error) {
	if err := checkInputs(m, c); err != nil {
		return Prediction{}, err
	}
	if reason := l.check(m, c, batch); reason != "" {
		return Prediction{}, &LayoutError{l, reason}
	}
	p := newPredictor(m, c, l)
	pipe, chunks := p.pipeline(batch)
	s, err := pipe.run()
	if err != nil {
		return Prediction{}, err
	}
	result := Prediction{Layout: l, Memory: p.memory(pipe, chunks, s)}
	result.Fits = result.Memory.Total() <= c.GPU.Memory
	result.Parts = p.parts(pipe, chunks, s)
	parts := result.Parts
	result.Time = parts.Compute + parts.Memory + parts.Tensor + parts.Data + parts.Bubble + parts.Update
	result.Rate = float64(batch) / result.Time
	result.FLOPs = result.Rate * m.FLOPs() / float64(l.GPUs())
	if peak := c.GPU.FLOPs[m.Precision.Type]; peak > 0 {
		result.MFU = result.FLOPs / peak
	}
	result.Cost = result.Time / 3600 * c.Price * float64(l.GPUs())
	return result, nil
}

// checkInputs returns an error for quantities that are missing.
func checkInputs(m Model, c Cluster) error {
	if m.wrong != "" {
		return fmt.Errorf("plan: the Transformer: %s", m.wrong)
	}
	var needs Work
	for _, b := range m.Blocks {
		needs = needs.plus(b.Forward).plus(b.Backward)
	}
	e := c.Efficiency
	for _, q := range []struct {
		name   string
		value  float64
		needed bool
	}{
		{"GPU.FLOPs of " + m.Precision.Type, c.GPU.FLOPs[m.Precision.Type], needs.FLOPs > 0},
		{"GPU.FLOPs of " + BFloat16, c.GPU.FLOPs[BFloat16], needs.AttentionFLOPs > 0 && m.Precision.Type == Float8},
		{"GPU.Bandwidth", c.GPU.Bandwidth, needs.Bytes+needs.WholeBytes > 0},
		{"GPU.Memory", c.GPU.Memory, true},
		{"Efficiency.Matmul", e.Matmul, needs.FLOPs > 0},
		{"Efficiency.Attention", e.Attention, needs.AttentionFLOPs > 0},
		{"Efficiency.Memory", e.Memory, needs.Bytes+needs.WholeBytes > 0},
		{"Efficiency.Network", e.Network, c.GPUs() > 1},
		{"Within.Bandwidth", c.Within.Bandwidth, c.PerNode > 1},
		{"Between.Bandwidth", c.Between.Bandwidth, c.Nodes > 1},
	} {
		if q.needed && !(q.value > 0) {
			return fmt.Errorf("plan: the cluster's %s must be positive, it is %g", q.name, q.value)
		}
	}
	for _, q := range []struct {
		name  string
		value float64
	}{{"Matmul", e.Matmul}, {"Attention", e.Attention}, {"Memory", e.Memory}, {"Network", e.Network}} {
		if q.value > 1 {
			return fmt.Errorf("plan: the cluster's Efficiency.%s is a part of the peak, at most 1, it is %g", q.name, q.value)
		}
	}
	switch {
	case !(c.Price >= 0) || math.IsInf(c.Price, 0):
		return fmt.Errorf("plan: the cluster's Price must not be negative, it is %g", c.Price)
	case !(c.Reserved >= 0):
		return fmt.Errorf("plan: the cluster's Reserved memory must not be negative, it is %g", c.Reserved)
	case len(m.Blocks) == 0:
		return fmt.Errorf("plan: the model has no blocks")
	case c.GPUs() < 1:
		return fmt.Errorf("plan: the cluster has %d nodes with %d GPUs each: both must be at least 1", c.Nodes, c.PerNode)
	}
	return nil
}

func newPredictor(m Model, c Cluster, l Layout) predictor {
	p := predictor{Model: m, Cluster: c, Layout: l, all: m.Parameters(), slowdown: 1}
	if last := len(m.Blocks) - 1; l.PP > 1 && m.Blocks[last].Tied > 0 {
		p.Blocks = slices.Clone(m.Blocks)
		p.Blocks[last].Parameters += m.Blocks[last].Tied
		bytes := m.Precision.Gradients * m.Blocks[last].Tied / p.divisor(m.Blocks[last])
		p.tied = 2 * p.send(bytes/2, l.TP*l.DP*(l.PP-1)) // a ring of two
	}
	// As in Megatron-LM, tensor parallelism is between neighbors, and the ranks of a pipeline are farthest.
	p.tensor, p.data = c.group(l.TP, 1), c.group(l.DP, l.TP)
	if c.Cores > 0 {
		p.slowdown = max(1, float64(l.GPUs())/float64(c.Cores))
	}
	return p
}

// pipeline returns the pipeline of one group of ranks, with its chunks.
func (p predictor) pipeline(batch int) (pipeline, []chunk) {
	pipe := pipeline{ranks: p.PP, chunks: max(1, p.Chunks), micros: batch / (p.DP * p.MicroBatch)}
	var chunks []chunk
	message := 0.0
	for _, blocks := range p.divide(pipe.ranks * pipe.chunks) {
		c := p.chunk(blocks)
		chunks = append(chunks, c)
		pipe.forward, pipe.backward = append(pipe.forward, c.forward.seconds()), append(pipe.backward, c.backward.seconds())
		message = max(message, blocks[len(blocks)-1].Output)
	}
	// Each rank of tensor parallelism sends its part, which the others of the next stage gather.
	message *= float64(p.MicroBatch)
	pipe.send = p.slowdown * (p.send(message/float64(p.TP), p.TP*p.DP) + p.tensor.gather(message))
	return pipe, chunks
}

// parts returns the times of the rank that works longest. The step ends when all ranks have updated their
// parameters.
func (p predictor) parts(pipe pipeline, chunks []chunk, s schedule) (longest Parts) {
	end, work := 0.0, -1.0
	for r := range pipe.ranks {
		var parts Parts
		parameters := 0.0
		for k := r; k < len(chunks); k += pipe.ranks {
			c := chunks[k].forward.plus(chunks[k].backward).times(float64(pipe.micros))
			parts.Compute += c.compute
			parts.Memory += c.memory
			parts.Tensor += c.tensor
			parts.Data += c.gather
			parameters += chunks[k].parameters
		}
		exposed := p.exchange(pipe, chunks, s, r)
		if r == 0 || r == pipe.ranks-1 {
			exposed += p.slowdown * p.tied
		}
		parts.Update = p.update(parameters)
		parts.Data += exposed + p.slowdown*p.gatherUpdated(parameters)
		busy := parts.Compute + parts.Memory + parts.Tensor + parts.Data + parts.Update
		end = max(end, pipe.ended(s, r)+exposed+p.slowdown*p.gatherUpdated(parameters)+parts.Update)
		if busy > work {
			longest, work = parts, busy
		}
	}
	longest.Bubble = max(0, end-work) // less than 0 by rounding
	return longest
}

// exchange returns how long after the last backward pass the gradients of a rank are reduced.
func (p predictor) exchange(pipe pipeline, chunks []chunk, s schedule, rank int) float64 {
	if p.DP == 1 || p.ZeRO >= 2 {
		return 0
	}
	type ready struct{ at, bytes float64 }
	var all []ready
	seen := make([]bool, pipe.chunks)
	for i := len(s.orders[rank]) - 1; slices.Contains(seen, false); i-- { // the last backward pass of each chunk
		t := s.orders[rank][i]
		if !t.backward || seen[t.chunk] {
			continue
		}
		seen[t.chunk] = true
		c := chunks[t.chunk*pipe.ranks+rank]
		for k, at := range c.gradients {
			b := c.blocks[len(c.blocks)-1-k]
			bytes := p.Precision.Gradients * b.Parameters / p.divisor(b)
			all = append(all, ready{s.begin[rank][i] + s.more + at, bytes})
		}
	}
	slices.SortStableFunc(all, func(a, b ready) int { return cmp.Compare(a.at, b.at) })
	ended, network := pipe.ended(s, rank), 0.0
	if p.Sequential {
		whole := ready{at: ended}
		for _, g := range all {
			whole.bytes += g.bytes
		}
		all = []ready{whole}
	}
	for _, g := range all {
		seconds := p.data.allReduce(g.bytes)
		if p.ZeRO > 0 {
			seconds = p.data.gather(g.bytes)
		}
		network = max(network, g.at) + p.slowdown*seconds
	}
	return max(0, network-ended)
}

// gatherUpdated returns the time in which the ranks get the parameters that others have updated.
func (p predictor) gatherUpdated(parameters float64) float64 {
	if p.ZeRO == 1 || p.ZeRO == 2 {
		return p.data.gather(p.Precision.Weights * parameters)
	}
	return 0
}

// update returns the time of the optimizer, which reads gradients and state and writes state and weights.
func (p predictor) update(parameters float64) float64 {
	if p.ZeRO > 0 {
		parameters /= float64(p.DP)
	}
	if p.Model.Update > 0 {
		return p.slowdown * p.Model.Update * parameters / p.all
	}
	if !(p.GPU.Bandwidth > 0 && p.Efficiency.Memory > 0) {
		return 0
	}
	precision := p.Precision
	return p.slowdown * parameters * (2*precision.Optimizer + precision.Gradients + precision.Weights) / (p.GPU.Bandwidth * p.Efficiency.Memory)
}

// memory returns that of the rank that needs most.
func (p predictor) memory(pipe pipeline, chunks []chunk, s schedule) (most Memory) {
	share := func(stage int) float64 { // of what is divided from this stage of ZeRO on
		if p.ZeRO >= stage {
			return 1 / float64(p.DP)
		}
		return 1
	}
	for r := range pipe.ranks {
		m := Memory{Reserved: p.Reserved}
		working := 0.0
		for k := r; k < len(chunks); k += pipe.ranks {
			c := chunks[k]
			m.Optimizer += p.Precision.Optimizer * c.parameters * share(1)
			m.Gradients += p.Precision.Gradients * c.parameters * share(2)
			m.Parameters += p.Precision.Weights * c.parameters * share(3)
			working = max(working, c.working)
			if p.ZeRO == 3 && p.DP > 1 { // two blocks are gathered, and the gradients of one
				working = max(working, c.working+(2*p.Precision.Weights+p.Precision.Gradients)*c.largest)
			}
		}
		live, peak := 0.0, 0.0
		for _, t := range s.orders[r] {
			kept := chunks[t.chunk*pipe.ranks+r].kept
			if t.backward {
				kept = -kept
			}
			live += kept
			peak = max(peak, live)
		}
		m.Activations = peak + working
		if m.Total() > most.Total() {
			most = m
		}
	}
	return most
}
