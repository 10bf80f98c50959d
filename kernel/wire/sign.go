package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"slices"
	"sync"
)

// ErrSignature reports a message with an invalid signature.
var ErrSignature = errors.New("wrong signature")

// SchemeError reports a signature_scheme that is not supported.
type SchemeError struct{ Scheme string }

func (e *SchemeError) Error() string {
	return fmt.Sprintf("signature scheme %q is not supported, want %q", e.Scheme, Scheme)
}

// Scheme is the signature scheme of this package, the protocol's default.
const Scheme = "hmac-sha256"

// signer signs the four JSON parts of a message.
type signer struct {
	mu   sync.Mutex
	hash hash.Hash // nil if the key is empty and messages are not signed
}

func newSigner(scheme string, key []byte) (*signer, error) {
	if scheme != Scheme {
		return nil, &SchemeError{scheme}
	}
	if len(key) == 0 {
		return &signer{}, nil
	}
	return &signer{hash: hmac.New(sha256.New, key)}, nil
}

// signAtOnce is how many bytes are hashed before other goroutines may run. They cannot be
// scheduled within the assembly code of the hash.
const signAtOnce = 256 << 10

// sign returns the signature of parts in hexadecimal.
func (s *signer) sign(parts [][]byte) []byte {
	if s.hash == nil {
		return []byte{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hash.Reset()
	for _, p := range parts {
		for chunk := range slices.Chunk(p, signAtOnce) {
			s.hash.Write(chunk)
		}
	}
	var sum [sha256.Size]byte
	return hex.AppendEncode(nil, s.hash.Sum(sum[:0]))
}

// verify compares the signature in constant time.
func (s *signer) verify(signature []byte, parts [][]byte) error {
	if s.hash != nil && !hmac.Equal(signature, s.sign(parts)) {
		return ErrSignature
	}
	return nil
}

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
