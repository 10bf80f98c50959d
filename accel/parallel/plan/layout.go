package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quernlab/quern/internal/quantity"
)

// Recompute is which activations a rank computes again in the backward pass instead of keeping them.
type Recompute int

// What is recomputed.
const (
	RecomputeNothing   Recompute = iota
	RecomputeAttention           // the scores of unfused attention
	RecomputeBlocks              // everything but the input of each block
)

// String returns the part of the model.
func (r Recompute) String() string {
	return [...]string{"nothing", "attention", "blocks"}[r]
}

// Layout is how a model is distributed over GPUs.
type Layout struct {
	DP, TP, PP int // sizes of the mesh: data, tensor and pipeline parallelism
	// Chunks of the model on each rank of the pipeline; 0 for 1. More chunks make the bubble smaller.
	Chunks int
	// ZeRO is what the ranks of data parallelism share: 1 the optimizer state, 2 also gradients, 3 also
	// parameters; 0 for nothing.
	ZeRO int
	// MicroBatch is the number of examples in a forward pass.
	MicroBatch int
	// Recompute is what the backward pass computes again.
	Recompute Recompute
	// SequenceParallel divides norms, residual additions and their activations along the sequence, over the ranks of tensor
	// parallelism (Korthikanti et al., 2022).
	SequenceParallel bool
	// Sequential exchanges gradients after the backward pass, all at once, not while it runs.
	Sequential bool
}

// GPUs returns the number of GPUs.
func (l Layout) GPUs() int { return l.DP * l.TP * l.PP }

// String returns the sizes that are not 1.
func (l Layout) String() string {
	var parts []string
	for _, size := range []struct {
		name string
		n    int
	}{{"dp", l.DP}, {"tp", l.TP}, {"pp", l.PP}} {
		if size.n > 1 {
			parts = append(parts, fmt.Sprintf("%s %d", size.name, size.n))
		}
	}
	if len(parts) == 0 {
		return "one GPU"
	}
	if l.Chunks > 1 {
		parts[len(parts)-1] += fmt.Sprintf("×%d", l.Chunks)
	}
	return strings.Join(parts, ", ")
}

// LayoutError says why a layout is impossible for a model, a cluster or a batch.
type LayoutError struct {
	Layout Layout // that is impossible
	Reason string // with what to change
}

// Error names the mesh.
func (e *LayoutError) Error() string {
	return fmt.Sprintf("plan: mesh dp %d, tp %d, pp %d: %s", e.Layout.DP, e.Layout.TP, e.Layout.PP, e.Reason)
}

// check returns what is wrong with a layout, or an empty text.
func (l Layout) check(m Model, c Cluster, batch int) string {
	divisible := slices.ContainsFunc(m.Blocks, func(b Block) bool { return b.Divisible })
	chunks := l.PP * max(1, l.Chunks)
	switch {
	case l.DP < 1 || l.TP < 1 || l.PP < 1 || l.MicroBatch < 1:
		return "the sizes and the micro-batch must be at least 1"
	case l.Chunks < 0:
		return fmt.Sprintf("Chunks %d: the number of chunks of each rank must be at least 1, or 0 for 1", l.Chunks)
	case l.ZeRO < 0 || l.ZeRO > 3:
		return fmt.Sprintf("ZeRO %d: the stages are 0 to 3", l.ZeRO)
	case l.Recompute < RecomputeNothing || l.Recompute > RecomputeBlocks:
		return fmt.Sprintf("Recompute(%d) is unknown", int(l.Recompute))
	case l.GPUs() > c.GPUs():
		return fmt.Sprintf("it needs %d GPUs and the cluster has %d", l.GPUs(), c.GPUs())
	case l.TP > 1 && !divisible:
		return "tensor parallelism cannot divide any block of the model"
	case m.Heads > 0 && m.Heads%l.TP != 0:
		return fmt.Sprintf("tensor parallelism cannot divide %d heads", m.Heads)
	case chunks > len(m.Blocks):
		return fmt.Sprintf("a pipeline of %d parts is longer than the %d blocks of the model", chunks, len(m.Blocks))
	case m.Modules > 0 && l.PP > m.Modules:
		return fmt.Sprintf("a pipeline of %d stages is longer than the %s into which parallel.Distribute can divide the model: those of an nn.Sequential", l.PP, quantity.Plural(m.Modules, "module"))
	case m.Modules > 0 && l.Chunks > 1:
		return "parallel.Distribute gives each rank one chunk of the model"
	case batch >= 1 && batch%l.DP != 0:
		return fmt.Sprintf("a batch of %d examples cannot be divided among %d replicas: use a multiple of %d", batch, l.DP, l.DP)
	case batch < 1 || batch%(l.DP*l.MicroBatch) != 0:
		return fmt.Sprintf("a batch of %d examples cannot be divided into micro-batches of %d on %d ranks", batch, l.MicroBatch, l.DP)
	case l.Chunks > 1 && l.PP == 1:
		return "several chunks need a pipeline"
	case l.Chunks > 1 && batch/(l.DP*l.MicroBatch)%l.PP != 0:
		return fmt.Sprintf("with several chunks, the number of micro-batches (%d) must be a multiple of pp", batch/(l.DP*l.MicroBatch))
	}
	return ""
}
