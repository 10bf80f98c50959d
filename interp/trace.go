package interp

import (
	"bytes"
	"io"
	"regexp"
	"strconv"
	"sync"
)

// A traceWriter stands for standard error in the engine. The engine writes a
// line there for each function that a panic passes, also of one that is
// recovered; these are kept, everything else goes on to out.
type traceWriter struct {
	out io.Writer

	mu   sync.Mutex
	list []frame
}

// maxFrames bounds what a panic in deep recursion leaves.
const maxFrames = 100

// traceLine is "cell[3]:5:9: panic: main.f(...)".
var traceLine = regexp.MustCompile(`^(?:(.*?):)?(\d+):(\d+): panic: main(?:\.(.*))?\(\.\.\.\)$`)

// Write implements io.Writer. The engine writes whole lines.
func (w *traceWriter) Write(p []byte) (int, error) {
	m := traceLine.FindSubmatch(bytes.TrimSuffix(p, []byte("\n")))
	if m == nil {
		return w.out.Write(p)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.list) < maxFrames {
		line, _ := strconv.Atoi(string(m[2]))
		w.list = append(w.list, frame{function: string(m[4]), file: string(m[1]), line: line})
	}
	return len(p), nil
}

func (w *traceWriter) reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = nil
}

func (w *traceWriter) frames() []frame {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]frame(nil), w.list...)
}
