package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"sync"
)

// ErrReplay reports a message whose signature came before: whoever sends it
// need not know the key.
var ErrReplay = errors.New("message came before")

// replayMemory is how many signatures are remembered, as many as
// jupyter_client does.
const replayMemory = 1 << 16

// Signature is the signature of a message.
type Signature = [sha256.Size]byte

// Seen keeps signatures from one run of a kernel to the next. Its methods are called
// while a client waits.
type Seen interface {
	// Past returns the signatures of earlier runs. It is called once, at the first
	// message.
	Past() []Signature
	// Add keeps the signature of a message.
	Add(Signature)
}

// replays remembers the signatures of the last messages, in two generations of
// which the older is let go when the younger is full.
type replays struct {
	mu            sync.Mutex
	young, old    map[Signature]struct{}
	perGeneration int
	seen          Seen // nil: nothing is kept for the next run
	begun         bool // the past has been asked for
}

func newReplays() *replays {
	return &replays{young: map[Signature]struct{}{}, perGeneration: replayMemory / 2}
}

// keep has signatures kept from one run to the next.
func (r *replays) keep(s Seen) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = s
}

// first reports whether a signature, which was verified, comes for the first time.
func (r *replays) first(signature []byte) bool {
	var s Signature
	if len(signature) != hex.EncodedLen(len(s)) {
		return false
	}
	if _, err := hex.Decode(s[:], signature); err != nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen != nil && !r.begun {
		r.begun = true
		for _, past := range r.seen.Past() {
			r.remember(past)
		}
	}
	if _, ok := r.young[s]; ok {
		return false
	}
	if _, ok := r.old[s]; ok {
		return false
	}
	r.remember(s)
	if r.seen != nil {
		r.seen.Add(s)
	}
	return true
}

func (r *replays) remember(s Signature) {
	if len(r.young) >= r.perGeneration {
		r.young, r.old = map[Signature]struct{}{}, r.young
	}
	r.young[s] = struct{}{}
}
