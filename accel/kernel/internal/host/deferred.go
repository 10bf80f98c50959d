package host

import (
	"sync"
	"unsafe"

	"github.com/quernlab/quern/accel/kernel/internal/program"
)

// An atomic operation on a tensor whose result is not used, in a kernel that does not access the tensor otherwise, is deferred: it is executed when
// those of all groups before are. So groups run in parallel, and sums of floats are the same in each run.

// deferrable reports whether all atomic operations of a program on tensors can be deferred.
func deferrable(p *program.Program) bool {
	used := scopesOf(p).used
	atomic, other := map[*program.Memory]bool{}, map[*program.Memory]bool{}
	for _, i := range p.Sites {
		switch {
		case i.Mem == nil || i.Mem.Space != program.Global:
		case isAtomic(i) && used[i.Dst]:
			return false
		case isAtomic(i):
			atomic[i.Mem] = true
		default:
			other[i.Mem] = true
		}
	}
	for m := range atomic {
		if other[m] {
			return false
		}
	}
	return true
}

func isAtomic(i *program.Instr) bool {
	return i.Op >= program.AtomicAdd && i.Op <= program.AtomicCAS
}

// operation is a deferred operation on an element.
type operation struct {
	access interface{ apply(o operation) }
	at     int
	x, y   uint64
}

// bitsOf returns a value in 64 bits, for valueOf.
func bitsOf[T any](x T) (bits uint64) {
	*(*T)(unsafe.Pointer(&bits)) = x
	return bits
}

func valueOf[T any](bits uint64) T { return *(*T)(unsafe.Pointer(&bits)) }

// deferred are the operations of groups.
type deferred struct {
	mutex sync.Mutex
	next  int                 // the first group of which the operations have not been executed
	all   map[int][]operation // of groups behind it
}

// ended executes the operations of a group that has ended, and of those behind it that have, when all groups before it have ended.
func (d *deferred) ended(group int, list []operation) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.all[group] = list
	for {
		list, ok := d.all[d.next]
		if !ok {
			return
		}
		for _, o := range list {
			o.access.apply(o)
		}
		delete(d.all, d.next)
		d.next++
	}
}
