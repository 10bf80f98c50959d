package fake

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/ptxsim"
)

// Alloc reserves memory, which becomes usable when the stream reaches the allocation.
func (c *context) Alloc(bytes int, s driver.Stream) (p driver.Pointer, err error) {
	err = c.on("Alloc", s, func(q *stream) error {
		if bytes <= 0 {
			return c.fail("Alloc", driver.InvalidValue, "%d bytes", bytes)
		}
		address, err := c.memory.Reserve(bytes)
		if errors.Is(err, ptxsim.ErrOutOfMemory) { // frees may be queued
			c.drain(nil)
			if c.broken != nil {
				return c.broken
			}
			address, err = c.memory.Reserve(bytes)
		}
		if err != nil {
			return &driver.Error{Code: driver.OutOfMemory, Call: calls["Alloc"], Op: fmt.Sprintf("%d bytes", bytes), Log: err.Error(), Cause: err}
		}
		c.counts.Allocs++
		c.live += bytes
		c.peak = max(c.peak, c.live)
		c.kept = max(0, c.kept-bytes)
		p = driver.Pointer(address)
		c.allocations[p] = bytes
		c.push(q, &command{call: "Alloc", run: func() error {
			c.memory.Commit(address, bytes)
			return nil
		}})
		return nil
	})
	return p, err
}

func (c *context) Free(p driver.Pointer, s driver.Stream) error {
	return c.on("Free", s, func(q *stream) error {
		if _, ok := c.allocations[p]; !ok {
			return c.fail("Free", driver.InvalidValue, "%#x was not allocated, or was already freed", p)
		}
		c.kept += c.allocations[p]
		c.live -= c.allocations[p]
		delete(c.allocations, p)
		c.counts.Frees++
		c.push(q, &command{call: "Free", run: func() error { return c.memory.Free(uint64(p)) }})
		return nil
	})
}

func (c *context) Trim() error {
	return c.call("Trim", func() error {
		c.kept = 0
		return nil
	})
}

func (c *context) MemoryInfo() (free, total int, err error) {
	err = c.call("MemoryInfo", func() error {
		free, total = c.memory.Info()
		free = max(0, free-c.kept)
		return nil
	})
	return free, total, err
}

func (c *context) AllocHost(bytes int) ([]byte, error) {
	return call(c, "AllocHost", func() ([]byte, error) {
		if bytes <= 0 {
			return nil, c.fail("AllocHost", driver.InvalidValue, "%d bytes", bytes)
		}
		b := make([]byte, bytes)
		c.hosts[&b[0]] = b
		return b, nil
	})
}

func (c *context) FreeHost(b []byte) error {
	return c.call("FreeHost", func() error {
		if len(b) == 0 || c.hosts[&b[0]] == nil {
			return c.fail("FreeHost", driver.InvalidValue, "the memory does not come from AllocHost, or was already freed")
		}
		for _, cmd := range c.waiting {
			for _, h := range cmd.hosts {
				if within(h, c.hosts[&b[0]]) {
					return c.fail("FreeHost", driver.InvalidValue, "a queued copy (%s) uses the memory", cmd.op)
				}
			}
		}
		delete(c.hosts, &b[0])
		return nil
	})
}

// within reports whether part lies within whole.
func within(part, whole []byte) bool {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(whole)))
	at := uintptr(unsafe.Pointer(unsafe.SliceData(part)))
	return at >= start && at+uintptr(len(part)) <= start+uintptr(len(whole))
}

// pinned reports whether memory comes from AllocHost.
func (c *context) pinned(b []byte) bool {
	for _, whole := range c.hosts {
		if within(b, whole) {
			return true
		}
	}
	return false
}

func (c *context) CopyToDevice(dst driver.Pointer, src []byte, s driver.Stream) error {
	return c.on("CopyToDevice", s, func(q *stream) error {
		if len(src) == 0 {
			return nil
		}
		c.counts.Copies++
		c.counts.BytesToDevice += len(src)
		cmd := &command{call: "CopyToDevice", op: fmt.Sprintf("copy of %d bytes to the device", len(src))}
		if c.pinned(src) {
			cmd.hosts = [][]byte{src}
		} else {
			src = append([]byte(nil), src...)
			c.counts.Syncs++
		}
		cmd.run = func() error { return c.memory.Write(uint64(dst), src) }
		c.push(q, cmd)
		return nil
	})
}

func (c *context) CopyToHost(dst []byte, src driver.Pointer, s driver.Stream) error {
	return c.on("CopyToHost", s, func(q *stream) error {
		if len(dst) == 0 {
			return nil
		}
		c.counts.Copies++
		c.counts.BytesToHost += len(dst)
		cmd := &command{call: "CopyToHost", op: fmt.Sprintf("copy of %d bytes to the host", len(dst)), hosts: [][]byte{dst}}
		cmd.run = func() error { return c.memory.Read(dst, uint64(src)) }
		c.push(q, cmd)
		if c.pinned(dst) {
			return nil
		}
		c.counts.Syncs++
		c.drain(cmd)
		return c.end()
	})
}

func (c *context) Copy(dst, src driver.Pointer, bytes int, s driver.Stream) error {
	return c.on("Copy", s, func(q *stream) error {
		if bytes == 0 {
			return nil
		}
		if bytes < 0 || dst < src+driver.Pointer(bytes) && src < dst+driver.Pointer(bytes) {
			return c.fail("Copy", driver.InvalidValue, "%d bytes from %#x to %#x overlap", bytes, src, dst)
		}
		c.counts.Copies++
		c.push(q, &command{call: "Copy", op: fmt.Sprintf("copy of %d bytes on the device", bytes), run: func() error {
			return c.memory.Copy(uint64(dst), uint64(src), bytes)
		}})
		return nil
	})
}

func (c *context) Fill(dst driver.Pointer, value uint32, width, count int, s driver.Stream) error {
	return c.on("Fill", s, func(q *stream) error {
		if count == 0 {
			return nil
		}
		if err := c.checkFill("Fill", dst, width, count); err != nil {
			return err
		}
		c.counts.Fills++
		c.push(q, &command{call: "Fill", op: fmt.Sprintf("fill of %d × %d bytes", count, width), run: func() error { return c.fill(dst, value, width, count) }})
		return nil
	})
}

func (c *context) checkFill(call string, dst driver.Pointer, width, count int) error {
	if width != 1 && width != 2 && width != 4 || count < 0 || uint64(dst)%uint64(width) != 0 {
		return c.fail(call, driver.InvalidValue, "%d elements of %d bytes at %#x", count, width, dst)
	}
	return nil
}

func (c *context) fill(dst driver.Pointer, value uint32, width, count int) error {
	if c.driver.counting {
		return nil
	}
	b := make([]byte, 0, width*count)
	for range count {
		switch width {
		case 1:
			b = append(b, byte(value))
		case 2:
			b = binary.LittleEndian.AppendUint16(b, uint16(value))
		case 4:
			b = binary.LittleEndian.AppendUint32(b, value)
		}
	}
	return c.memory.Write(uint64(dst), b)
}
