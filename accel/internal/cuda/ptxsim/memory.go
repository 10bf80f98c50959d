package ptxsim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"unsafe"
)

// ErrOutOfMemory is returned when a Memory has reached its limit.
var ErrOutOfMemory = errors.New("out of device memory")

// AddressError is a host access outside all allocations.
type AddressError struct {
	Address uint64
	Bytes   int
}

func (e *AddressError) Error() string {
	return fmt.Sprintf("%d bytes at %#x are not within one allocation", e.Bytes, e.Address)
}

// The first address of device memory, as on a GPU. Generic addresses of the other spaces
// are in windows above.
const (
	firstAddress = 0x7f00_0000_0000
	sharedWindow = 1 << 48
	localWindow  = 2 << 48
	paramWindow  = 3 << 48
	windowBytes  = 1 << 32
)

// entryBase is the offset of an entry's parameters in the parameter space. Those of
// functions are below, with local memory.
const entryBase = 1 << 24

// allocationAlign is the alignment of cuMemAlloc; guardGap is the gap between allocations,
// so that overruns fault.
const (
	allocationAlign = 256
	guardGap        = 4096
)

// Memory is the memory of a device. Host calls and runs may access it at the same time, but
// not on the same bytes.
type Memory struct {
	mutex   sync.Mutex
	regions atomic.Pointer[[]*region] // sorted by address; never changed in place
	next    uint64
	used    int
	limit   int
	empty   bool // see NewAddresses
}

// region is one allocation.
type region struct {
	base    uint64
	size    int
	data    []byte // none without content
	written []byte // 1 for each byte that was written
	fixed   bool   // .const variable
}

// NewMemory returns a memory with a size in bytes.
func NewMemory(limit int) *Memory {
	m := &Memory{next: firstAddress, limit: limit}
	m.regions.Store(&[]*region{})
	return m
}

// NewAddresses returns a memory of any size without content: what is written is dropped, and what is read has all bits set.
// No kernel can run in it.
func NewAddresses(limit int) *Memory {
	m := NewMemory(limit)
	m.empty = true
	return m
}

func newRegion(base uint64, bytes int) *region {
	data := wholeWords(bytes)
	mark(data, 0xff) // a NaN, whatever the type
	return &region{base: base, size: bytes, data: data, written: wholeWords(bytes)}
}

// wholeWords allocates bytes as part of words, so that atomic operations on words have the
// alignment and size that they need.
func wholeWords(bytes int) []byte {
	words := make([]uint64, (bytes+7)/8+1)
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), bytes)
}

// wordAt returns the word that contains a byte, and the byte's shift in it.
func wordAt(b []byte, at int) (word *uint32, shift int) {
	return (*uint32)(unsafe.Pointer(uintptr(unsafe.Pointer(unsafe.SliceData(b))) + uintptr(at&^3))), 8 * (at & 3)
}

// loadAtomic reads 1, 2, 4 or 8 bytes that other blocks may be writing.
func loadAtomic(b []byte, at, n int) uint64 {
	if n == 8 {
		return atomic.LoadUint64((*uint64)(unsafe.Pointer(&b[at])))
	}
	word, shift := wordAt(b, at)
	return uint64(atomic.LoadUint32(word)) >> shift & lowBits(8*n)
}

// changeAtomic replaces 1, 2, 4 or 8 bytes and returns the old ones.
func changeAtomic(b []byte, at, n int, f func(old uint64) uint64) uint64 {
	if n == 8 {
		for p := (*uint64)(unsafe.Pointer(&b[at])); ; {
			old := atomic.LoadUint64(p)
			if atomic.CompareAndSwapUint64(p, old, f(old)) {
				return old
			}
		}
	}
	word, shift := wordAt(b, at)
	field := uint32(lowBits(8*n)) << shift
	for {
		whole := atomic.LoadUint32(word)
		old := uint64(whole & field >> shift)
		if atomic.CompareAndSwapUint32(word, whole, whole&^field|uint32(f(old))<<shift) {
			return old
		}
	}
}

// Alloc allocates uninitialized memory.
func (m *Memory) Alloc(bytes int) (uint64, error) {
	address, err := m.Reserve(bytes)
	if err != nil {
		return 0, err
	}
	m.Commit(address, bytes)
	return address, nil
}

// Reserve reserves addresses for an allocation. Accesses fault until Commit.
func (m *Memory) Reserve(bytes int) (uint64, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if bytes <= 0 {
		return 0, fmt.Errorf("allocation of %d bytes: the size must be positive", bytes)
	}
	size := roundUp(bytes, allocationAlign)
	if m.used+size > m.limit {
		return 0, fmt.Errorf("%w: %d bytes requested, %d of %d are free", ErrOutOfMemory, bytes, m.limit-m.used, m.limit)
	}
	m.used += size
	address := m.next
	m.next += uint64(size + guardGap)
	return address, nil
}

