package ir

// DeviceCounts is what was asked of a device that works while the host goes on. All
// are 0 of the processor.
type DeviceCounts struct {
	Launches  int // kernels and graphs that the host started
	Kernels   int // that ran, those of graphs among them
	Copies    int // between host and device, and on the device
	ToDevice  int // bytes copied
	ToHost    int // bytes copied
	Waits     int // times that the host waited for the device
	Allocs    int // pieces of memory asked of the driver
	Frees     int // given back
	Graphs    int // made
	Revisions int // kernels of graphs that were given other addresses
}

// Counting is implemented by a device that counts.
type Counting interface {
	// Asked is the counts since the device was opened.
	Asked() DeviceCounts
}

// Waiting is implemented by a device that works while the host goes on.
type Waiting interface {
	// Wait ends when all work is done; the error is what that met.
	Wait() error
}

// Wait runs the list and waits until the device has done it. It panics as Flush
// does.
func (r *Recorder) Wait() {
	r.Flush()
	if d, ok := r.device.(Waiting); ok {
		r.stats.Syncs++
		if err := d.Wait(); err != nil {
			panic(r.failed(err))
		}
	}
}

// Minus is the counts since earlier ones.
func (c DeviceCounts) Minus(b DeviceCounts) DeviceCounts {
	return DeviceCounts{
		c.Launches - b.Launches, c.Kernels - b.Kernels, c.Copies - b.Copies, c.ToDevice - b.ToDevice, c.ToHost - b.ToHost,
		c.Waits - b.Waits, c.Allocs - b.Allocs, c.Frees - b.Frees, c.Graphs - b.Graphs, c.Revisions - b.Revisions,
	}
}

// asked is what was asked of the present device.
func (r *Recorder) asked() DeviceCounts {
	if d, ok := r.device.(Counting); ok {
		return d.Asked()
	}
	return DeviceCounts{}
}
