package fake

import (
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/ptxsim"
)

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// double returns a function that doubles a number in device memory.
func double(at driver.Pointer) func(m *ptxsim.Memory) error {
	return func(m *ptxsim.Memory) error {
		var b [4]byte
		if err := m.Read(b[:], uint64(at)); err != nil {
			return err
		}
		return m.Write(uint64(at), binary.LittleEndian.AppendUint32(nil, 2*binary.LittleEndian.Uint32(b[:])))
	}
}

// The calls of a library on a captured stream run when the graph does, in its order.
func TestCapture(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		d, err := Open(Options{Seed: seed})
		ok(t, err)
		c, err := d.Context(0)
		ok(t, err)
		p := c.(FuncLauncher)
		at, err := c.Alloc(4, 0)
		ok(t, err)
		other, err := c.Alloc(4, 0)
		ok(t, err)
		capture := func(op string, at driver.Pointer) driver.Graph {
			g, err := c.Capture(func(s driver.Stream) error {
				if err := p.LaunchFunc(s, op, time.Microsecond, double(at)); err != nil {
					return err
				}
				return p.LaunchFunc(s, op, time.Microsecond, double(at))
			})
			ok(t, err)
			return g
		}
		part := capture("double", at)
		g, err := c.NewGraph()
		ok(t, err)
		fill, err := c.AddFill(g, nil, at, 5, 4, 1)
		ok(t, err)
		n, err := c.AddGraph(g, []driver.Node{fill}, part, "doubles")
		ok(t, err)
		ok(t, c.CloseGraph(part))
		x, err := c.Instantiate(g)
		ok(t, err)
		ok(t, c.LaunchGraph(x, 0))
		value := func(at driver.Pointer) uint32 {
			var b [4]byte
			ok(t, c.CopyToHost(b[:], at, 0))
			return binary.LittleEndian.Uint32(b[:])
		}
		if got := value(at); got != 20 {
			t.Errorf("seed %d: got %d, want 20", seed, got)
		}
		if err := c.UpdateGraph(x, n, capture("triple", at), "x"); !errors.Is(err, driver.UpdateFailure) {
			t.Errorf("update with another graph: %v", err)
		}
		ok(t, c.Fill(other, 7, 4, 1, 0))
		ok(t, c.UpdateGraph(x, n, capture("double", other), "doubles"))
		ok(t, c.LaunchGraph(x, 0))
		if a, b := value(at), value(other); a != 5 || b != 28 {
			t.Errorf("seed %d: got %d and %d, want 5 and 28", seed, a, b)
		}
	}
}

func TestCaptureRefuses(t *testing.T) {
	t.Parallel()
	d, err := Open(Options{})
	ok(t, err)
	c, err := d.Context(0)
	ok(t, err)
	// A wait invalidates a capture, even if its error is ignored.
	_, err = c.Capture(func(s driver.Stream) error {
		if err := c.SyncStream(s); !errors.Is(err, driver.CaptureUnsupported) {
			t.Errorf("wait: %v", err)
		}
		return nil
	})
	if !errors.Is(err, driver.CaptureInvalidated) {
		t.Errorf("spoiled capture: %v", err)
	}
	cause := errors.New("no")
	if _, err := c.Capture(func(driver.Stream) error { return cause }); !errors.Is(err, cause) {
		t.Errorf("failing work: %v", err)
	}
}
