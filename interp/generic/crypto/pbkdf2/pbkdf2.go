// Package pbkdf2 implements the standard package crypto/pbkdf2, which is generic, for interpreted code.
package pbkdf2

import (
	"hash"

	"github.com/quernlab/quern/interp/generic/compiled"
)

// Key derives a key of keyLength bytes from a password and a salt with iter iterations (RFC 8018).
func Key[Hash hash.Hash](h func() Hash, password string, salt []byte, iter, keyLength int) ([]byte, error) {
	return compiled.PBKDF2Key(func() hash.Hash { return h() }, password, salt, iter, keyLength)
}
