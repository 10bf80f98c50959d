package cuda

// drop adds what an unreachable program held to dropped. The runtime calls it on another
// goroutine.
func (d *Device) drop(h *held) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dropped = append(d.dropped, h)
}

// reclaim frees what unreachable programs held.
func (d *Device) reclaim() error {
	d.mu.Lock()
	dropped := d.dropped
	d.dropped = nil
	d.mu.Unlock()
	for _, h := range dropped {
		for _, x := range append(h.instances, h.measured...) {
			if err := d.closeInstance(x); err != nil {
				return err
			}
		}
		if h.words != 0 {
			if err := d.ctx.Free(h.words, d.stream); err != nil {
				return err
			}
		}
		if h.faults != 0 {
			if err := d.ctx.Free(h.faults, d.stream); err != nil {
				return err
			}
		}
	}
	return nil
}
