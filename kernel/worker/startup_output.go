package worker

import (
	"bytes"
	"strings"
	"sync"
)

// startupOutput keeps what a worker writes to its standard error before it is ready. If
// the worker exits before that, this text is shown as the reason.
type startupOutput struct {
	ready <-chan struct{} // closed when the worker is ready

	mu   sync.Mutex
	text bytes.Buffer
}

// maxStartupOutput bounds the text that is kept, in bytes.
const maxStartupOutput = 1 << 10

func (f *startupOutput) add(text []byte) {
	if closed(f.ready) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.text.Write(text[:min(len(text), maxStartupOutput-f.text.Len())])
}

// prefix returns the output followed by "; ", or "" if there was none.
func (f *startupOutput) prefix() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	said := strings.TrimSpace(f.text.String())
	if said == "" {
		return ""
	}
	return said + "; "
}
