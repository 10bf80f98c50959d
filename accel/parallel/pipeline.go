package parallel

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// MicroBatches divides each batch of a replica into n parts along its first dimension. The stages of
// a pipeline compute different parts at the same time; without a pipeline, less memory is needed for
// activations. A stage is idle for (PP-1)/(n+PP-1) of the time. The default is 1. Parts differ by at most
// one example if n does not divide the batch, and a batch of fewer than n examples has one part for each.
// Up to rounding, the result does not depend on n, for the losses that [DistributedModel.Backward] names.
func MicroBatches(n int) Option {
	return Option{option.Count("MicroBatches", n, 1, func(s *settings) *int { return &s.microBatches })}
}

// StagesAt sets the modules of the nn.Sequential, counted as in its innermost chains, with which all
// stages of the pipeline but the first begin. The default gives all stages about the same number of
// parameters.
func StagesAt(first ...int) Option {
	return Option{option.New(func(s *settings) { s.stages = slices.Clone(first) }, "StagesAt", first)}
}

// chain returns the modules that a model runs one after the other: those of an nn.Sequential, in
// which chains have their modules in their place, or the model itself.
func chain(m nn.Module) []nn.Module {
	s, ok := m.(*nn.SequentialLayer)
	if !ok {
		return []nn.Module{m}
	}
	var all []nn.Module
	for _, l := range s.Layers() {
		all = append(all, chain(l)...)
	}
	return all
}

// cutStages finds the layers and tensors of each stage.
func (d *distribution) cutStages() error {
	layers, stages := chain(d.model), d.mesh.PP.Size()
	if stages > len(layers) {
		return fmt.Errorf("parallel: Distribute: a mesh of %v has %d stages, but the model is an nn.Sequential of %d modules: use fewer stages", d.mesh.Shape, stages, len(layers))
	}
	starts := d.stages
	if starts == nil {
		starts = balance(layers, stages)
	}
	bounds := append(append([]int{0}, starts...), len(layers))
	if len(bounds) != stages+1 || !slices.IsSorted(bounds) || len(slices.Compact(slices.Clone(bounds))) != len(bounds) {
		return fmt.Errorf("parallel: StagesAt(%v): %d stages of %d modules need %d increasing indices from 1 to %d", d.stages, stages, len(layers), stages-1, len(layers)-1)
	}
	at := map[*tensor.Tensor][]int{}
	for s := range stages {
		trained := false
		for _, p := range nn.State(layers[bounds[s]:bounds[s+1]]) {
			trained = trained || p.RequiresGrad()
			if others := at[p.Tensor]; len(others) > 0 && !p.RequiresGrad() {
				return fmt.Errorf("parallel: Distribute: stages %d and %d of the pipeline both use %s, which is not trained, so they could change it differently: use StagesAt to put both layers in one stage", others[0], s, d.nameOf(p.Tensor))
			}
			at[p.Tensor] = append(at[p.Tensor], s)
		}
		if !trained {
			return fmt.Errorf("parallel: Distribute: stage %d has no parameters to train: use fewer stages, or StagesAt", s)
		}
	}
	rank := d.mesh.PP.Rank()
	d.layers = layers[bounds[rank]:bounds[rank+1]]
	if d.stage = d.model; stages > 1 {
		d.stage = nn.Sequential(d.layers...)
	}
	for _, p := range d.parts {
		if p.stages = at[p.tensor]; p.on(rank) {
			d.local = append(d.local, p)
		}
	}
	return nil
}

// nameOf returns the name of a tensor in the whole model.
func (d *distribution) nameOf(t *tensor.Tensor) string {
	for _, p := range d.parts {
		if p.tensor == t {
			return p.name
		}
	}
	return "of unknown name"
}

// balance returns where the stages after the first begin, so that each has about the same number of
// parameters. Modules without parameters, such as activations, belong to the stage before.
func balance(layers []nn.Module, stages int) (starts []int) {
	total := make([]int, len(layers)+1) // parameters before a module
	for i, l := range layers {
		total[i+1] = total[i]
		for _, p := range nn.Parameters(l) {
			total[i+1] += p.Numel()
		}
	}
	begin := 0
	for s := 1; s < stages; s++ {
		want := total[len(layers)] * s / stages
		best := begin + 1
		for at := best; at <= len(layers)-(stages-s); at++ {
			if far, least := max(total[at]-want, want-total[at]), max(total[best]-want, want-total[best]); far <= least || total[best] == total[begin] {
				best = at
			}
		}
		starts, begin = append(starts, best), best
	}
	return starts
}

