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