// Commit makes reserved memory usable.
func (m *Memory) Commit(address uint64, bytes int) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	list := slices.Clone(*m.regions.Load())
	i, _ := slices.BinarySearchFunc(list, address, compareBase)
	r := &region{base: address, size: bytes}
	if !m.empty {
		r = newRegion(address, bytes)
	}
	list = slices.Insert(list, i, r)
	m.regions.Store(&list)
}

func compareBase(r *region, address uint64) int { return cmp.Compare(r.base, address) }

// Free frees memory of Alloc.
func (m *Memory) Free(address uint64) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	list := *m.regions.Load()
	i, found := slices.BinarySearchFunc(list, address, compareBase)
	if !found {
		return &AddressError{Address: address}
	}
	m.used -= roundUp(list[i].size, allocationAlign)
	list = slices.Delete(slices.Clone(list), i, i+1)
	m.regions.Store(&list)
	return nil
}

// Info returns the free and the total memory in bytes.
func (m *Memory) Info() (free, total int) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.limit - m.used, m.limit
}

// find returns the allocation at or before an address, or nil.
func (m *Memory) find(address uint64) *region {
	list := *m.regions.Load()
	i := sort.Search(len(list), func(i int) bool { return list[i].base > address }) - 1
	if i < 0 {
		return nil
	}
	return list[i]
}

// span returns the bytes of an allocation starting at an address.
func (m *Memory) span(address uint64, bytes int) (*region, int, error) {
	r := m.find(address)
	if r == nil || bytes < 0 || address-r.base > uint64(r.size) || int(address-r.base)+bytes > r.size {
		return nil, 0, &AddressError{address, bytes}
	}
	return r, int(address - r.base), nil
}

// Write copies host bytes to the memory. It fails with an *AddressError.
func (m *Memory) Write(address uint64, source []byte) error {
	r, at, err := m.span(address, len(source))
	if err != nil || m.empty {
		return err
	}
	copy(r.data[at:], source)
	mark(r.written[at:at+len(source)], 1)
	return nil
}

// Read copies memory to the host; uninitialized bytes are 0xff. It fails with an
// *AddressError.
func (m *Memory) Read(destination []byte, address uint64) error {
	r, at, err := m.span(address, len(destination))
	if err != nil {
		return err
	}
	if m.empty {
		mark(destination, 0xff)
		return nil
	}
	copy(destination, r.data[at:])
	return nil
}

// Written reports whether all of the bytes were written.
func (m *Memory) Written(address uint64, bytes int) (bool, error) {
	r, at, err := m.span(address, bytes)
	if err != nil {
		return false, err
	}
	return !slices.Contains(r.written[at:at+bytes], 0), nil
}

// Copy copies within the memory; uninitialized bytes stay uninitialized.
func (m *Memory) Copy(destination, source uint64, bytes int) error {
	from, i, err := m.span(source, bytes)
	if err != nil {
		return err
	}
	to, j, err := m.span(destination, bytes)
	if err != nil || m.empty {
		return err
	}
	copy(to.data[j:j+bytes], from.data[i:])
	copy(to.written[j:j+bytes], from.written[i:])
	return nil
}

func mark(b []byte, v byte) {
	for i := range b {
		b[i] = v
	}
}

// around describes the location of an address, for a fault.
func (m *Memory) around(address uint64) string {
	r := m.find(address)
	if r == nil || address-r.base > uint64(len(r.data))+guardGap {
		return "there is no allocation near"
	}
	return fmt.Sprintf("offset %d of an allocation of %d bytes", address-r.base, len(r.data))
}

// global returns the allocation and offset of a lane's access, which must be within one
// allocation and aligned. It caches the allocation.
func (w *warp) global(lane int, address uint64, bytes, align int, cache **region) (*region, int) {
	if w.early>>lane&1 != 0 {
		panic(w.accessFault(TooEarly, lane, "global", address, bytes, "the thread has not executed griddepcontrol.wait"))
	}
	if address&uint64(align-1) != 0 {
		panic(w.accessFault(Misaligned, lane, "global", address, bytes, "not a multiple of %d", align))
	}
	if r := *cache; r != nil {
		if at := address - r.base; at < uint64(len(r.data)) && int(at)+bytes <= len(r.data) {
			return r, int(at)
		}
	}
	r, at, err := w.block.memory.span(address, bytes)
	if err != nil {
		panic(w.accessFault(OutOfBounds, lane, "global", address, bytes, "%s", w.block.memory.around(address)))
	}
	*cache = r
	return r, at
}

// unwritten stops a read of uninitialized memory.
func (w *warp) unwritten(lane int, r *region, at, bytes int) {
	if i := slices.Index(r.written[at:at+bytes], 0); i >= 0 {
		panic(w.accessFault(Uninitialized, lane, "global", r.base+uint64(at), bytes, "byte %d of %s was never written", i, w.block.memory.around(r.base+uint64(at))))
	}
}
