package cuda

import "github.com/quernlab/quern/accel/internal/cuda/driver"

// The pieces of host memory from which data are copied to the device.
const (
	stagingPieces = 8
	stagingBytes  = 1 << 20
)

// staging is pinned host memory that goes around: the host fills one piece while
// others are being copied, and waits only when all are.
type staging struct {
	ctx    driver.Context
	stream driver.Stream
	pieces [stagingPieces][]byte
	copied [stagingPieces]driver.Event
	used   [stagingPieces]bool
	next   int
	filled int // bytes of the next piece that copies under way read
}

func newStaging(ctx driver.Context, stream driver.Stream) (s *staging, err error) {
	s = &staging{ctx: ctx, stream: stream}
	for i := range s.pieces {
		if s.pieces[i], err = ctx.AllocHost(stagingBytes); err != nil {
			return nil, err
		}
		if s.copied[i], err = ctx.NewEvent(false); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// write copies src to the device, behind the stream's present work.
func (s *staging) write(dst driver.Pointer, src []byte) error {
	for len(src) > 0 {
		if s.filled == stagingBytes {
			if err := s.turn(); err != nil {
				return err
			}
		}
		piece := s.pieces[s.next][s.filled:]
		n := copy(piece, src)
		if err := s.ctx.CopyToDevice(dst, piece[:n], s.stream); err != nil {
			return err
		}
		src, dst = src[n:], dst+driver.Pointer(n)
		s.filled = min(stagingBytes, (s.filled+n+63)/64*64)
	}
	return nil
}

// turn goes on to the next piece, when its copies are done.
func (s *staging) turn() error {
	if err := s.ctx.Record(s.copied[s.next], s.stream); err != nil {
		return err
	}
	s.used[s.next] = true
	s.next = (s.next + 1) % stagingPieces
	s.filled = 0
	if !s.used[s.next] {
		return nil
	}
	if done, err := s.ctx.Done(s.copied[s.next]); done || err != nil {
		return err
	}
	return s.ctx.SyncEvent(s.copied[s.next])
}
