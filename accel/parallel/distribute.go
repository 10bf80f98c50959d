package parallel

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"path"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// ZeRO sets what the ranks along DP divide among themselves instead of keeping it on each
// (Rajbhandari et al., 2020; PyTorch's FSDP):
//
//	1  the state of the optimizer, such as the running means of AdamW; the default
//	2  also the gradients, each of which is summed and divided as soon as it is complete
//	3  also the parameters: those of a layer are gathered before its forward and its backward pass,
//	   and dropped afterwards. The backward pass computes the layer's activations again
//
// Stage 3 gathers the modules of an nn.Sequential one by one, and another model as a whole.
func ZeRO(stage int) Option {
	return Option{option.New(func(s *settings) { s.zero = stage }, "ZeRO", stage).Require(stage >= 1 && stage <= 3, "the stage must be 1, 2 or 3")}
}

// DistributedModel is a model that the ranks of a mesh share; [Distribute] returns it. It is an
// nn.Module whose parameters, for an optimizer, are this rank's parts of those of the model.
type DistributedModel struct {
	// Parts are the parameters that this rank updates, by the names of the whole parameters. Those
	// of ZeRO are vectors of some of the elements.
	Parts map[string]*tensor.Tensor `nn:""`

	work any // *distribution; nn does not look for parameters in it
}

// distribution is the state of a DistributedModel.
type distribution struct {
	ctx   context.Context // of the running Backward; in Forward one that does not end
	mesh  *DeviceMesh
	model nn.Module

	zero         int
	splits       []splitting
	vocabulary   *vocabulary // that the ranks along TP divide; nil for none
	microBatches int
	stages       []int // first module of each stage but the first; nil to balance them

	layers []nn.Module // of this rank's stage, if the model is a Sequential, else the model
	stage  nn.Module   // the same as one module
	parts  []*part     // of all parameters of the model, in order
	local  []*part     // of this rank's stage
	shared *unit       // what the ranks along DP divide and gather at once; nil without such ranks
	units  []*unit     // of ZeRO 3: what they gather layer by layer; nil without
	steps  int         // calls of Backward so far
	stale  bool        // the optimizer may have updated the parts since they were gathered
	whole  bool        // the model has all of its parameters, as after Gather

	agreed    bool    // all ranks know the error of Backward, and have not exchanged anything else
	gradients bool    // any rank has computed a gradient in the newest backward pass
	factor    float64 // by which the gradients of the newest backward pass are multiplied

	reducing *shardBucket // whose gradients the devices sum meanwhile; nil for none
}

// part describes a tensor of the model, and what this rank has of it.
type part struct {
	name    string
	trained bool           // a parameter, which the ranks along DP may divide
	whole   []int          // shape of the whole parameter
	dtype   tensor.DType   // of its elements
	stages  []int          // of the pipeline that use it, in order
	cut     *cut           // of tensor parallelism; nil if each of its ranks has the whole parameter
	tensor  *tensor.Tensor // in the model: whole, or this rank's cut
	shard   *tensor.Tensor // what the optimizer updates; nil if this rank has none
	from    int            // of the elements of tensor
	to      int            // the same; from if this rank has none
}

// mine returns what this rank has of the parameter.
func (p *part) mine() *tensor.Tensor {
	if p.trained {
		return p.shard
	}
	return p.tensor
}

// sharded reports whether the ranks along DP divide the parameter.
func (p *part) sharded() bool { return p.shard != p.tensor }

