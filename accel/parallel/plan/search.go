package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/internal/quantity"
)

// Option changes what [Search] looks for.
type Option struct{ setting }

type setting = option.Of[settings]

type settings struct {
	gpus     []int
	examples float64
}

// GPUs sets the numbers of GPUs for which Search finds a mesh. The default is 8, 16, 32 and so on up to those of the
// cluster.
func GPUs(numbers ...int) Option {
	o := option.New(func(s *settings) { s.gpus = numbers }, "GPUs", option.Each(numbers)...)
	return Option{o.Require(len(numbers) > 0 && slices.Min(numbers) > 0, "the numbers must be at least 1")}
}

// Examples sets the number of examples of the whole training, for its time and cost.
func Examples(n float64) Option {
	return Option{option.New(func(s *settings) { s.examples = n }, "Examples", n).Require(n > 0, "the number must be positive")}
}

// Plan is what [Search] found. A notebook displays its report.
type Plan struct {
	Model    Model   // that was planned
	Cluster  Cluster // that was described
	Batch    int     // examples of a step, of all GPUs together
	Examples float64 // of the whole training; 0 if unknown
	// Best is the fastest layout that fits for each number of GPUs.
	Best []Prediction
	// Meshes is the fastest layout of each mesh on the largest number of GPUs, the fastest first, also those that do not fit.
	Meshes []Prediction
	// Remarks say which sizes of the mesh are impossible on the largest number of GPUs and why, and for which numbers of GPUs nothing fits.
	Remarks []string
}

// Search predicts the layouts of a model on a cluster, with a batch of examples of all GPUs together, and returns the
// fastest for each number of GPUs. It varies the mesh, the stage of ZeRO, the micro-batch, the chunks of the pipeline and recomputation;
// tensor parallelism stays within a node. It returns an error if no layout fits into the memory.
func Search(m Model, c Cluster, batch int, options ...Option) (*Plan, error) {
	var s settings
	if err := option.Apply("plan.Search", &s, options, "GPUs", "Examples"); err != nil {
		return nil, err
	}
	if err := checkInputs(m, c); err != nil {
		return nil, err
	}
	if batch < 1 {
		return nil, fmt.Errorf("plan: the batch has %d examples: it needs at least 1", batch)
	}
	if s.gpus == nil {
		for n := min(8, c.GPUs()); n <= c.GPUs(); n *= 2 {
			s.gpus = append(s.gpus, n)
		}
	}
	slices.Sort(s.gpus)
	if most := s.gpus[len(s.gpus)-1]; most > c.GPUs() {
		return nil, fmt.Errorf("plan: GPUs(%d): the cluster has %d", most, c.GPUs())
	}
	p := &Plan{Model: m, Cluster: c, Batch: batch, Examples: s.examples}
	for _, n := range slices.Compact(s.gpus) {
		meshes, err := p.meshes(n)
		if err != nil {
			return nil, err
		}
		if p.Meshes = meshes; len(meshes) > 0 && meshes[0].Fits {
			p.Best = append(p.Best, meshes[0])
		} else {
			p.Remarks = append(p.Remarks, fmt.Sprintf("On %s nothing fits: the memory is too small, or no mesh divides the batch and the model.", quantity.Plural(n, "GPU")))
		}
	}
	p.Remarks = append(p.Remarks, p.impossible(s.gpus[len(s.gpus)-1])...)
	if len(p.Best) > 0 {
		return p, nil
	}
	if len(p.Meshes) == 0 {
		return nil, fmt.Errorf("plan: no mesh of %v GPUs divides a batch of %d examples and the %d blocks of the model", s.gpus, batch, len(m.Blocks))
	}
	least := slices.MinFunc(p.Meshes, func(a, b Prediction) int { return cmp.Compare(a.Memory.Total(), b.Memory.Total()) })
	return nil, fmt.Errorf("plan: the model does not fit: on %v GPUs it needs at least %s of each (%s), which has %s: use more GPUs, or a smaller precision or sequence",
		s.gpus, size(least.Memory.Total()), least.Layout, size(c.GPU.Memory))
}

// meshes returns the fastest layout of each mesh of n GPUs, those that fit first.
func (p *Plan) meshes(n int) (found []Prediction, err error) {
	for _, tp := range divisors(n) {
		for _, pp := range divisors(n / tp) {
			if tp > p.Cluster.PerNode {
				continue
			}
			best, err := p.fastest(Layout{DP: n / tp / pp, TP: tp, PP: pp, SequenceParallel: tp > 1 && p.Model.Tokens > 0})
			if err != nil {
				return nil, err
			}
			if best != nil {
				found = append(found, *best)
			}
		}
	}
	slices.SortStableFunc(found, better)
	return found, nil
}

