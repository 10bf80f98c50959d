package lower

import (
	"fmt"
	"strings"
)

// writer collects lines of lowered code.
type writer struct {
	text   strings.Builder
	indent int
}

func (w *writer) line(format string, arguments ...any) {
	w.text.WriteString(strings.Repeat("\t", w.indent))
	if len(arguments) == 0 {
		w.text.WriteString(format)
	} else {
		fmt.Fprintf(&w.text, format, arguments...)
	}
	w.text.WriteByte('\n')
}

// open starts a block; format ends with the brace.
func (w *writer) open(format string, arguments ...any) {
	w.line(format, arguments...)
	w.indent++
}

func (w *writer) close(text string) {
	w.indent--
	w.line("%s", text)
}
