package ir

import (
	"container/list"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/quernlab/quern/accel/internal/engine/trace"
)

// keeps reports whether a value must be in memory after the list has run.
func keeps(v *Value) bool { return v.handles > 0 || v.tape > 0 }

// canDonate reports whether only the assignment's new value can see the old one's storage.
func canDonate(a assignment) bool {
	o := a.old
	return o.handles == 0 && o.tape == 0 && o.buf != nil && !o.buf.shared &&
		o.layout.Offset == 0 && (o.layout.Contiguous() || o.layout.hasChannelsLast())
}

// Flush runs the recorded list, in parts if it needs more memory than there is. It panics with an *IndexError if an index is out of range,
// and with an *OutOfMemoryError. The list is then dropped, and using the values that it
// would have computed panics.
func (r *Recorder) Flush() {
	if len(r.nodes) == 0 {
		r.reset()
		return
	}
	done := false
	defer func() {
		if !done {
			r.abandon()
		}
	}()
	r.bring()
	r.appendRoles()
	p := r.plans.get(r.key)
	if p == nil {
		c := trace.Active()
		var begin time.Duration
		if c != nil {
			begin = c.Now()
		}
		p = r.makePlan()
		if c != nil {
			r.planning = c.Now() - begin
		}
		r.plans.put(r.key, p, len(r.nodes))
		r.stats.PlansMade++
	} else {
		r.stats.PlanHits++
	}
	if len(r.nodes) > 1 && (r.halved || !r.fits(p)) {
		done = true
		r.flushHalves()
		return
	}
	r.compile(p)
	r.stats.Flushes++
	r.stats.Ops += len(r.nodes)
	r.stats.Steps += len(p.program.Steps)
	r.run(p)
	done = true
	r.reset()
	if d, ok := r.device.(Detector); ok {
		if err := d.Detected(); err != nil {
			panic(r.failed(err))
		}
	}
}

// appendRoles completes the key: which values outlive the list, and which old values may be
// overwritten.
func (r *Recorder) appendRoles() {
	k := append(r.key, 'r')
	for _, v := range r.nodes {
		k = appendFlag(k, keeps(v))
	}
	for _, a := range r.assigns {
		if a.new.epoch == r.epoch && a.new.index >= 0 && canDonate(a) {
			k = binary.AppendVarint(k, int64(a.old.index))
			k = binary.AppendVarint(k, int64(a.new.index))
		}
	}
	r.key = k
}

func (r *Recorder) makePlan() *plan {
	e := r.expand()
	list := r.nodes
	if e != nil {
		list = e.list
	}
	p, err := r.planner(e).plan(list, r.externals)
	if errors.Is(err, errRounded) {
		pl := r.planner(e)
		pl.roundsApart = true
		p, err = pl.plan(list, r.externals)
	}
	if err != nil {
		panic(r.failed(err))
	}
	if e != nil {
		e.restore(p)
	}
	return p
}

// planner returns a planner for the device. e is the list with compositions, nil if there are none.
func (r *Recorder) planner(e *expansion) *planner {
	pl := &planner{assigns: r.assigns, canDonate: canDonate, kept: keeps, fuse: !r.unfused, words: len(r.words)}
	if e != nil {
		pl.assigns, pl.made = e.assigns, e.made
	}
	pl.float16, _ = r.device.(Float16Multiplier)
	pl.reader, _ = r.device.(Float16Reader)
	pl.lasts, _ = r.device.(ChannelsLast)
	if d, ok := r.device.(FusedRounder); ok {
		pl.fusedRounds = d.FusedKernelsRound()
	}
	if d, ok := r.device.(Batcher); ok {
		pl.batches = d.RunsBatches()
	}
	pl.sloper, _ = r.device.(Sloper)
	pl.summer, _ = r.device.(FactorSummer)
	if d, ok := r.device.(NormFuser); ok {
		pl.norms = d.FusesNorms()
	}
	if d, ok := r.device.(LossFuser); ok {
		pl.losses = d.FusesLosses()
	}
	if d, ok := r.device.(FP8Multiplier); ok && d.MultipliesFP8() == nil {
		pl.fp8 = d
	}
	if r.watching {
		pl.kept, pl.fuse = func(*Value) bool { return true }, false
		pl.canDonate = func(assignment) bool { return false }
	}
	return pl
}