// Distribute divides a model, which must have its parameters, among the ranks of a mesh. All ranks
// call it with a model of the same layers; they get the weights and random numbers of rank 0.
// Afterwards only the DistributedModel must be used, also with nn.Train and nn.Eval. The parameters of the model
// that are on other ranks are NaN here, and need no memory.
//
//	mesh, err := parallel.Mesh(ctx, group, 2, 2, 1)
//	…
//	shared, err := parallel.Distribute(ctx, mesh, model, parallel.ZeRO(2),
//		parallel.SplitHeads("*.attention"), parallel.Split("*.up", "*.down"))
//	…
//	opt := optim.AdamW(shared, 1e-3, optim.ClipGradNorm(1))
//	for batches.Next() { // of data.Shard(mesh.DP.Rank(), mesh.DP.Size())
//		b := batches.Batch()
//		opt.ZeroGrad()
//		loss, err := shared.Backward(ctx, b.X, b.Y, nn.CrossEntropy, b.Share())
//		…
//		opt.Step()
//	}
//
// Up to rounding the result is that of one process with the whole batches, without layers such as nn.Dropout, which draw other
// random numbers, and nn.BatchNorm, which normalizes the examples of a replica and micro-batch on their own. Several calls of Backward
// before a Step accumulate gradients. A parameter that several stages of a pipeline use, as with nn.TiedDense, is on each of them,
// and its gradients are summed. Options are [ZeRO], [Split], [SplitHeads],
// [SplitVocabulary] and [MicroBatches].
//
// ZeRO 2 and 3 and tensor parallelism need ranks in processes of their own. If a rank dies, the
// others fail with a [*LostError] that names it, after the number of the step. Arguments, options or models that are invalid or
// differ are an error on all ranks, after which the mesh can be used for the corrected call, but a model that ranks have begun to
// divide cannot: make a new one.
func Distribute(ctx context.Context, mesh *DeviceMesh, model nn.Module, options ...Option) (*DistributedModel, error) {
	if err := interrupt.RequireContext(ctx, "parallel: Distribute"); err != nil {
		return nil, err
	}
	if mesh == nil {
		return nil, errors.New("parallel: Distribute: the mesh is nil: check the error of parallel.Mesh")
	}
	d := &distribution{ctx: context.WithoutCancel(ctx), mesh: mesh, model: model, zero: 1, microBatches: 1, factor: 1}
	err := option.Apply("parallel.Distribute", &settings{distribution: d}, options, "ZeRO", "Split", "SplitHeads", "SplitVocabulary", "MicroBatches", "StagesAt")
	if err == nil {
		err = d.check()
	}
	if err := mesh.Group.agree(ctx, err); err != nil {
		return nil, err
	}
	if err := d.sameOptions(ctx, options); err != nil {
		return nil, err
	}
	if err := BroadcastModel(ctx, mesh.Group, model); err != nil {
		return nil, err
	}
	if err := sameLayers(ctx, mesh.Group, model); err != nil {
		return nil, err
	}
	if err := d.sameRandomNumbers(ctx); err != nil {
		return nil, err
	}
	for _, p := range nn.State(model) {
		d.parts = append(d.parts, &part{name: p.Name, trained: p.RequiresGrad(), whole: p.Shape(), dtype: p.DType(), tensor: p.Tensor})
	}
	for _, g := range []*Group{mesh.DP, mesh.TP, mesh.PP} {
		if err := g.joinDevices(ctx); err != nil {
			return nil, err
		}
	}
	if err := d.splitLayers(); err != nil {
		d.mark(true) // some layers may have been divided
		return nil, err
	}
	if err := d.cutStages(); err != nil {
		return nil, err
	}
	return d.shard()
}

// check returns an error for a model or a mesh that cannot be distributed.
func (d *distribution) check() error {
	if d.model == nil {
		return errors.New("parallel: Distribute: the model is nil")
	}
	if unused := nn.UnusedLayers(d.model); len(unused) > 0 {
		return fmt.Errorf("parallel: Distribute: layer %s has no parameters yet: run an input through the model first", unused[0])
	}
	if len(nn.Parameters(d.model)) == 0 {
		return errors.New("parallel: Distribute: the model has no parameters to train")
	}
	if slices.ContainsFunc(nn.Parameters(d.model), tensors.IsPart[*tensor.Tensor]) {
		return errors.New("parallel: Distribute: the model was divided before, so this rank does not have all of its parameters: make a new model, and use Save and Load to continue a training")
	}
	if len(synchronized(d.model)) > 0 {
		return errors.New("parallel: Distribute: nn.SyncBatchNorm is not supported: use nn.LayerNorm, or Gradients for data parallelism alone")
	}
	for _, m := range nn.NamedModules(d.model) {
		if _, ok := m.Module.(interface{ Recomputes() }); ok && d.zero == 3 {
			return fmt.Errorf("parallel: Distribute: layer %s is an nn.Recompute, whose second pass ZeRO(3) cannot give the parameters: use nn.SetRecompute or ZeRO(2)", m.Name)
		}
	}
	waits := d.mesh.Shape.TP > 1 || d.mesh.Shape.DP > 1 && d.zero > 1
	if waits && d.mesh.Group.info.local {
		return errOneProcess
	}
	return nil
}

