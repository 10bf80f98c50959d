package main

import (
	"time"

	"github.com/quernlab/quern/accel/internal/cpu"
	"github.com/quernlab/quern/accel/tensor"
)

// mostEmptied limits the bytes that empty the caches: a server's L3 is far larger, and other
// machines use it, too.
const mostEmptied = 64 << 20

// emptyingBytes returns how many bytes all cores together must change for nothing else to remain
// in their caches: twice as many as there is room for.
func emptyingBytes(c cpu.Caches, cores int) int {
	return min(2*max(c.L2.Size*cores, c.L3.Size), mostEmptied)
}

// ballast is what empties the caches of the cores, all of which change a part of it.
type ballast struct{ memory *tensor.Tensor }

func (b *ballast) empty(bytes int) {
	if b.memory == nil || b.memory.Size(0) != bytes/4 {
		b.memory = tensor.Zeros(bytes / 4)
	}
	b.memory.Assign(b.memory.AddScalar(1))
	tensor.Flush()
}

// runCold runs steps, before each of which it empties the caches.
func (b *ballast) runCold(work workload, q request) (a reply, err error) {
	for range q.Steps {
		b.empty(q.Empty)
		start := time.Now()
		if err := work.step(); err != nil {
			return a, err
		}
		tensor.Synchronize()
		a.Seconds += time.Since(start).Seconds()
	}
	return a, nil
}
