// Package pbkdf2 stands for the standard package crypto/pbkdf2, which is generic, in interpreted code.
package pbkdf2

import (
	"hash"

	"github.com/quernlab/quern/interp/generic/compiled"
)

// Key makes a key of keyLength bytes of a password and a salt with iter rounds, by RFC 8018.
func Key[Hash hash.Hash](h func() Hash, password string, salt []byte, iter, keyLength int) ([]byte, error) {
	return compiled.PBKDF2Key(func() hash.Hash { return h() }, password, salt, iter, keyLength)
}