// sameOptions returns an error if another rank has other options.
func (d *distribution) sameOptions(ctx context.Context, options []Option) error {
	mine := option.Texts(options)
	all, err := gatherJSON(ctx, d.mesh.Group, mine)
	if err != nil {
		return err
	}
	for r, other := range all {
		if !slices.Equal(other, mine) {
			return fmt.Errorf("parallel: Distribute: rank %d has the options %v, but this rank, %d, %v: all ranks need the same", r, other, d.mesh.Group.Rank(), mine)
		}
	}
	return nil
}

// sameRandomNumbers gives the ranks of a stage of a replica the same random numbers, and each replica and stage others.
func (d *distribution) sameRandomNumbers(ctx context.Context) error {
	type state struct{ Seed, Drawn uint64 }
	var mine state
	mine.Seed, mine.Drawn = (*tensor.Generator)(nil).State()
	all, err := gatherJSON(ctx, d.mesh.Group, mine)
	if err != nil {
		return err
	}
	seed := all[0].Seed + uint64(d.mesh.DP.Rank())*seedStep + uint64(d.mesh.PP.Rank())*stageStep
	(*tensor.Generator)(nil).SetState(seed, all[0].Drawn)
	return nil
}

// These keep the seeds of the replicas and of the stages apart (Weyl's sequence of the golden ratio, and a constant of SplitMix64).
const (
	seedStep  = 0x9e3779b97f4a7c15
	stageStep = 0x94d049bb133111eb
)

