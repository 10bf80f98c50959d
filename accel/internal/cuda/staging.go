package cuda

import "github.com/quernlab/quern/accel/internal/cuda/driver"

// The pinned buffers from which data are copied to the device.
const (
	stagingBuffers = 8
	stagingBytes   = 1 << 20
)

// staging is a ring of pinned buffers: the host fills one while others are being copied,
// and waits only if all are.
type staging struct {
	ctx     driver.Context
	stream  driver.Stream
	buffers [stagingBuffers][]byte
	copied  [stagingBuffers]driver.Event
	used    [stagingBuffers]bool
	next    int
	filled  int // bytes of the next buffer that are in use by copies
}

func newStaging(ctx driver.Context, stream driver.Stream) (s *staging, err error) {
	s = &staging{ctx: ctx, stream: stream}
	for i := range s.buffers {
		if s.buffers[i], err = ctx.AllocHost(stagingBytes); err != nil {
			return nil, err
		}
		if s.copied[i], err = ctx.NewEvent(false); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// write copies src to the device, in stream order.
func (s *staging) write(dst driver.Pointer, src []byte) error {
	for len(src) > 0 {
		if s.filled == stagingBytes {
			if err := s.advance(); err != nil {
				return err
			}
		}
		free := s.buffers[s.next][s.filled:]
		n := copy(free, src)
		if err := s.ctx.CopyToDevice(dst, free[:n], s.stream); err != nil {
			return err
		}
		src, dst = src[n:], dst+driver.Pointer(n)
		s.filled = min(stagingBytes, (s.filled+n+63)/64*64)
	}
	return nil
}

// advance switches to the next buffer when its copies are done.
func (s *staging) advance() error {
	if err := s.ctx.Record(s.copied[s.next], s.stream); err != nil {
		return err
	}
	s.used[s.next] = true
	s.next = (s.next + 1) % stagingBuffers
	s.filled = 0
	if !s.used[s.next] {
		return nil
	}
	if done, err := s.ctx.Done(s.copied[s.next]); done || err != nil {
		return err
	}
	return s.ctx.SyncEvent(s.copied[s.next])
}
