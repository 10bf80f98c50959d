package worker

import (
	"bytes"
	"strings"
	"sync"
)

// first keeps what a worker says on its standard error before it serves. If it never
// does, that is why.
type first struct {
	until <-chan struct{} // closed when the worker serves

	mu   sync.Mutex
	said bytes.Buffer
}

// maxSaid bounds what is kept.
const maxSaid = 1 << 10

func (f *first) add(text []byte) {
	if closed(f.until) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.said.Write(text[:min(len(text), maxSaid-f.said.Len())])
}

// text is what was said, as the beginning of a sentence that goes on.
func (f *first) text() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	said := strings.TrimSpace(f.said.String())
	if said == "" {
		return ""
	}
	return said + "; "
}