// microBatch is a part of a batch on its way through this stage.
type microBatch struct {
	x, y  *tensor.Tensor // the input, and the targets of the last stage
	share float64        // of the batch
	out   *tensor.Tensor // activations, or the weighted loss of the last stage

	loss    *tensor.Tensor // of the last stage
	divisor *tensor.Tensor // by what the loss was divided; nil for the number of examples
}

// backward runs the forward and backward passes of a batch in this stage, and returns this rank's
// contribution to the loss. Each stage runs as many forward passes ahead as there are stages after it,
// and then one backward pass after each forward pass (1F1B; Narayanan et al., PipeDream, 2019), so
// that it has the activations of no more micro-batches in memory than there are stages.
func (d *distribution) backward(x, y *tensor.Tensor, loss func(prediction, target *tensor.Tensor) *tensor.Tensor, share float64) (own contribution, err error) {
	pp := d.mesh.PP
	n, err := d.microBatchesOf(x)
	if err != nil {
		return own, err
	}
	loss = d.checked(loss)
	line := newPipe(d.ctx, pp, n)
	returned := false
	defer func() {
		failed := err
		if !returned && err == nil {
			p := recover()
			if failed = interrupt.OfModel(p); p != nil {
				defer panic(p)
			}
		}
		err = cmp.Or(err, line.close(failed))
	}()
	defer nn.Catch(&err) // so that the other stages get the error of a layer or the loss
	ahead := min(n, pp.Size()-1-pp.Rank())
	var waiting []*microBatch
	for i := range n + ahead {
		if i < n {
			from, to := x.Size(0)*i/n, x.Size(0)*(i+1)/n
			m := &microBatch{share: share * float64(to-from) / float64(x.Size(0))}
			if n == 1 {
				m.x, m.y = x, y
			} else {
				m.x, m.y = x.Slice(0, from, to), y.Slice(0, from, to)
			}
			err := d.firstForward(i, func() error { return d.forwardMicro(line, m, loss) })
			if err != nil {
				return own, err
			}
			waiting = append(waiting, m)
		}
		if i < ahead {
			if err := line.flush(); err != nil { // nothing is received before the next computation
				return own, err
			}
			continue
		}
		m := waiting[0]
		waiting = waiting[1:]
		if err := d.backwardMicro(line, m); err != nil {
			return own, err
		}
		if m.loss != nil && d.mesh.TP.Rank() == 0 {
			own.add(m)
		}
	}
	returned = true
	return own, nil
}

// last reports whether this is the last stage.
func (d *distribution) last() bool { return d.mesh.PP.Rank() == d.mesh.PP.Size()-1 }

// forwardMicro computes the activations of a micro-batch and sends them to the next stage, or its loss.
func (d *distribution) forwardMicro(line *pipe, m *microBatch, loss func(prediction, target *tensor.Tensor) *tensor.Tensor) error {
	if d.mesh.PP.Rank() > 0 {
		x, err := line.receive(forwards)
		if err != nil {
			return err
		}
		m.x = tensor.Parameter(x)
	}
	out := d.forwardLocal(m.x)
	if d.last() {
		m.weigh(func() *tensor.Tensor { return loss(out, m.y) })
		return nil
	}
	m.out = out
	line.send(forwards, out.Detach())
	return nil
}

// backwardMicro computes the gradients of a micro-batch, and sends that of its input to the stage before.
func (d *distribution) backwardMicro(line *pipe, m *microBatch) error {
	scalar := m.out
	if !d.last() {
		dy, err := line.receive(backwards)
		if err != nil {
			return err
		}
		weighted := m.out.Mul(dy)
		scalar = weighted.Sum() // whose gradient with respect to the output is dy
		weighted.Release()
	}
	d.backwardLocal(scalar.Backward)
	if d.mesh.PP.Rank() > 0 {
		dx := m.x.Grad()
		if dx == nil {
			dx = zerosLike(m.x)
		}
		line.send(backwards, dx)
		m.x.ZeroGrad()
	}
	scalar.Release()
	m.out.Release()
	tensor.Flush()
	return nil
}

