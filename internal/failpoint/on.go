//go:build failpoints

package failpoint

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
)

// Enabled reports whether the program was built with the tag failpoints.
const Enabled = true

// Kind is how a point fails.
type Kind string

// The kinds of failures. A point that does not write fails before its operation.
const (
	Fail  Kind = "fail"  // an input/output error; nothing is written
	Full  Kind = "full"  // no space left: half of the bytes are written
	Short Kind = "short" // half of the bytes are written, and the writer returns no other error
	Kill  Kind = "kill"  // the process is killed after half of the bytes
)

// Kinds lists all kinds.
var Kinds = []Kind{Fail, Full, Short, Kill}

// Variable is the environment variable that sets a point from outside: "kind point".
const Variable = "QUERN_FAILPOINT"

// failure is the point that is set to fail.
type failure struct {
	point Point
	kind  Kind
	hits  atomic.Int64
}

var set atomic.Pointer[failure]

func init() {
	if kind, point, ok := strings.Cut(os.Getenv(Variable), " "); ok {
		Set(Point(point), Kind(kind))
	}
}

// Set makes a point fail from now on, in place of any other.
func Set(p Point, k Kind) { set.Store(&failure{point: p, kind: k}) }

// Clear makes all points succeed.
func Clear() { set.Store(nil) }

// Hits returns how often the point that is set was reached.
func Hits() int {
	if f := set.Load(); f != nil {
		return int(f.hits.Load())
	}
	return 0
}

// at returns the failure of a point, or nil.
func at(p Point) *failure {
	f := set.Load()
	if f == nil || f.point != p {
		return nil
	}
	f.hits.Add(1)
	return f
}

// err returns the error of a failure. For Kill it does not return.
func (f *failure) err() error {
	switch f.kind {
	case Full:
		return fmt.Errorf("failpoint %s: %w", f.point, syscall.ENOSPC)
	case Short:
		return fmt.Errorf("failpoint %s: %w", f.point, io.ErrShortWrite)
	case Kill:
		process, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = process.Kill()
		}
		if err != nil {
			panic(err)
		}
		select {} // until the signal is delivered
	}
	return fmt.Errorf("failpoint %s: %w", f.point, syscall.EIO)
}

// Do calls operation or fails.
func Do(p Point, operation func() error) error {
	if f := at(p); f != nil {
		return f.err()
	}
	return operation()
}

// Writer returns a writer to w that may fail.
func Writer(p Point, w io.Writer) io.Writer { return writer{p, w} }

type writer struct {
	point Point
	to    io.Writer
}

func (w writer) Write(b []byte) (int, error) {
	f := at(w.point)
	if f == nil {
		return w.to.Write(b)
	}
	n := 0
	if f.kind != Fail {
		var err error
		if n, err = w.to.Write(b[:len(b)/2]); err != nil {
			return n, err
		}
	}
	return n, f.err()
}
