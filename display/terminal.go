package display

import (
	"fmt"
	"io"
	"os"
	"sync"
)

// Terminal returns the sink of a plain program: it prints the text form of the output to w, or
// to standard output if w is nil. An update is printed only if its text differs from the
// previous text of that output.
func Terminal(w io.Writer) Sink { return &terminal{w: w, last: map[string]string{}} }

type terminal struct {
	w    io.Writer
	mu   sync.Mutex
	last map[string]string
}

func (t *terminal) Display(m Message) {
	if m.Kind == KindClear {
		return
	}
	text, _ := m.Data["text/plain"].(string)
	t.mu.Lock()
	defer t.mu.Unlock()
	if text == "" || t.last[m.ID] == text {
		return
	}
	t.last[m.ID] = text
	w := t.w
	if w == nil {
		w = os.Stdout
	}
	fmt.Fprintln(w, text)
}

// fallback is for programs that set no sink.
var fallback = Terminal(nil)
