package ir

import "github.com/quernlab/quern/accel/internal/engine/tensortype"

// Switch runs the list and makes later ones run on another device. Values move when a list
// reads them; others stay where they are. The caller keeps the old device open while such
// values exist.
func (r *Recorder) Switch(d Device) {
	r.Flush()
	r.device = d
	r.before = r.deviceCounts()
	r.plans = newPlanCache()
	r.stats.PlanBytes = 0
}

// failed gives a device error its type.
func (r *Recorder) failed(err error) error { return tensortype.OfDevice(r.device.Name(), err) }

// Device returns the device that lists run on.
func (r *Recorder) Device() Device { return r.device }

// bring moves the values that the list reads to the device that it runs on, in whole
// buffers, so that all views of a buffer stay valid. It panics with the device's error.
func (r *Recorder) bring() {
	var room []byte
	for _, x := range r.externals {
		b := x.buf
		if b.device == r.device {
			continue
		}
		n := b.Storage.Size()
		if cap(room) < n {
			room = make([]byte, n)
		}
		if err := b.device.Read(room[:n], b.Storage, 0); err != nil {
			panic(tensortype.OfDevice(b.device.Name(), err))
		}
		s, err := r.device.Alloc(n)
		if err != nil {
			panic(r.failed(err))
		}
		if err := r.device.Write(s, 0, room[:n]); err != nil {
			panic(r.failed(err))
		}
		b.device.Free(b.Storage)
		b.Storage, b.device, b.exposed = s, r.device, false
	}
}
