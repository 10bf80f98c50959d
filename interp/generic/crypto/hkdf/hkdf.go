// Package hkdf implements the standard package crypto/hkdf, which is generic, for interpreted code.
package hkdf

import (
	"hash"

	"github.com/quernlab/quern/interp/generic/compiled"
)

// Extract derives a pseudorandom key from a secret and a salt (RFC 5869).
func Extract[H hash.Hash](h func() H, secret, salt []byte) ([]byte, error) {
	return compiled.HKDFExtract(func() hash.Hash { return h() }, secret, salt)
}

// Expand derives a key of keyLength bytes from a pseudorandom key and a context info (RFC 5869).
func Expand[H hash.Hash](h func() H, pseudorandomKey []byte, info string, keyLength int) ([]byte, error) {
	return compiled.HKDFExpand(func() hash.Hash { return h() }, pseudorandomKey, info, keyLength)
}

// Key is Extract followed by Expand.
func Key[Hash hash.Hash](h func() Hash, secret, salt []byte, info string, keyLength int) ([]byte, error) {
	return compiled.HKDFKey(func() hash.Hash { return h() }, secret, salt, info, keyLength)
}
