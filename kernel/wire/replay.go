package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"sync"
)

// ErrReplay reports a message whose signature was received before. Its sender need not
// know the key.
var ErrReplay = errors.New("message was received before")

// replayMemory is how many signatures are remembered, the same number as in
// jupyter_client.
const replayMemory = 1 << 16

// Signature is the signature of a message.
type Signature = [sha256.Size]byte

// Seen stores signatures between runs of a kernel. Its methods are called while a client
// waits.
type Seen interface {
	// Past returns the signatures of earlier runs. It is called once, at the first
	// message.
	Past() []Signature
	// Add stores the signature of a message.
	Add(Signature)
}

// replays remembers the latest signatures in two generations. When the younger one is
// full, the older one is dropped.
type replays struct {
	mu            sync.Mutex
	young, old    map[Signature]struct{}
	perGeneration int
	seen          Seen // nil if signatures are not stored
	begun         bool // Past has been called
}

func newReplays() *replays {
	return &replays{young: map[Signature]struct{}{}, perGeneration: replayMemory / 2}
}

// keep makes replays store signatures in seen.
func (r *replays) keep(s Seen) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = s
}

// first reports whether a verified signature is new.
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
