package plan

import "math"

// cost is the time of work in seconds.
type cost struct {
	compute float64 // matrix multiplications and measured work
	memory  float64 // ops that the memory's bandwidth limits
	tensor  float64 // collectives of tensor parallelism
	gather  float64 // exposed all-gathers and reduce-scatters of ZeRO 3
}

func (c cost) seconds() float64 { return c.compute + c.memory + c.tensor + c.gather }

func (c cost) plus(d cost) cost {
	return cost{c.compute + d.compute, c.memory + d.memory, c.tensor + d.tensor, c.gather + d.gather}
}

func (c cost) times(f float64) cost {
	return cost{f * c.compute, f * c.memory, f * c.tensor, f * c.gather}
}

// chunk is consecutive blocks of the model on one rank, with the costs for a micro-batch.
type chunk struct {
	blocks            []Block
	forward, backward cost
	gradients         []float64 // seconds from the beginning of the backward pass to the gradients of each block, in the order of the backward pass
	parameters        float64   // on this rank, divided by tensor parallelism
	kept              float64   // bytes of the activations of a micro-batch
	working           float64   // bytes that the backward pass of a block needs for a while
	largest           float64   // parameters of the largest block on this rank
}

// predictor knows what a prediction needs to look at blocks.
type predictor struct {
	Model
	Cluster
	Layout
	tensor, data group   // the ranks of the dimensions
	all          float64 // parameters of the model, each counted once
	slowdown     float64 // because ranks share cores
	tied         float64 // seconds of the sum of gradients of the first and the last stage
}

// divisor returns into how many parts tensor parallelism divides a block.
func (p predictor) divisor(b Block) float64 {
	if b.Divisible {
		return float64(p.TP)
	}
	return 1
}

// whole returns the divisor of what only sequence parallelism divides.
func (p predictor) whole(b Block) float64 {
	if p.SequenceParallel {
		return p.divisor(b)
	}
	return 1
}

// work returns the cost of work of a block for a micro-batch.
func (p predictor) work(b Block, w Work) cost {
	t, e := p.divisor(b), p.Efficiency
	examples := float64(p.MicroBatch) * p.slowdown
	c := cost{compute: examples * w.Seconds}
	if w.FLOPs > 0 {
		c.compute += examples * w.FLOPs / t / (p.GPU.FLOPs[p.Precision.Type] * e.Matmul)
	}
	if w.AttentionFLOPs > 0 {
		attention := p.Precision.Type
		if attention == Float8 {
			attention = BFloat16
		}
		c.compute += examples * w.AttentionFLOPs / t / (p.GPU.FLOPs[attention] * e.Attention)
	}
	if bytes := w.Bytes/t + w.WholeBytes/p.whole(b); bytes > 0 {
		c.memory = examples * bytes / (p.GPU.Bandwidth * e.Memory)
	}
	return c
}

// passes returns the costs of the forward and backward pass of a block for a micro-batch.
func (p predictor) passes(b Block) (forward, backward cost) {
	forward, backward = p.work(b, b.Forward), p.work(b, b.Backward)
	if b.Divisible && p.TP > 1 { // with sequence parallelism a reduce-scatter and an all-gather, which take as long
		reduced := p.slowdown * p.tensor.allReduce(float64(p.MicroBatch)*b.Reduced)
		forward.tensor, backward.tensor = reduced, reduced
	}
	switch p.Recompute {
	case RecomputeAttention:
		backward = backward.plus(p.work(b, b.Attention))
	case RecomputeBlocks:
		backward = backward.plus(forward)
	}
	return forward, backward
}

// kept returns the bytes of activations that a block keeps for each example, and those that its backward pass needs.
func (p predictor) kept(b Block) (kept, working float64) {
	t, whole := p.divisor(b), p.whole(b)
	all := (b.Kept.Divided+b.Kept.Attention)/t + b.Kept.Whole/whole
	switch p.Recompute {
	case RecomputeAttention:
		return all - b.Kept.Attention/t, b.Kept.Attention / t
	case RecomputeBlocks:
		return b.Output / whole, all
	}
	return all, 0
}

