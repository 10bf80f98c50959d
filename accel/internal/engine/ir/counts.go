package ir

// DeviceCounts counts the calls to an asynchronous device. All counts of the CPU are 0.
type DeviceCounts struct {
	Launches  int // kernels and graphs that the host launched
	Kernels   int // kernels that ran, including those of graphs
	Copies    int // between host and device, and on the device
	ToDevice  int // bytes copied
	ToHost    int // bytes copied
	Waits     int // times the host waited for the device
	Allocs    int // allocations by the driver
	Frees     int // frees by the driver
	Graphs    int // graphs created
	Revisions int // graph kernels updated with other addresses
}

// Counting is implemented by a device that counts calls.
type Counting interface {
	// DeviceCounts returns the counts since the device was opened.
	DeviceCounts() DeviceCounts
}

// Waiting is implemented by an asynchronous device.
type Waiting interface {
	// Wait waits until all work is done and returns its error.
	Wait() error
}

// Wait runs the list and waits until the device has finished it. It panics as Flush does.
func (r *Recorder) Wait() {
	r.Flush()
	if d, ok := r.device.(Waiting); ok {
		r.stats.Syncs++
		if err := d.Wait(); err != nil {
			panic(r.failed(err))
		}
	}
}

// Minus returns the difference from earlier counts.
func (c DeviceCounts) Minus(b DeviceCounts) DeviceCounts {
	return DeviceCounts{
		c.Launches - b.Launches, c.Kernels - b.Kernels, c.Copies - b.Copies, c.ToDevice - b.ToDevice, c.ToHost - b.ToHost,
		c.Waits - b.Waits, c.Allocs - b.Allocs, c.Frees - b.Frees, c.Graphs - b.Graphs, c.Revisions - b.Revisions,
	}
}

// deviceCounts returns the counts of the current device.
func (r *Recorder) deviceCounts() DeviceCounts {
	if d, ok := r.device.(Counting); ok {
		return d.DeviceCounts()
	}
	return DeviceCounts{}
}
