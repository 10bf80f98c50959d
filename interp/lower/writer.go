package lower

import (
	"fmt"
	"strings"
)

// writer collects lines of lowered code.
type writer struct {
	text         strings.Builder
	indent       int
	declarations []int // offsets of the package-level declarations
}

func (w *writer) line(format string, arguments ...any) {
	if w.indent == 0 && isDeclaration(format) {
		w.declarations = append(w.declarations, w.text.Len())
	}
	w.text.WriteString(strings.Repeat("\t", w.indent))
	if len(arguments) == 0 {
		w.text.WriteString(format)
	} else {
		fmt.Fprintf(&w.text, format, arguments...)
	}
	w.text.WriteByte('\n')
}

func isDeclaration(line string) bool {
	return strings.HasPrefix(line, "func ") || strings.HasPrefix(line, "var ") || strings.HasPrefix(line, "type ")
}

// add appends all lines of another writer.
func (w *writer) add(other *writer) {
	for _, at := range other.declarations {
		w.declarations = append(w.declarations, w.text.Len()+at)
	}
	w.text.WriteString(other.text.String())
}

// open emits a line that starts a block. format ends with the brace.
func (w *writer) open(format string, arguments ...any) {
	w.line(format, arguments...)
	w.indent++
}

func (w *writer) close(text string) {
	w.indent--
	w.line("%s", text)
}