func zerosLike(t *tensor.Tensor) *tensor.Tensor { return t.Detach().MulScalar(0) }

// forwardStages computes the model without gradients. The last stage sends the result to all others.
func (d *distribution) forwardStages(x *tensor.Tensor) (y *tensor.Tensor, err error) {
	pp := d.mesh.PP
	line := newPipe(d.ctx, pp, 1)
	if pp.Rank() > 0 {
		if x, err = line.receive(forwards); err != nil {
			return nil, errors.Join(err, line.close(err))
		}
	}
	if y = d.forwardLocal(x); d.last() {
		y = d.wholeLogits(y)
	} else {
		line.send(forwards, y)
	}
	if err := line.close(nil); err != nil {
		return nil, err
	}
	return broadcastTensor(d.ctx, pp, pp.Size()-1, y)
}

// direction is that of a transfer between neighboring stages.
type direction uint8

const (
	forwards direction = iota
	backwards
)

// pipe transfers tensors between a stage and its neighbors, through the connections of the ring, in
// both directions. Goroutines send, so that two neighbors that both send do not wait for each other.
//
// Between devices, only the headers go through the ring. A tensor is sent together with the next one that
// is received, as one group, for the same reason.
type pipe struct {
	group *Group
	ctx   context.Context
	queue [2]chan []byte // by direction; nil if nobody is there
	ended [2]chan error  // of the goroutine, with its error
	stop  func() bool

	on      *tensors.Communicator // nil if the hosts transfer
	waiting []tensors.Transfer[*tensor.Tensor]
}

// newPipe returns the pipe of a stage, which sends at most the given number of tensors in each direction.
func newPipe(ctx context.Context, g *Group, most int) *pipe {
	p := &pipe{group: g, ctx: ctx}
	if g.Size() == 1 {
		return p
	}
	p.on = g.devicesJoined()
	g.running.Lock()
	p.stop = context.AfterFunc(ctx, func() { _ = g.breakWith(fmt.Errorf("pipeline on rank %d: %w", g.Rank(), ctx.Err())) })
	for d, to := range []*link{g.next, g.previous} {
		if direction(d) == forwards && g.Rank() == g.Size()-1 || direction(d) == backwards && g.Rank() == 0 {
			continue
		}
		queue, ended := make(chan []byte, most), make(chan error, 1)
		p.queue[d], p.ended[d] = queue, ended
		go func() { // ends when close closes the queue; a broken group ends its writes
			var err error
			for b := range queue {
				if err != nil {
					continue
				}
				if _, failed := to.conn.Write(b); failed != nil {
					err = g.lostError(to, failed)
				}
				g.sent(len(b))
			}
			ended <- err
		}()
	}
	return p
}

// transfer is the header of a tensor on its way.
type transfer struct {
	Direction direction
	Shape     []int
	DType     tensor.DType
}

// send sends a tensor to the next stage, or the one before. It does not wait for it.
func (p *pipe) send(d direction, t *tensor.Tensor) {
	header, err := json.Marshal(transfer{d, t.Shape(), t.DType()})
	if err != nil {
		panic(fmt.Errorf("parallel: encode the shape of a tensor: %w", err)) // cannot happen: only numbers
	}
	var raw []byte
	if p.on == nil {
		raw = t.Raw()
	}
	b := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(header)+len(raw)), uint32(len(header)))
	p.queue[d] <- append(append(b, header...), raw...)
	if p.on != nil {
		p.waiting = append(p.waiting, tensors.Transfer[*tensor.Tensor]{Peer: p.peer(d), Sent: t.Reshape(t.Numel())})
	}
}

// peer returns the rank to which tensors go in a direction.
func (p *pipe) peer(d direction) int {
	if d == forwards {
		return p.group.Rank() + 1
	}
	return p.group.Rank() - 1
}

// flush starts to send the tensors that wait for one that is received.
func (p *pipe) flush() error {
	if len(p.waiting) == 0 {
		return nil
	}
	_, err := p.transfer()
	return err
}