// compile makes a plan executable, once.
func (r *Recorder) compile(p *plan) {
	if p.exec != nil {
		return
	}
	r.reserve(max(0, p.program.Arena-r.stats.PlanBytes))
	exec, err := r.device.Compile(p.program)
	if err != nil {
		panic(r.failed(err))
	}
	p.exec = exec
	r.stats.PlanBytes = max(r.stats.PlanBytes, p.program.Arena)
}

func (r *Recorder) run(p *plan) {
	if cap(r.bind) < len(p.program.Slots) {
		r.bind = make([]Storage, len(p.program.Slots))
		r.made = make([]*Buffer, len(p.program.Slots))
	}
	r.temporaries = p.program.Arena
	defer func() { r.temporaries = 0 }()
	if !p.ran {
		r.noteNew(p.bytes)
		p.ran = true
	}
	r.notePeak()
	bind, made := r.bind[:len(p.program.Slots)], r.made[:len(p.program.Slots)]
	defer clear(bind)
	defer clear(made)
	for i, x := range r.externals {
		bind[p.externals[i]] = x.buf.Storage
	}
	for _, d := range p.donated {
		x := r.externals[d.external]
		made[d.slot] = x.buf
		bind[d.slot] = x.buf.Storage
	}
	for _, o := range p.outputs {
		if made[o.slot] == nil {
			made[o.slot] = r.alloc(o.bytes)
			bind[o.slot] = made[o.slot].Storage
		}
	}
	r.words = append(r.words, p.words...)
	if done, err := r.execute(p, bind); err != nil {
		r.lost(p, done)
		panic(r.failed(err))
	}
	for _, d := range p.donated {
		r.externals[d.external].leave(overwritten)
	}
	for _, res := range p.results {
		v := r.nodes[res.node]
		v.layout = res.layout
		if res.slot < 0 {
			v.look(r.externals[res.external].buf)
			v.buf.shared = true
			continue
		}
		v.look(made[res.slot])
		v.buf.shared = v.buf.shared || !res.alone
	}
	if r.watching {
		r.look()
	}
}

func (r *Recorder) execute(p *plan, bind []Storage) (done int, err error) {
	if c := trace.Active(); c != nil {
		return r.timed(c, p, bind)
	}
	return p.exec.Run(bind, r.words)
}

// reset clears the list and frees values that only the list still needed.
func (r *Recorder) reset() {
	for _, v := range r.nodes {
		if v.buf == nil && v.gone == "" {
			v.gone = "the tensor was released before its value was computed"
		}
		if !v.requires || v.consumed || v.leaf != nil {
			v.forget()
		}
	}
	for _, a := range r.assigns {
		r.free(a.old, "the tensor was replaced by a later in-place update")
	}
	for _, v := range r.released {
		r.free(v, "the tensor was released")
	}
	clear(r.nodes)
	clear(r.externals)
	clear(r.assigns)
	clear(r.released)
	clear(r.leaves)
	r.phases = r.phases[:0]
	r.nodes, r.externals, r.assigns = r.nodes[:0], r.externals[:0], r.assigns[:0]
	r.released, r.leaves = r.released[:0], r.leaves[:0]
	r.key, r.words, r.pending, r.checkedPending, r.gradients = r.key[:0], r.words[:0], 0, 0, false
	r.epoch++
}

// overwritten is the reason why a value cannot be read after an update has reused its
// storage.
const overwritten = "the storage was reused by a later in-place update; Clone the tensor before the update to keep its old value"

// lost marks the old values that a failed run may have overwritten: those whose step had
// started.
func (r *Recorder) lost(p *plan, done int) {
	for _, d := range p.donated {
		if d.step <= done {
			r.externals[d.external].leave(overwritten)
		}
	}
}

// abandon drops a list that failed: holders get their previous values back, and gradients
// that were not computed are dropped.
func (r *Recorder) abandon() {
	for _, v := range r.nodes {
		if v.buf == nil {
			v.gone = "the computation that should have made the tensor failed"
		}
	}
	for _, a := range r.assigns {
		if *a.holder == a.new && a.old.buf != nil {
			a.new.Drop()
			*a.holder = a.old.Hold()
		}
	}
	for _, l := range r.leaves {
		if l.Grad != nil && l.Grad.gone != "" {
			l.Grad = nil
		}
	}
	r.reset()
}

