package worker

import (
	"os"
	"sync"
)

// reserve keeps file descriptors for the start of a worker. The clients of a kernel,
// authenticated or not, may use up all others; a worker that died could then not be
// replaced.
type reserve struct {
	mu    sync.Mutex
	files []*os.File
}

// reserved is how many descriptors a start needs at once: the ends of four pipes, a null
// device, the process, and the pipe on which exec reports an error. If the process may
// have only few descriptors, fewer are reserved: those of the dead worker are free then.
const reserved = 12

// fill opens descriptors until enough are reserved or there are no more.
func (r *reserve) fill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for want := min(reserved, descriptors()/5); len(r.files) < want; {
		f, err := os.Open(os.DevNull)
		if err != nil {
			return
		}
		r.files = append(r.files, f)
	}
}

// release closes all of them.
func (r *reserve) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.files {
		f.Close()
	}
	r.files = nil
}