// matching returns the names that match a pattern of path.Match, or an error if there are none.
func matching(what, pattern string, names []string) (found []string, err error) {
	for _, name := range names {
		ok, err := path.Match(pattern, name)
		if err != nil {
			return nil, fmt.Errorf("parallel: %s(%q): %w", what, pattern, err)
		}
		if ok {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("parallel: %s(%q): the model has no such layer; nn.NamedModules lists its layers", what, pattern)
	}
	return found, nil
}

func (m *DistributedModel) distribution() *distribution { return m.work.(*distribution) }

// Shares returns the model that was passed to Distribute, for nn.Train and nn.Eval.
func (m *DistributedModel) Shares() layer.Shares { return layer.Shares{Model: m.distribution().model} }

// divided records that the model is used with its parts again, after Gather.
func (d *distribution) divided() {
	if d.whole {
		d.mark(true)
	}
}

// Names returns the names of all tensors of the whole model, as nn.State has them. Optimizers call it for the patterns of optim.Group.
func (m *DistributedModel) Names() (names []string) {
	for _, p := range m.distribution().parts {
		names = append(names, p.name)
	}
	return names
}

// HasGradients reports whether the newest Backward has computed a gradient on any rank. Optimizers call it, since the Parts of a rank may
// have none while those of others have some.
func (m *DistributedModel) HasGradients() bool { return m.distribution().gradients }

// Forward computes the model. All ranks of a replica must call it with the same x, and with ZeRO 3
// all ranks. With a pipeline it records no gradients, and all stages get the result of the last one;
// without, [DistributedModel.Exchange] can compute them.
func (m *DistributedModel) Forward(x *tensor.Tensor) (y *tensor.Tensor) {
	d := m.distribution()
	d.divided()
	err := d.gatherUpdated(d.ctx)
	switch {
	case err != nil:
	case d.mesh.PP.Size() == 1:
		return d.wholeLogits(d.forwardLocal(x))
	default:
		tensor.NoGrad(func() { y, err = d.forwardStages(x) })
	}
	if err != nil {
		panic(&tensor.AllReduceError{Op: "Forward", Err: err})
	}
	return y
}

// during makes collectives end with ctx, until the function that it returns is called.
func (d *distribution) during(ctx context.Context) (end func()) {
	before, stop := d.ctx, func() bool { return true }
	d.ctx = ctx
	if tensors.Device() != "cpu" {
		stop = d.mesh.Group.abortWhenDone(ctx)
	}
	return func() {
		stop()
		d.ctx = before
	}
}

// Exchange is [Gradients.Exchange] for a model without a pipeline: e.Backward computes gradients from
// the results of [DistributedModel.Forward], for this replica's share of a batch, and the Parts then
// have their sums over the replicas.
func (m *DistributedModel) Exchange(ctx context.Context, e Exchange) (sums []*tensor.Tensor, err error) {
	if err := interrupt.RequireContext(ctx, "parallel: DistributedModel.Exchange"); err != nil {
		return nil, err
	}
	d := m.distribution()
	if d.mesh.PP.Size() > 1 {
		return nil, errors.New("parallel: DistributedModel.Exchange: the model has a pipeline: use Backward")
	}
	defer d.during(ctx)()
	returned := false
	defer d.mesh.Group.failUnless(&returned)
	d.backwardLocal(e.Backward)
	returned = true
	d.stale, d.factor = true, 1 // after the step that follows
	computed := d.computed()
	if err := d.reduceRest(ctx); err != nil {
		return nil, err
	}
	var own []*tensor.Tensor
	if e.Sums != nil {
		own = e.Sums()
	}
	values := make([]float64, len(own), len(own)+len(e.HostValues))
	for i, t := range own {
		values[i] = t.Item()
	}
	values = append(append(values, e.HostValues...), computed)
	if err := d.mesh.DP.AllReduceFloat64(ctx, values, Sum); err != nil {
		return nil, err
	}
	for i := range own {
		sums = append(sums, tensor.Full(values[i]))
	}
	copy(e.HostValues, values[len(own):])
	d.gradients = values[len(values)-1] > 0
	return sums, nil
}

// Gather gives the model that was passed to [Distribute] its whole parameters, as they are after the
// last step, for instance to evaluate it; but not those that are divided along TP or PP. All ranks call
// it together. With ZeRO 3, Forward and Backward drop them again.
func (m *DistributedModel) Gather(ctx context.Context) error {
	d := m.distribution()
	if d.mesh.TP.Size() == 1 && d.mesh.PP.Size() == 1 {
		defer d.mark(false)
	}
	if d.shared == nil {
		return nil
	}
	d.stale = false
	for _, u := range d.allUnits() {
		if err := d.gather(ctx, u); err != nil {
			return err
		}
	}
	return nil
}

// Backward computes the loss of a batch of this replica and its gradients, which it adds to those of
// the Parts. loss is a mean over the examples, or, like nn.CrossEntropyLoss with weights of classes and nn.WeightedMean, over the
// weights of all examples of the step. The result then equals that of one process. That of other losses does not: of the sum of a loss that
// divides by weights and another term, or of two of them, and of a function of a mean, such as its root. share is this replica's share of the examples of the
// step, such as b.Share(); a replica without examples passes share 0, with any example as x and y,
// since the others wait for it. All ranks of a replica pass the same batch.
//
// It returns the loss of all replicas, each weighted by its share. Its errors name the step; those
// of a lost rank wrap a [*LostError]. An error breaks the group, so that no rank waits for another, except one in the first step that all
// ranks notice before they exchange anything: invalid arguments, and without TP and PP below ZeRO 3 also those of the layers and the loss.
func (m *DistributedModel) Backward(ctx context.Context, x, y *tensor.Tensor, loss func(prediction, target *tensor.Tensor) *tensor.Tensor, share float64) (total float64, err error) {
	if err := interrupt.RequireContext(ctx, "parallel: DistributedModel.Backward"); err != nil {
		return 0, err
	}
	d := m.distribution()
	d.steps++
	returned := false
	defer func() {
		switch {
		case !returned && err == nil:
			p := recover()
			d.mesh.Group.Fail(interrupt.OfModel(p))
			if p != nil {
				panic(p)
			}
		case err != nil:
			err = fmt.Errorf("parallel: step %d: %w", d.steps, err)
			if !d.agreed {
				d.mesh.Group.Fail(err)
				return
			}
			d.agreed, d.steps = false, d.steps-1
		}
	}()
	defer nn.Catch(&err)
	defer d.during(ctx)()
	invalid := checkBatch(x, y, loss, share)
	if d.steps == 1 {
		invalid = d.agreeFirst(invalid)
	}
	if invalid != nil {
		return 0, invalid
	}
	if err := d.sameBatch(ctx, x, y); err != nil {
		return 0, err
	}
	d.divided()
	if err := d.gatherUpdated(ctx); err != nil {
		return 0, err
	}
	d.stale = true
	aside := d.setAsideTied()
	earlier := d.keepGradients()
	own, err := d.backward(x, y, loss, share)
	if err != nil {
		return 0, err
	}
	returned = true
	if total, d.factor, err = d.sum(ctx, own); err != nil {
		return 0, err
	}
	d.scale(earlier, d.factor)
	if err := d.reduceRest(ctx); err != nil {
		return 0, err
	}
	return total, d.sumTied(ctx, aside)
}

// sameBatch returns an error if the ranks of a replica have different batches.
func (d *distribution) sameBatch(ctx context.Context, x, y *tensor.Tensor) error {
	type batch struct {
		X, Y []int
		Sum  uint32
	}
	for _, g := range []*Group{d.mesh.TP, d.mesh.PP} {
		if g.Size() == 1 {
			continue
		}
		mine := batch{x.Shape(), y.Shape(), crc32.ChecksumIEEE(append(x.Raw(), y.Raw()...))}
		all, err := gatherJSON(ctx, g, mine)
		if err != nil {
			return err
		}
		for r, other := range all {
			if other.Sum != mine.Sum || !slices.Equal(other.X, mine.X) || !slices.Equal(other.Y, mine.Y) {
				return fmt.Errorf("rank %d has another batch, %v, than this rank, %d, with %v: the ranks of a replica need the same examples: use data.Shard(mesh.DP.Rank(), mesh.DP.Size()) and one seed", g.rankInWhole(r), other.X, d.mesh.Group.Rank(), mine.X)
			}
		}
	}
	return nil
}

// rankInWhole returns the rank in the whole group of one of a sub-group.
func (g *Group) rankInWhole(rank int) int {
	if g.names == nil {
		return rank
	}
	return g.names[rank]
}

// Total returns the sum over all ranks, each element of the model counted once, of scalars that this
// rank has computed from its Parts. Optimizers call it for the norm of the gradients. It panics with a
// *tensor.AllReduceError if a rank is lost.
func (m *DistributedModel) Total(parameters, values []*tensor.Tensor) *tensor.Tensor {
	d := m.distribution()
	mine := map[*tensor.Tensor]*part{}
	for _, p := range d.local {
		if p.shard != nil {
			mine[p.shard] = p
		}
	}
	sum := []float64{0}
	for i, v := range values {
		p := mine[parameters[i]]
		if p.cut == nil && d.mesh.TP.Rank() > 0 || !p.sharded() && d.mesh.DP.Rank() > 0 || p.stages[0] != d.mesh.PP.Rank() {
			continue // another rank counts it
		}
		sum[0] += v.Float64s()[0]
	}
	if err := d.mesh.Group.AllReduceFloat64(d.ctx, sum, Sum); err != nil {
		panic(&tensor.AllReduceError{Op: "Total", Err: err})
	}
	return tensor.Full(sum[0])
}
