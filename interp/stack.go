package interp

import (
	"io"
	"reflect"
)

// stacks are the functions that give the text of a stack, by package.
func (s *Session) stacks() (ofRuntime, ofDebug map[string]reflect.Value) {
	return map[string]reflect.Value{
			"Stack": reflect.ValueOf(func(buf []byte, all bool) int { return copy(buf, s.tracebacks.StackText()) }),
		}, map[string]reflect.Value{
			"Stack":      reflect.ValueOf(func() []byte { return []byte(s.tracebacks.StackText()) }),
			"PrintStack": reflect.ValueOf(func() { _, _ = io.WriteString(s.config.stderr, s.tracebacks.StackText()) }),
		}
}
