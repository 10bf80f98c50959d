package rt

import (
	"bytes"
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"

	"github.com/shirou/gopsutil/v4/mem"

	goruntime "github.com/quernlab/quern/interp/rt/internal/runtime"
)

// Allocate panics if n elements of size bytes do not fit into memory, because the
// runtime would end the process. It ignores small allocations. A negative n, or one
// that no slice can have, is left to Go's own panics.
func Allocate(n, size int) {
	if over, bytes := bits.Mul64(uint64(max(n, 0)), uint64(size)); bytes >= LargeAllocation && over == 0 && bytes <= math.MaxInt64 {
		allocate(int64(bytes))
	}
}

// LargeAllocation is the smallest number of bytes that Allocate checks. The memory
// watch of the session notices smaller allocations early enough.
const LargeAllocation = 64 << 20

// addressSpace is the most bytes that Go can address (maxAlloc of package runtime). For more, make panics by itself: the
// length is out of range.
const addressSpace = 1 << 48

func allocate(bytes int64) {
	limit := memoryLimit()
	if limit == 0 || bytes > addressSpace {
		return
	}
	inUse := heapInUse()
	if bytes <= limit && inUse+bytes > limit {
		runtime.GC() // some of it may be garbage
		inUse = heapInUse()
	}
	if inUse+bytes > limit {
		panic(goruntime.ErrorString(fmt.Sprintf("out of memory: cannot allocate %s: %s are in use, and the session may have %s",
			byteSize(bytes), byteSize(inUse), byteSize(limit))))
	}
}

// memoryLimit returns the memory limit of the Go runtime, or the memory of the
// machine if that is less; 0 where neither is known.
func memoryLimit() int64 {
	limit := debug.SetMemoryLimit(-1)
	if total := machineMemory(); total > 0 {
		limit = min(limit, total)
	}
	if limit == math.MaxInt64 {
		return 0
	}
	return limit
}

var machineMemory = sync.OnceValue(func() int64 {
	machine, err := mem.VirtualMemory()
	if err != nil {
		return 0
	}
	return int64(min(machine.Total, math.MaxInt64))
})

// heapInUse returns the size of all heap objects that the garbage collector has not freed.
func heapInUse() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// byteSize formats a number of bytes, for instance as "1.5 GiB".
func byteSize(bytes int64) string {
	if bytes >= 1<<30 {
		return fmt.Sprintf("%.3g GiB", float64(bytes)/(1<<30))
	}
	return fmt.Sprintf("%.3g MiB", float64(bytes)/(1<<20))
}

// repeatString is strings.Repeat with the check of Allocate.
func repeatString(s string, count int) string {
	Allocate(count, len(s))
	return strings.Repeat(s, count)
}

// repeatBytes is bytes.Repeat with the check of Allocate.
func repeatBytes(b []byte, count int) []byte {
	Allocate(count, len(b))
	return bytes.Repeat(b, count)
}

// growBuilder is the method Grow of a strings.Builder with the check of Allocate.
func growBuilder(b *strings.Builder, n int) {
	Allocate(n, 1)
	b.Grow(n)
}

// growBuffer is the method Grow of a bytes.Buffer with the check of Allocate.
func growBuffer(b *bytes.Buffer, n int) {
	Allocate(n, 1)
	b.Grow(n)
}
