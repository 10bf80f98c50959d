package cuda

import (
	"cmp"
	"errors"
	"math/bits"
	"runtime"
	"slices"
	"sync"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// storage is a block of device memory that is in use or in the pool.
type storage struct {
	at       driver.Pointer
	size     int    // bytes that were requested
	capacity int    // bytes of the block
	written  uint64 // the point in the timeline after the last work that writes it
}

// Size returns the number of bytes.
func (s *storage) Size() int { return s.size }

// block is device memory that belongs to no storage.
type block struct {
	at       driver.Pointer
	capacity int
}

// pool reuses freed memory. All work runs on one stream, so reused memory is written only
// after the work that still reads it.
type pool struct {
	device string
	ctx    driver.Context
	stream driver.Stream
	idle   map[int][]*storage // by capacity; the block with the lowest address last

	blocks  int // bytes of all blocks
	unused  int // bytes of those in idle
	collect int // bytes in use, or unreachable and not found yet, at which the latter are looked for

	mu   sync.Mutex
	lost []block // blocks of storages that the garbage collector has found; guarded by mu
}

func newPool(device string, ctx driver.Context, stream driver.Stream) *pool {
	p := &pool{device: device, ctx: ctx, stream: stream, idle: map[int][]*storage{}}
	p.plan()
	return p
}

// minCollect is the fraction of the device's memory below which nothing is collected.
const minCollect = 64

// plan sets when to look for unreachable blocks next. The garbage collector does not see the
// device's memory, so it would let a program fill all of it with tensors that are dropped but not
// released. As in Go's heap, they may take as much as those in use.
func (p *pool) plan() { p.collect = max(2*(p.blocks-p.unused), p.ctx.Info().Memory/minCollect) }

// sizeClass rounds a size up to one of four classes between two powers of two, so that
// similar sizes share blocks and at most a quarter is wasted.
func sizeClass(bytes int) int {
	const least = 512
	if bytes <= least {
		return least
	}
	step := 1 << (bits.Len(uint(bytes-1)) - 3)
	return max(least, (bytes+step-1)/step*step)
}

func (p *pool) alloc(bytes int) (*storage, error) {
	capacity := sizeClass(bytes)
	if len(p.idle[capacity]) == 0 {
		p.reuse()
	}
	if len(p.idle[capacity]) == 0 && p.blocks-p.unused+capacity > p.collect {
		ir.Collect()
		p.reuse()
		p.plan()
	}
	if list := p.idle[capacity]; len(list) > 0 {
		s := list[len(list)-1]
		list[len(list)-1] = nil
		p.idle[capacity] = list[:len(list)-1]
		p.unused -= capacity
		s.size, s.written = bytes, 0
		return s, nil
	}
	at, err := p.raw(capacity)
	if err != nil {
		return nil, err
	}
	p.blocks += capacity
	s := p.storage(block{at, capacity})
	s.size = bytes
	return s, nil
}

// reuse puts the blocks that the garbage collector has found into the pool.
func (p *pool) reuse() {
	for _, b := range p.found() {
		p.free(p.storage(b))
	}
}

// storage returns a storage for a block; the block goes to lost when the storage is
// unreachable.
func (p *pool) storage(b block) *storage {
	s := &storage{at: b.at, capacity: b.capacity}
	runtime.AddCleanup(s, p.drop, b)
	return s
}

// raw allocates memory from the driver.
func (p *pool) raw(bytes int) (driver.Pointer, error) {
	at, err := p.ctx.Alloc(bytes, p.stream)
	if errors.Is(err, driver.OutOfMemory) { // try again after trimming the pool
		if err := p.trim(); err != nil {
			return 0, err
		}
		at, err = p.ctx.Alloc(bytes, p.stream)
	}
	if errors.Is(err, driver.OutOfMemory) {
		return 0, p.exhausted(bytes)
	}
	return at, err
}

// drop adds a block to lost. The runtime calls it on another goroutine.
func (p *pool) drop(b block) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lost = append(p.lost, b)
}

// found returns and clears lost.
func (p *pool) found() []block {
	p.mu.Lock()
	defer p.mu.Unlock()
	lost := p.lost
	p.lost = nil
	return lost
}

// free puts s into the pool. The lowest address is reused first: then steps that request
// the same sizes get the same addresses, in whatever order they freed them, and their
// graphs need no update.
func (p *pool) free(s *storage) {
	p.unused += s.capacity
	list := p.idle[s.capacity]
	at, _ := slices.BinarySearchFunc(list, s.at, func(x *storage, at driver.Pointer) int { return cmp.Compare(at, x.at) })
	p.idle[s.capacity] = slices.Insert(list, at, s)
}

// trim returns all unused memory to the system. After an error it goes on with the other
// blocks, unless the device is lost.
func (p *pool) trim() error {
	clear(p.idle)
	p.unused = 0
	ir.Collect()
	var failed []error
	for _, b := range p.found() {
		err := p.ctx.Free(b.at, p.stream)
		p.blocks -= b.capacity
		failed = append(failed, err)
		if driver.Lost(err) {
			return errors.Join(failed...)
		}
	}
	p.plan()
	failed = append(failed, p.ctx.SyncStream(p.stream), p.ctx.Trim())
	return errors.Join(failed...)
}

// exhausted returns the error of an allocation of some bytes that failed.
func (p *pool) exhausted(bytes int) error {
	free, _, err := p.ctx.MemoryInfo()
	if err != nil {
		free = -1
	}
	return &ir.OutOfMemoryError{Device: p.device, Need: bytes, Free: free}
}
