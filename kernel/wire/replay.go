package wire

import (
	"errors"
	"sync"
)

// ErrReplay reports a message whose signature came before: whoever sends it
// need not know the key.
var ErrReplay = errors.New("message came before")

// replayMemory is how many signatures are remembered, as many as
// jupyter_client does.
const replayMemory = 1 << 16

// replays remembers the signatures of the last messages, in two generations of
// which the older is let go when the younger is full.
type replays struct {
	mu            sync.Mutex
	young, old    map[string]struct{}
	perGeneration int
}

func newReplays() *replays {
	return &replays{young: map[string]struct{}{}, perGeneration: replayMemory / 2}
}

// first reports whether signature comes for the first time.
func (r *replays) first(signature []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.young[string(signature)]; ok {
		return false
	}
	if _, ok := r.old[string(signature)]; ok {
		return false
	}
	if len(r.young) >= r.perGeneration {
		r.young, r.old = map[string]struct{}{}, r.young
	}
	r.young[string(signature)] = struct{}{}
	return true
}