// fits reports whether there is memory for the results and temporaries of a plan, after a
// collection of unreachable values if necessary.
func (r *Recorder) fits(p *plan) bool {
	enough := func() bool {
		return int(r.live.n.Load())+max(r.stats.PlanBytes, p.program.Arena)+p.bytes <= r.memory()
	}
	if enough() {
		return true
	}
	Collect()
	return enough()
}

// flushHalves runs the list as two, of which the second reads results of the first. What only
// the first needs can be freed before the second runs: results that the program has dropped, but
// which it has not released.
func (r *Recorder) flushHalves() {
	r.flushFirstHalf()
	r.Flush()
}

// flushFirstHalf runs the first half of the list, and makes the second one the list.
func (r *Recorder) flushFirstHalf() {
	middle := len(r.nodes) / 2
	first, second := slices.Clone(r.nodes[:middle]), slices.Clone(r.nodes[middle:])
	phases, leaves, released := slices.Clone(r.phases), slices.Clone(r.leaves), slices.Clone(r.released)
	var now, later []assignment
	for _, a := range r.assigns {
		if a.new.epoch == r.epoch && a.new.index >= 0 && a.new.index < middle {
			now = append(now, a)
			released = append(released, a.old)
		} else {
			later = append(later, a)
		}
	}
	var crossing []*Value // read or replaced by the second half, and in memory then
	for _, a := range later {
		crossing = append(crossing, a.old.Hold())
	}
	for _, v := range second {
		for _, x := range v.in {
			if x.index < middle {
				crossing = append(crossing, x.Hold())
			}
		}
	}
	drop := func() {
		for _, x := range crossing {
			x.Drop()
		}
	}
	done := false
	defer func() {
		if !done { // the first half has failed
			drop()
			r.nodes, r.assigns, r.leaves, r.released = second, later, leaves, append(released, crossing...)
			r.abandon()
		}
	}()
	r.restart(first, now, leaves)
	if r.watching {
		r.phases = phases[:middle]
	}
	r.Flush()
	done = true
	drop()
	r.restart(second, later, leaves)
	r.released = append(released, crossing...)
	if r.watching {
		r.phases = phases[middle:]
	}
}

// restart makes a list of ops that were recorded before.
func (r *Recorder) restart(nodes []*Value, assigns []assignment, leaves []*Leaf) {
	r.epoch++
	r.nodes, r.externals, r.assigns, r.leaves, r.released = nil, nil, assigns, slices.Clone(leaves), nil
	r.key, r.words = r.key[:0], r.words[:0]
	for i, v := range nodes {
		r.appendKey(v.op, v, v.in)
		v.epoch, v.index = r.epoch, i
		if d, ok := v.op.(Dynamic); ok {
			r.words = d.AppendWords(r.words)
		}
	}
	r.nodes = nodes
	for _, a := range assigns {
		r.reference(a.old)
	}
}

// The maximum number of cached plans, and of the ops that they compute. A notebook whose shapes
// keep changing would add plans without end.
const (
	maxPlans      = 256
	maxPlannedOps = 1 << 20
)

// planCache caches plans by structure and evicts the least recently used one. It compares
// whole keys, so two structures never share a plan.
type planCache struct {
	byKey map[string]*list.Element
	used  list.List // of *cached, the last used first
	ops   int       // of all plans
}

type cached struct {
	key  string
	plan *plan
	ops  int
}

func newPlanCache() *planCache {
	return &planCache{byKey: map[string]*list.Element{}}
}

func (c *planCache) get(key []byte) *plan {
	e := c.byKey[string(key)]
	if e == nil {
		return nil
	}
	c.used.MoveToFront(e)
	return e.Value.(*cached).plan
}

func (c *planCache) put(key []byte, p *plan, ops int) {
	c.ops += ops
	for c.used.Len() >= maxPlans || c.ops > maxPlannedOps && c.used.Len() > 0 {
		last := c.used.Remove(c.used.Back()).(*cached)
		delete(c.byKey, last.key)
		c.ops -= last.ops
	}
	k := string(key)
	c.byKey[k] = c.used.PushFront(&cached{k, p, ops})
}
