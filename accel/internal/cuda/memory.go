package cuda

import (
	"cmp"
	"errors"
	"math/bits"
	"runtime"
	"slices"
	"sync"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/ir"
)

// storage is memory of the device.
type storage struct {
	at      driver.Pointer
	size    int    // bytes that were asked for
	room    int    // bytes that there are
	written uint64 // the mark behind the last work that writes it
}

// Size is the number of bytes.
func (s *storage) Size() int { return s.size }

// block is memory of the device without anybody who uses it.
type block struct {
	at   driver.Pointer
	room int
}

// pool hands memory out again that was freed. All work is on one stream, so what
// is handed out again is written only when the work that still reads it is done.
type pool struct {
	device string
	ctx    driver.Context
	stream driver.Stream
	idle   map[int][]*storage // by room, the lowest address last

	mu   sync.Mutex
	lost []block // of storages that nobody can reach any more, guarded by mu
}

func newPool(device string, ctx driver.Context, stream driver.Stream) *pool {
	return &pool{device: device, ctx: ctx, stream: stream, idle: map[int][]*storage{}}
}

// roomFor rounds a size up to one of four between two powers of two, so that sizes
// that are nearly equal share memory, and at most a quarter is wasted.
func roomFor(bytes int) int {
	const least = 512
	if bytes <= least {
		return least
	}
	step := 1 << (bits.Len(uint(bytes-1)) - 3)
	return max(least, (bytes+step-1)/step*step)
}

func (p *pool) alloc(bytes int) (*storage, error) {
	room := roomFor(bytes)
	if len(p.idle[room]) == 0 {
		for _, b := range p.found() {
			p.free(p.storage(b))
		}
	}
	if list := p.idle[room]; len(list) > 0 {
		s := list[len(list)-1]
		list[len(list)-1] = nil
		p.idle[room] = list[:len(list)-1]
		s.size, s.written = bytes, 0
		return s, nil
	}
	at, err := p.raw(room)
	if err != nil {
		return nil, err
	}
	s := p.storage(block{at, room})
	s.size = bytes
	return s, nil
}

// storage is what holds a block until nobody can reach it any more.
func (p *pool) storage(b block) *storage {
	s := &storage{at: b.at, room: b.room}
	runtime.AddCleanup(s, p.drop, b)
	return s
}

// raw gives memory that was not handed out before.
func (p *pool) raw(bytes int) (driver.Pointer, error) {
	at, err := p.ctx.Alloc(bytes, p.stream)
	if errors.Is(err, driver.OutOfMemory) { // once more with all that nobody uses
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

// drop notes memory of a storage that the garbage collector has found. It is called
// on another goroutine.
func (p *pool) drop(b block) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lost = append(p.lost, b)
}

// found is the memory that the garbage collector has found since the last time.
func (p *pool) found() []block {
	p.mu.Lock()
	defer p.mu.Unlock()
	lost := p.lost
	p.lost = nil
	return lost
}

// free keeps s for later. What lies lowest is handed out first: then steps that ask
// for the same get the same addresses, in whatever order they freed them, and the
// graphs that have these addresses in them run as they are.
func (p *pool) free(s *storage) {
	list := p.idle[s.room]
	at, _ := slices.BinarySearchFunc(list, s.at, func(x *storage, at driver.Pointer) int { return cmp.Compare(at, x.at) })
	p.idle[s.room] = slices.Insert(list, at, s)
}

// trim gives all that nobody uses back to the system. The storages themselves are then found by
// the garbage collector.
func (p *pool) trim() error {
	clear(p.idle)
	ir.Collect()
	for _, b := range p.found() {
		if err := p.ctx.Free(b.at, p.stream); err != nil {
			return err
		}
	}
	if err := p.ctx.SyncStream(p.stream); err != nil {
		return err
	}
	return p.ctx.Trim()
}

// exhausted says that there is no more memory.
func (p *pool) exhausted(bytes int) error {
	free, _, err := p.ctx.MemoryInfo()
	if err != nil {
		free = -1
	}
	return &ir.OutOfMemoryError{Device: p.device, Need: bytes, Free: free}
}
