package display

import (
	"fmt"
	"io"
	"os"
	"sync"
)

// Terminal is the sink of a plain program: it prints the text form of what is
// shown to w, or to standard output when w is nil. An update prints the new
// text only when it differs from the last one of that output.
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

// fallback serves programs that set no sink.
var fallback = Terminal(nil)