// impossible says which sizes no mesh of n GPUs can have.
func (p *Plan) impossible(n int) (remarks []string) {
	m := p.Model
	for _, d := range []struct {
		name, reason string
		possible     func(size int) bool
	}{
		{"dp", fmt.Sprintf("it must divide the batch of %s", quantity.Plural(p.Batch, "example")), func(size int) bool { return p.Batch%size == 0 }},
		{"tp", fmt.Sprintf("it must divide the %d heads", m.Heads), func(size int) bool { return size > p.Cluster.PerNode || m.Heads == 0 || m.Heads%size == 0 }},
		{"pp", fmt.Sprintf("the model has %s", quantity.Plural(len(m.Blocks), "block")), func(size int) bool { return size <= len(m.Blocks) }},
		{"pp", fmt.Sprintf("parallel.Distribute can divide the model into %s, those of an nn.Sequential", quantity.Plural(m.Modules, "module")), func(size int) bool { return m.Modules == 0 || size > len(m.Blocks) || size <= m.Modules }},
	} {
		var sizes []string
		for _, size := range divisors(n) {
			if !d.possible(size) {
				sizes = append(sizes, quantity.Integer(size))
			}
		}
		if len(sizes) > 0 {
			remarks = append(remarks, fmt.Sprintf("On %s GPUs, %s cannot be %s: %s.", quantity.Integer(n), d.name, strings.Join(sizes, ", "), d.reason))
		}
	}
	return remarks
}

// better orders predictions: those that fit by their times, then the others by their memory.
func better(a, b Prediction) int {
	switch {
	case a.Fits != b.Fits && a.Fits:
		return -1
	case a.Fits != b.Fits:
		return 1
	case a.Fits:
		return cmp.Compare(a.Time, b.Time)
	}
	return cmp.Compare(a.Memory.Total(), b.Memory.Total())
}

// maxMicroBatch is the largest that is tried: larger ones need more memory and hardly run faster.
const maxMicroBatch = 64

// fastest returns the best layout of a mesh, or nil if the batch or the model cannot be divided.
func (p *Plan) fastest(mesh Layout) (best *Prediction, err error) {
	for micro := 1; micro <= maxMicroBatch; micro *= 2 {
		for chunks := 1; chunks <= 8; chunks *= 2 {
			for recompute := RecomputeNothing; recompute <= RecomputeBlocks; recompute++ {
				l := mesh
				l.MicroBatch, l.Recompute = micro, recompute
				if l.Chunks = chunks; recompute == RecomputeAttention && !p.keepsAttention() || l.check(p.Model, p.Cluster, p.Batch) != "" {
					continue
				}
				if best != nil && best.Fits && p.least(l) >= best.Time {
					continue
				}
				found, err := p.stage(l)
				if err != nil {
					return nil, err
				}
				if best == nil || better(found, *best) < 0 {
					best = &found
				}
			}
		}
	}
	return best, nil
}

// least returns a lower bound of the time of a layout: without waiting, on ranks with equal work.
func (p *Plan) least(l Layout) float64 {
	predictor, total := newPredictor(p.Model, p.Cluster, l), 0.0
	for _, b := range p.Model.Blocks {
		forward, backward := predictor.passes(b)
		total += forward.seconds() + backward.seconds()
	}
	return total / float64(l.PP) * float64(p.Batch/(l.DP*l.MicroBatch))
}

// stage returns the prediction with the first stage of ZeRO that fits, which exchanges least, or with the last one.
func (p *Plan) stage(l Layout) (found Prediction, err error) {
	for stage := range 4 {
		if stage > 0 && l.DP == 1 {
			break
		}
		l.ZeRO = stage
		if stage < 3 && l.DP > 1 && p.states(l) > p.Cluster.GPU.Memory {
			continue
		}
		if found, err = Predict(p.Model, p.Cluster, l, p.Batch); err != nil || found.Fits {
			break
		}
	}
	return found, err
}

// states returns a lower bound of the memory of a layout: that of parameters, gradients and optimizer, if they are divided
// equally.
func (p *Plan) states(l Layout) float64 {
	each := p.Model.Parameters() / float64(l.TP*l.PP)
	precision, dp := p.Model.Precision, float64(l.DP)
	switch l.ZeRO {
	case 0:
		return each * (precision.Weights + precision.Gradients + precision.Optimizer)
	case 1:
		return each * (precision.Weights + precision.Gradients + precision.Optimizer/dp)
	}
	return each * (precision.Weights + (precision.Gradients+precision.Optimizer)/dp)
}

func (p *Plan) keepsAttention() bool {
	return slices.ContainsFunc(p.Model.Blocks, func(b Block) bool { return b.Kept.Attention > 0 })
}

// divisors returns the divisors of n in ascending order.
func divisors(n int) (all []int) {
	for d := 1; d <= n; d++ {
		if n%d == 0 {
			all = append(all, d)
		}
	}
	return all
}

func size(n float64) string {
	if n > math.MaxInt64/2 {
		return "too much"
	}
	return quantity.Bytes(int(n))
}
