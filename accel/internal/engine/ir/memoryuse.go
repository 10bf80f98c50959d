package ir

// MemoryUse is the memory of values.
type MemoryUse struct {
	Allocated int // bytes of values that are reachable
	// Reserved is the bytes that the device holds. A GPU keeps freed blocks for later values, and the temporaries of
	// plans; on the CPU these are the values that are reachable or not collected yet, and the temporaries.
	Reserved int
	Peak     int // the most bytes of values and temporaries at once; values that are not collected yet count
	Limit    int // bytes that may be allocated, 0 if unknown
}

// Reserving is implemented by a device that keeps freed memory.
type Reserving interface {
	// Reserved returns the bytes that are allocated by the driver.
	Reserved() int
}

// MemoryUse collects unreachable values and returns the memory of the others.
func (r *Recorder) MemoryUse() MemoryUse {
	s := r.Stats()
	m := MemoryUse{Reserved: s.LiveBytes + s.PlanBytes, Peak: s.PeakBytes, Limit: r.limit}
	if d, ok := r.device.(Reserving); ok {
		m.Reserved = d.Reserved()
	}
	if d, ok := r.device.(Sized); ok && m.Limit == 0 {
		m.Limit = d.Memory()
	}
	const most = 4 // values freed by one collection may have kept others alive
	for range most {
		before := r.live.n.Load()
		if Collect(); r.live.n.Load() == before {
			break
		}
	}
	m.Allocated = int(r.live.n.Load())
	return m
}
