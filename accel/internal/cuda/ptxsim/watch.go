package ptxsim

import (
	"math/bits"
	"slices"
)

// Watch makes a run record, for each position in the source, what its accesses of memory cost on a GPU, and stop at a race of threads of
// one block for global memory, too. Faults that are races then have the other access. It needs Launch.Races.
type Watch struct {
	// Ignored is a range of addresses of global memory that is not counted.
	Ignored [2]uint64

	// Enough is how many instructions of warps are enough: then no further block begins. 0 is no limit.
	Enough int64

	work   Work
	counts map[Source]*Counts
	cells  map[watched]*watchedCell // of the block that runs, if they are in shared memory
}

// Counts are what the instructions at a position have done.
type Counts struct {
	// Global accesses: instructions of warps, the sectors of 32 bytes that they moved, and how many they would
	// move if the threads accessed neighboring elements.
	Global, Sectors, IdealSectors int
	// Shared accesses: instructions of warps, how often the memory served them, and how often it would without bank conflicts.
	Shared, Wavefronts, IdealWavefronts int
}

// Counts returns what was counted.
func (w *Watch) Counts() map[Source]Counts {
	all := map[Source]Counts{}
	for s, c := range w.counts {
		all[s] = *c
	}
	return all
}

// enough reports, before a block begins, whether the run ends here. It counts the block if not.
func (w *Watch) enough(steps int64) bool {
	if w == nil {
		return false
	}
	if w.Enough > 0 && steps >= w.Enough {
		return true
	}
	w.work.Blocks++
	return false
}

// Work returns what was executed.
func (w *Watch) Work() Work { return w.work }

// Access is an access of memory.
type Access struct {
	Block, Thread [3]int
	Source        Source
	Write         bool
}

// memoryAccess is what an instruction does with memory.
type memoryAccess struct {
	access
	write, atomic bool
}

// watched is an address of a space at which an access began.
type watched struct {
	shared  bool
	address uint64
}

// watchedCell are the last accesses of an address.
type watchedCell struct {
	write, earlier event   // the last writes, of different threads
	reads, before  []event // since the last write, and before it: the last ones of different threads
}

// maxReads is how many reads of an address are kept.
const maxReads = 64

// event is an access by a thread.
type event struct {
	record uint64 // see cell; 0 for none
	block  int64
	atomic bool
	line   int
}

// bankBytes and banks describe shared memory, sectorBytes global memory.
const (
	banks       = 32
	bankBytes   = 4
	sectorBytes = 32
)

// watch records an instruction before it runs.
func (w *warp) watch(in *instruction, mask uint32) {
	a := in.memory
	watch := w.block.run.launch.Watch
	active := bits.OnesCount32(mask)
	watch.work.Instructions++
	watch.work.FLOPs += in.flops*active + in.warpFLOPs
	if a == nil {
		return
	}
	var addresses []uint64
	space := a.space
	for m := mask; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		at := w.r[a.base][lane] + a.offset
		if a.space == "" {
			space, at = generic(at)
		}
		if space != "shared" && (space != "global" || at >= watch.Ignored[0] && at < watch.Ignored[1]) {
			return
		}
		addresses = append(addresses, at)
		w.races(in, lane, watched{space == "shared", at})
	}
	source := w.block.kernel.module.source(in.line)
	c := watch.counts[source]
	if c == nil {
		c = &Counts{}
		watch.counts[source] = c
	}
	if space == "shared" {
		c.Shared++
		n, ideal := wavefronts(addresses, a.size(), a.atomic)
		c.Wavefronts, c.IdealWavefronts = c.Wavefronts+n, c.IdealWavefronts+ideal
		return
	}
	c.Global++
	if a.write {
		watch.work.Stored += active * a.size()
	}
	if !a.write || a.atomic {
		watch.work.Loaded += active * a.size()
	}
	n, ideal := sectors(addresses, a.size())
	c.Sectors, c.IdealSectors = c.Sectors+n, c.IdealSectors+ideal
}

