package fakelib

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"sync"
	"time"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/cuda/library"
	"github.com/quernlab/quern/accel/internal/cuda/nccl"
	"github.com/quernlab/quern/accel/internal/cuda/ptxsim"
)

// NCCL is a fake of NCCL between contexts of package fake, in one process or in several. The
// rank that creates the id adds up what all ranks send to it.
type NCCL struct {
	Context fake.FuncLauncher
	// Refuses has the names of functions whose calls fail.
	Refuses map[string]bool
	// Takes is how long a sum takes.
	Takes time.Duration
}

var _ nccl.Library = (*NCCL)(nil)

// OpenNCCL opens the fake for a context of package fake.
func OpenNCCL(ctx driver.Context) (nccl.Library, error) {
	return &NCCL{Context: ctx.(fake.FuncLauncher)}, nil
}

// Version returns a version that the back end supports.
func (l *NCCL) Version() string { return "2.27.3" }

func refusedSum(call, format string, args ...any) error {
	return &library.CallError{Library: library.NCCL, Call: call, Code: 4, Status: "invalid argument", Words: fmt.Sprintf(format, args...)}
}

// NewID returns the address of a hub that ranks join.
func (l *NCCL) NewID() (id nccl.ID, err error) {
	if l.Refuses["ncclGetUniqueId"] {
		return id, refusedSum("ncclGetUniqueId", "as the test wants")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return id, err
	}
	if err := listener.(*net.TCPListener).SetDeadline(time.Now().Add(time.Minute)); err != nil { // if ranks do not join
		return id, err
	}
	copy(id[:], listener.Addr().String())
	go hub(listener) // ends with the connections of its ranks
	return id, nil
}

// hub sums elements in the order of the ranks. A rank sends its number and the size of the
// group when it joins, and for each sum the number of elements, followed by the elements.
func hub(listener net.Listener) {
	var conns []net.Conn
	defer func() {
		_ = listener.Close()
		for _, c := range conns {
			if c != nil {
				_ = c.Close()
			}
		}
	}()
	for came := 0; conns == nil || came < len(conns); came++ {
		c, err := listener.Accept()
		if err != nil {
			return
		}
		var who [2]uint64 // rank and size
		if err := binary.Read(c, binary.LittleEndian, &who); err != nil {
			return
		}
		if conns == nil {
			conns = make([]net.Conn, who[1])
		}
		if int(who[1]) != len(conns) || who[0] >= who[1] || conns[who[0]] != nil {
			return
		}
		conns[who[0]] = c
	}
	for _, c := range conns {
		if _, err := c.Write([]byte{1}); err != nil { // all have joined
			return
		}
	}
	for {
		var sum []float64
		for r, c := range conns {
			var n uint64
			if err := binary.Read(c, binary.LittleEndian, &n); err != nil {
				return
			}
			if r == 0 {
				sum = make([]float64, n)
			}
			if int(n) != len(sum) {
				return
			}
			part := make([]float64, n)
			if err := binary.Read(c, binary.LittleEndian, part); err != nil {
				return
			}
			for i, v := range part {
				sum[i] += v
			}
		}
		for _, c := range conns {
			if err := binary.Write(c, binary.LittleEndian, sum); err != nil {
				return
			}
		}
	}
}

// Join waits for the other ranks.
func (l *NCCL) Join(ctx context.Context, id nccl.ID, rank, size int) (nccl.Communicator, error) {
	if l.Refuses["ncclCommInitRankConfig"] || rank < 0 || rank >= size {
		return nil, refusedSum("ncclCommInitRankConfig", "rank %d of %d", rank, size)
	}
	address, _, _ := cut(id[:])
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	err = binary.Write(conn, binary.LittleEndian, [2]uint64{uint64(rank), uint64(size)})
	if err == nil {
		_, err = io.ReadFull(conn, make([]byte, 1))
	}
	if err != nil {
		return nil, errors.Join(ctx.Err(), err, conn.Close())
	}
	return &communicator{library: l, conn: conn}, nil
}

func cut(b []byte) (before string, after []byte, found bool) {
	for i, c := range b {
		if c == 0 {
			return string(b[:i]), b[i:], true
		}
	}
	return string(b), nil, false
}

// communicator is a rank's connection to the hub.
type communicator struct {
	library *NCCL
	conn    net.Conn

	mu     sync.Mutex
	failed error // guarded by mu
}

func (c *communicator) Sum(_ context.Context, s driver.Stream, at driver.Pointer, count int, t nccl.Type) error {
	width := map[nccl.Type]int{nccl.Float32: 4, nccl.Float64: 8}[t]
	switch {
	case c.library.Refuses["ncclAllReduce"]:
		return refusedSum("ncclAllReduce", "as the test wants")
	case width == 0:
		return refusedSum("ncclAllReduce", "type %d", t)
	case uint64(at)%uint64(width) != 0:
		return refusedSum("ncclAllReduce", "memory at %#x", at)
	}
	return c.library.Context.LaunchFunc(s, "ncclAllReduce", c.library.Takes, func(m *ptxsim.Memory) error {
		raw := make([]byte, count*width)
		if ok, err := m.Written(uint64(at), len(raw)); err != nil {
			return err
		} else if !ok {
			return &unwrittenError{at, len(raw)}
		}
		if err := m.Read(raw, uint64(at)); err != nil {
			return err
		}
		values := make([]float64, count)
		for i := range values {
			if width == 4 {
				values[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])))
			} else {
				values[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
			}
		}
		err := binary.Write(c.conn, binary.LittleEndian, uint64(count))
		if err == nil {
			err = binary.Write(c.conn, binary.LittleEndian, values)
		}
		if err == nil {
			err = binary.Read(c.conn, binary.LittleEndian, values)
		}
		if err != nil { // as on a GPU, where an aborted kernel ends without a result
			c.mu.Lock()
			defer c.mu.Unlock()
			c.failed = refusedSum("ncclAllReduce", "a rank is gone: %v", err)
			return nil
		}
		raw = raw[:0]
		for _, v := range values {
			if width == 4 {
				raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(v)))
			} else {
				raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
			}
		}
		return m.Write(uint64(at), raw)
	})
}

func (c *communicator) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

func (c *communicator) Abort() error {
	_ = c.conn.Close() // it may be closed already
	return nil
}

func (c *communicator) Close() error { return c.Abort() }