// transfer sends the waiting tensors, and receives others at the same time.
func (p *pipe) transfer(receives ...tensors.Transfer[*tensor.Tensor]) (*tensor.Tensor, error) {
	sent := p.waiting
	p.waiting = nil
	all, work, err := tensors.SendReceive(p.ctx, p.on, append(sent, receives...)...)
	for _, t := range sent {
		t.Sent.Release()
	}
	if err == nil && len(receives) > 0 {
		err = work.Wait()
	}
	if err != nil {
		return nil, p.group.deviceFailed(err)
	}
	return all[len(all)-1], nil
}

// receive waits for the tensor of the stage before, or of the next one.
func (p *pipe) receive(d direction) (*tensor.Tensor, error) {
	from := p.group.previous
	if d == backwards {
		from = p.group.next
	}
	fail := func(err error) error { return p.group.fail(p.group.lostError(from, err)) }
	var length [4]byte
	if _, err := io.ReadFull(from.in, length[:]); err != nil {
		return nil, fail(err)
	}
	n := binary.BigEndian.Uint32(length[:])
	if n > longestGreeting {
		return nil, fail(fmt.Errorf("sent no tensor: all ranks must make the same calls"))
	}
	header := make([]byte, n)
	if _, err := io.ReadFull(from.in, header); err != nil {
		return nil, fail(err)
	}
	var t transfer
	if err := json.Unmarshal(header, &t); err != nil || t.Direction != d || !t.DType.Known() {
		return nil, fail(fmt.Errorf("sent no tensor: all ranks must make the same calls: %s", header))
	}
	if p.on != nil {
		back := forwards + backwards - d
		return p.transfer(tensors.Transfer[*tensor.Tensor]{Peer: p.peer(back), Shape: t.Shape, DType: t.DType})
	}
	size := t.DType.Size()
	for _, n := range t.Shape {
		size *= n
	}
	raw := make([]byte, size)
	if _, err := io.ReadFull(from.in, raw); err != nil {
		return nil, fail(err)
	}
	return tensor.FromRaw(t.DType, raw, t.Shape...), nil
}

// close waits until everything has been sent. If this rank has failed, it breaks the group instead.
func (p *pipe) close(failed error) error {
	if p.group.Size() == 1 {
		return nil
	}
	p.stop()
	var err error
	if failed == nil && p.on != nil {
		if failed = p.flush(); failed == nil {
			if err := p.on.Wait(); err != nil { // also frees what was sent
				failed = p.group.deviceFailed(err)
			}
		}
	}
	if failed != nil {
		_ = p.group.breakWith(failed)
	}
	for d, queue := range p.queue {
		if queue == nil {
			continue
		}
		close(queue)
		if sent := <-p.ended[d]; sent != nil && err == nil {
			err = sent
		}
	}
	p.group.running.Unlock()
	if err != nil {
		return p.group.fail(err)
	}
	return p.group.Err()
}

// broadcastTensor returns the tensor of one rank on all ranks.
func broadcastTensor(ctx context.Context, g *Group, from int, t *tensor.Tensor) (*tensor.Tensor, error) {
	var h transfer
	var raw []byte
	on := g.devicesJoined()
	if g.Rank() == from {
		h = transfer{Shape: t.Shape(), DType: t.DType()}
		if on == nil {
			raw = t.Raw()
		}
	}
	all, err := gatherJSON(ctx, g, h)
	if err != nil {
		return nil, err
	}
	h = all[from]
	if on != nil {
		return broadcastOnDevices(ctx, g, on, from, t, h)
	}
	if raw, err = g.Broadcast(ctx, from, raw); err != nil || g.Rank() == from {
		return t, err
	}
	return tensor.FromRaw(h.DType, raw, h.Shape...), nil
}

func broadcastOnDevices(ctx context.Context, g *Group, on *tensors.Communicator, from int, t *tensor.Tensor, h transfer) (*tensor.Tensor, error) {
	call := tensors.Transfer[*tensor.Tensor]{Peer: from, Shape: h.Shape, DType: h.DType}
	if g.Rank() == from {
		call.Sent = t.Reshape(t.Numel())
		defer call.Sent.Release()
	}
	came, work, err := tensors.Broadcast(ctx, on, call)
	if err == nil {
		err = work.Wait()
	}
	if err != nil {
		return nil, g.deviceFailed(err)
	}
	if g.Rank() == from {
		return t, nil
	}
	return came, nil
}
