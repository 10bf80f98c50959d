package interp

import (
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/quernlab/quern/interp/stack"
)

// stackText is what debug.Stack gives in a cell: the functions of the goroutine as
// the runtime writes them, those of cells with their places and without arguments,
// and compiled ones between them by name. While deferred calls run because of a
// panic, it has the functions that the panic has left, too.
func (s *Session) stackText() string {
	var b strings.Builder
	own := stack.Own()
	fmt.Fprintf(&b, "goroutine %d [running]:\n", stack.Goroutine(own))
	for _, c := range s.calls(s.engine.Frames(own)) {
		for range c.times {
			switch {
			case c.Compiled && c.Function != "":
				fmt.Fprintf(&b, "%s(...)\n", c.Function)
			case c.known && !c.Compiled:
				f := s.stackFrame(c.Function, c.place)
				fmt.Fprintf(&b, "%s(...)\n\t%s:%d\n", f.function, f.file, f.line)
			}
		}
	}
	return b.String()
}

// stacks are the functions that give the text of a stack, by package.
func (s *Session) stacks() (ofRuntime, ofDebug map[string]reflect.Value) {
	return map[string]reflect.Value{
			"Stack": reflect.ValueOf(func(buf []byte, all bool) int { return copy(buf, s.stackText()) }),
		}, map[string]reflect.Value{
			"Stack":      reflect.ValueOf(func() []byte { return []byte(s.stackText()) }),
			"PrintStack": reflect.ValueOf(func() { _, _ = io.WriteString(s.config.stderr, s.stackText()) }),
		}
}
