package display

import (
	"fmt"
	"io"
	"os"
	"sync"
)

// Terminal returns a sink that prints the text form of the output to w, or, if w is nil, to
// standard output, and what is [Message.Interim] to standard error. An update is printed only if
// its text differs from the previous text of that output.
func Terminal(w io.Writer) Sink { return &terminal{w: w, last: map[string]string{}} }

type terminal struct {
	w    io.Writer // nil: standard output or standard error
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
	switch {
	case w != nil:
	case m.Interim: // so that the output of a program does not depend on its speed
		w = os.Stderr
	default:
		w = os.Stdout
	}
	fmt.Fprintln(w, text)
}

// fallback is for programs that set no sink.
var fallback = Terminal(nil)