// chunk returns the costs of consecutive blocks.
func (p predictor) chunk(blocks []Block) chunk {
	c := chunk{blocks: blocks}
	forwards, backwards := make([]cost, len(blocks)), make([]cost, len(blocks))
	for i, b := range blocks {
		parameters := b.Parameters / p.divisor(b)
		c.parameters += parameters
		c.largest = max(c.largest, parameters)
		kept, working := p.kept(b)
		c.kept += float64(p.MicroBatch) * kept
		c.working = max(c.working, float64(p.MicroBatch)*working)
		forwards[i], backwards[i] = p.passes(b)
		c.forward = c.forward.plus(forwards[i])
	}
	if p.ZeRO == 3 && p.DP > 1 {
		c.forward.gather = p.sharded(blocks, forwards, false) - c.forward.seconds()
	}
	passed := 0.0
	for i := len(blocks) - 1; i >= 0; i-- {
		c.backward = c.backward.plus(backwards[i])
		passed += backwards[i].seconds()
		c.gradients = append(c.gradients, passed)
	}
	if p.ZeRO >= 2 && p.DP > 1 {
		c.backward.gather = p.sharded(blocks, backwards, true) - c.backward.seconds()
	}
	return c
}

// sharded returns the time of a pass in which ranks of data parallelism share what they exchange in each micro-batch. With ZeRO 3 the
// parameters of each block are gathered while the block before it computes. After the backward pass of a block its gradients are
// reduced and scattered, with ZeRO 2 as well.
func (p predictor) sharded(blocks []Block, costs []cost, backward bool) float64 {
	exchange := func(b Block, bytes float64) float64 {
		return p.slowdown * p.data.gather(bytes*b.Parameters/p.divisor(b))
	}
	weights, gradients := p.Precision.Weights, p.Precision.Gradients
	if p.ZeRO < 3 {
		weights = 0
	}
	if !backward {
		gradients = 0
	}
	order := make([]int, len(blocks))
	for k := range order {
		if order[k] = k; backward {
			order[k] = len(blocks) - 1 - k
		}
	}
	device, network := 0.0, 0.0 // when they are free
	gathered := exchange(blocks[order[0]], weights)
	network = gathered
	for k, i := range order {
		begin := max(device, gathered)
		if k+1 < len(order) {
			network = max(network, begin) + exchange(blocks[order[k+1]], weights)
			gathered = network
		}
		device = begin + costs[i].seconds()
		if p.Sequential {
			device = max(device, network+costs[i].seconds())
		}
		network = max(network, device) + exchange(blocks[i], gradients)
		if p.Sequential {
			device = network
		}
	}
	return max(device, network)
}

// divide returns the blocks in n consecutive parts whose squared times have the least sum, so that they are as equal
// as possible.
func (p predictor) divide(n int) [][]Block {
	times := make([]float64, len(p.Blocks)+1) // before each block
	for i, b := range p.Blocks {
		forward, backward := p.passes(b)
		times[i+1] = times[i] + forward.seconds() + backward.seconds()
	}
	// least[k][i] is that of the first i blocks in k parts, the last of which begins with block first[k][i]. The best beginning grows
	// with the number of blocks and of parts, which limits the search (Knuth, Optimum binary search trees, 1971).
	all := len(p.Blocks)
	least, first := make([][]float64, n+1), make([][]int, n+1)
	for k := range least {
		least[k], first[k] = make([]float64, all+1), make([]int, all+2)
		first[k][all+1] = all - 1
		for i := all; i >= 0; i-- {
			if least[k][i] = math.Inf(1); k == 0 && i == 0 {
				least[k][i] = 0
			}
			if k == 0 {
				continue
			}
			first[k][i] = max(k-1, first[k-1][i])
			for j := first[k][i]; j <= min(i-1, first[k][i+1]); j++ {
				if part := times[i] - times[j]; least[k-1][j]+part*part < least[k][i] {
					least[k][i], first[k][i] = least[k-1][j]+part*part, j
				}
			}
		}
	}
	parts := make([][]Block, n)
	for k, end := n, len(p.Blocks); k > 0; k-- {
		begin := first[k][end]
		parts[k-1] = p.Blocks[begin:end]
		end = begin
	}
	return parts
}
