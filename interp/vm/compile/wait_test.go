package compile

import (
	"io"
	"reflect"
	"testing"

	"github.com/quernlab/quern/interp/stopflag"
	"github.com/quernlab/quern/interp/vm"
)

// stopReader is an empty reader during whose Read the cell is interrupted.
type stopReader struct{ flag *stopflag.Flag }

func (r stopReader) Read([]byte) (int, error) {
	r.flag.Store(true)
	return 0, io.EOF
}

// A function ends behind the statement with a call that has waited, and its deferred calls run.
func TestInterruptedStatement(t *testing.T) {
	const declarations = `
import "io"
type pair struct { list []byte; err error }
var log string
var texts [][]byte
var pairs [2]pair
func first() int { texts = make([][]byte, 2); log += "first "; return 0 }
func cleanup() { for range 2 { log += "cleanup " } }
func is(b []byte, err error) bool { return err == nil && b != nil }
func rest(b []byte, err error) ([]byte, error) { log += "rest "; return b, err }
func fails() { panic(1) }
`
	for _, row := range []struct{ name, body, want string }{
		{"expression", "io.ReadAll(r); log += \"after \"", ""},
		{"definition", "b, err := io.ReadAll(r); log += \"after \"; _, _ = b, err", ""},
		{"declaration", "var b, err = io.ReadAll(r); log += \"after \"; _, _ = b, err", ""},
		{"targets", "defer func() { if len(texts) == 2 && texts[0] != nil { log += \"assigned \" } }(); texts[first()], pairs[1].err = io.ReadAll(r); log += \"after \"", "first assigned "},
		{"condition", "if is(io.ReadAll(r)) { log += \"after \" }; log += \"end \"", ""},
		{"negative condition", "if !is(io.ReadAll(r)) { log += \"after \" } else { log += \"otherwise \" }", ""},
		{"init statement", "if _, err := io.ReadAll(r); err == nil { log += \"after \" }", ""},
		{"init statement of a switch", "switch _, err := io.ReadAll(r); { case err == nil: log += \"after \" }", ""},
		{"condition of a loop", "for !is(io.ReadAll(r)) { }; log += \"after \"", ""},
		{"last statement of a block", "{ io.ReadAll(r) }; log += \"after \"", ""},
		{"nested call", "rest(io.ReadAll(r)); log += \"after \"", ""},
		{"deferred calls", "defer cleanup(); defer func() { log += \"literal \"; cleanup() }(); io.ReadAll(r)", "literal cleanup cleanup cleanup cleanup "},
		{"return", "func() ([]byte, error) { defer cleanup(); defer func() { log += \"literal \"; cleanup() }(); return io.ReadAll(r) }()", "literal cleanup cleanup cleanup cleanup "},
		{"deferred call that waits", "defer cleanup(); defer io.ReadAll(r); log += \"last \"", "last cleanup cleanup "},
		{"panic in a deferred call", "defer cleanup(); defer func() { defer cleanup(); fails() }(); io.ReadAll(r)", "cleanup cleanup cleanup cleanup "},
	} {
		t.Run(row.name, func(t *testing.T) {
			flag, ended := new(stopflag.Flag), false
			p := compileFor(t, vm.Config{Stopping: flag, Stop: func() {
				if !ended { // deferred calls go on
					ended = true
					panic("stopped")
				}
			}}, declarations+"func f(r io.Reader) { "+row.body+" }")
			func() {
				defer func() { recover() }()
				p.call(t, "f", io.Reader(stopReader{flag}))
			}()
			if !ended {
				t.Error("not interrupted")
			}
			if got := reflect.Indirect(p.values["log"]).String(); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}