// wavefronts returns how often shared memory serves the accesses of a warp. It serves 128 bytes at once: all lanes, or for elements of
// 8 bytes half of them and for 16 bytes a quarter. Each bank serves one word of 4 bytes at once, to any number of lanes that read it; atomic
// operations on one word follow each other.
func wavefronts(addresses []uint64, size int, atomic bool) (n, ideal int) {
	part := len(addresses)
	if size > bankBytes {
		part = banks * bankBytes / size
	}
	for lanes := range slices.Chunk(addresses, max(part, 1)) {
		var words [banks][]uint64
		longest := 0
		for _, at := range lanes {
			for word := at / bankBytes; word <= (at+uint64(size)-1)/bankBytes; word++ {
				bank := word % banks
				if atomic || !slices.Contains(words[bank], word) {
					words[bank] = append(words[bank], word)
				}
				longest = max(longest, len(words[bank]))
			}
		}
		n, ideal = n+longest, ideal+1
	}
	return n, ideal
}

// sectors returns how many sectors the accesses of a warp touch, and the minimum for as many bytes.
func sectors(addresses []uint64, size int) (n, ideal int) {
	touched, distinct := map[uint64]bool{}, map[uint64]bool{}
	for _, at := range addresses {
		distinct[at] = true
		for s := at / sectorBytes; s <= (at+uint64(size)-1)/sectorBytes; s++ {
			touched[s] = true
		}
	}
	return len(touched), (len(distinct)*size + sectorBytes - 1) / sectorBytes
}

// races stops the run if an access of global memory races with one of the same block, and records the access.
func (w *warp) races(in *instruction, lane int, at watched) {
	watch := w.block.run.launch.Watch
	c := watch.cells[at]
	if c == nil {
		c = &watchedCell{}
		watch.cells[at] = c
	}
	me := event{w.record(lane), w.block.number, in.memory.atomic || in.memory.strong, in.line}
	write := in.memory.write
	if !at.shared {
		conflict := func(other event, otherWrites bool) {
			if other.record == 0 || other.block != me.block || w.ordered(other.record, lane) || me.atomic && other.atomic {
				return
			}
			f := w.accessFault(Race, lane, "global", at.address, in.memory.size(), "no barrier since thread %v accessed it", w.block.thread(int(other.record&threadBits)))
			f.Other = w.accessOf(other, otherWrites)
			panic(f)
		}
		conflict(c.write, true)
		if write {
			for _, r := range c.reads {
				conflict(r, false)
			}
		}
	}
	if write {
		if c.write.block != me.block || (c.write.record^me.record)&threadBits != 0 {
			c.earlier = c.write
		}
		if c.write = me; len(c.reads) > 0 {
			c.before, c.reads = c.reads, nil
		}
		return
	}
	c.reads = slices.DeleteFunc(c.reads, func(e event) bool { return e.block == me.block && e.record&threadBits == me.record&threadBits })
	if len(c.reads) == maxReads {
		c.reads = slices.Delete(c.reads, 0, 1)
	}
	c.reads = append(c.reads, me)
}

func (w *warp) accessOf(e event, write bool) *Access {
	b := w.block
	return &Access{b.of(int32(e.block) + 1), b.thread(int(e.record & threadBits)), b.kernel.module.source(e.line), write}
}

// other returns the last access of an address that belongs to those with which an access races; nil if it is not known. The accesses
// of an instruction have been recorded before it runs.
func (w *warp) other(f *Fault, races func(event) bool) *Access {
	if w.block.run.launch.Watch == nil {
		return nil
	}
	c := w.block.run.launch.Watch.cells[watched{f.Space == "shared", f.Address}]
	if c == nil {
		return nil
	}
	for _, e := range [2]event{c.write, c.earlier} {
		if e.record != 0 && races(e) {
			return w.accessOf(e, true)
		}
	}
	return w.otherRead(f, races)
}

// otherRead is other for accesses that read.
func (w *warp) otherRead(f *Fault, races func(event) bool) *Access {
	c := w.block.run.launch.Watch.cells[watched{f.Space == "shared", f.Address}]
	if c == nil {
		return nil
	}
	for _, reads := range [2][]event{c.reads, c.before} {
		for _, e := range slices.Backward(reads) {
			if races(e) {
				return w.accessOf(e, false)
			}
		}
	}
	return nil
}
