package fakelib

import (
	"context"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"

	"net"
	"strings"
	"sync"
	"time"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/cuda/library"
	"github.com/quernlab/quern/accel/internal/cuda/nccl"
	"github.com/quernlab/quern/accel/internal/cuda/ptxsim"
)

// NCCL is a fake of NCCL between contexts of package fake, in one process or in several. The
// process of the rank that creates the id passes on and adds up what all ranks send to it.
//
// As with NCCL, a call that other ranks do not make blocks its stream until Abort, a Send ends
// only with its Recv, and the sends and receives of a group progress together.
type NCCL struct {
	Context fake.FuncLauncher
	// Refuses has the names of functions whose calls fail.
	Refuses map[string]bool
	// Takes is how long a call takes.
	Takes time.Duration

	mu    sync.Mutex
	calls map[nccl.Op]Calls // guarded by mu
}

// Calls counts calls of a function.
type Calls struct {
	Calls int
	Bytes int // that this rank contributes or gets, whichever is less
}

// Count returns the calls of a function so far.
func (l *NCCL) Count(op nccl.Op) Calls {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls[op]
}

func (l *NCCL) count(op nccl.Op, bytes int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.calls == nil {
		l.calls = map[nccl.Op]Calls{}
	}
	c := l.calls[op]
	l.calls[op] = Calls{c.Calls + 1, c.Bytes + bytes}
}

var _ nccl.Library = (*NCCL)(nil)

// OpenNCCL opens the fake for a context of package fake.
func OpenNCCL(ctx driver.Context) (nccl.Library, error) {
	return &NCCL{Context: ctx.(fake.FuncLauncher)}, nil
}

// Version returns a version that the back end supports.
func (l *NCCL) Version() string { return "2.27.3" }

func refusedCall(call, format string, args ...any) error {
	return &library.CallError{Library: library.NCCL, Call: call, Code: 4, Status: "invalid argument", Words: fmt.Sprintf(format, args...)}
}

// NewID returns the address of a hub that ranks join.
func (l *NCCL) NewID() (id nccl.ID, err error) {
	if l.Refuses["ncclGetUniqueId"] {
		return id, refusedCall("ncclGetUniqueId", "as the test wants")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return id, err
	}
	if err := listener.(*net.TCPListener).SetDeadline(time.Now().Add(time.Minute)); err != nil { // if ranks do not join
		return id, err
	}
	copy(id[:], listener.Addr().String())
	go serveHub(listener) // ends with the connections of its ranks
	return id, nil
}

// Join waits for the other ranks.
func (l *NCCL) Join(ctx context.Context, id nccl.ID, rank, size int) (nccl.Communicator, error) {
	if l.Refuses["ncclCommInitRankConfig"] || rank < 0 || rank >= size {
		return nil, refusedCall("ncclCommInitRankConfig", "rank %d of %d", rank, size)
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
	return &communicator{library: l, conn: conn, in: gob.NewDecoder(conn), out: gob.NewEncoder(conn), rank: rank, size: size}, nil
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
	library    *NCCL
	conn       net.Conn
	in         *gob.Decoder
	out        *gob.Encoder
	rank, size int

	mu     sync.Mutex
	failed error // guarded by mu
}

// widths are the sizes of the elements of the types.
var widths = map[nccl.Type]int{nccl.Bytes: 1, nccl.Float32: 4, nccl.Float64: 8}

// check returns an error for what NCCL, or the real hardware, does not allow.
func (c *communicator) check(l nccl.Call, group bool) error {
	width := widths[l.Type]
	from, to := l.Count*width, l.Count*width
	at := uint64(l.Count * width * c.rank) // where a part is in place
	inPlace := l.From == l.To
	switch l.Op {
	case nccl.ReduceScatter:
		from *= c.size
		inPlace = uint64(l.To) == uint64(l.From)+at
	case nccl.AllGather:
		to *= c.size
		inPlace = uint64(l.From) == uint64(l.To)+at
	}
	name := l.Op.String()
	switch {
	case c.library.Refuses[name]:
		return refusedCall(name, "as the test wants")
	case width == 0 || l.Op.Reduces() && l.Type == nccl.Bytes:
		return refusedCall(name, "type %d", l.Type)
	case uint64(l.From)%uint64(width) != 0 || uint64(l.To)%uint64(width) != 0:
		return refusedCall(name, "memory at %#x and %#x", l.From, l.To)
	case l.Peer < 0 || l.Peer >= c.size:
		return refusedCall(name, "rank %d of %d", l.Peer, c.size)
	case (l.Op == nccl.Send || l.Op == nccl.Recv) && l.Peer == c.rank && !group:
		return refusedCall(name, "this rank, without a group")
	case l.From != 0 && l.To != 0 && !inPlace && uint64(l.From) < uint64(l.To)+uint64(to) && uint64(l.To) < uint64(l.From)+uint64(from):
		return refusedCall(name, "memory at %#x and %#x overlaps", l.From, l.To)
	}
	return nil
}

// Queue sends what the calls read to the hub, and writes what comes back.
func (c *communicator) Queue(_ context.Context, s driver.Stream, calls ...nccl.Call) error {
	var names []string
	for _, l := range calls {
		if err := c.check(l, len(calls) > 1); err != nil {
			return err
		}
		names = append(names, l.Op.String())
	}
	for _, l := range calls {
		c.library.count(l.Op, l.Count*widths[l.Type])
	}
	name := strings.Join(names, "+")
	return c.library.Context.LaunchFunc(s, name, c.library.Takes, func(m *ptxsim.Memory) error {
		var requests []hubCall
		for _, l := range calls {
			r := hubCall{Op: l.Op, Type: l.Type, Peer: l.Peer, Bytes: l.Count * widths[l.Type]}
			var err error
			switch {
			case l.Op == nccl.Recv || l.Op == nccl.Broadcast && l.Peer != c.rank:
			case l.Op == nccl.ReduceScatter:
				r.Data, err = written(m, l.From, r.Bytes*c.size)
			default:
				r.Data, err = written(m, l.From, r.Bytes)
			}
			if err != nil {
				return err
			}
			requests = append(requests, r)
		}
		answers, err := c.exchange(requests)
		if err != nil { // as on a GPU, where an aborted kernel ends without a result
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.failed == nil {
				c.failed = refusedCall(name, "%v", err)
			}
			return nil
		}
		for i, l := range calls {
			if l.Op == nccl.Send {
				continue
			}
			if err := m.Write(uint64(l.To), answers[i].Data); err != nil {
				return err
			}
		}
		return nil
	})
}

// written reads memory, all of which must have been written.
func written(m *ptxsim.Memory, at driver.Pointer, bytes int) ([]byte, error) {
	raw := make([]byte, bytes)
	if ok, err := m.Written(uint64(at), bytes); err != nil {
		return nil, err
	} else if !ok {
		return nil, &unwrittenError{at, bytes}
	}
	return raw, m.Read(raw, uint64(at))
}

// exchange sends the calls of a group to the hub and returns its answers.
func (c *communicator) exchange(requests []hubCall) (answers []hubAnswer, err error) {
	if err := c.out.Encode(requests); err != nil {
		return nil, fmt.Errorf("a rank is gone: %w", err)
	}
	if err := c.in.Decode(&answers); err != nil {
		return nil, fmt.Errorf("a rank is gone: %w", err)
	}
	for _, a := range answers {
		if a.Failed != "" {
			return nil, errors.New(a.Failed)
		}
	}
	return answers, nil
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
