// Package hkdf stands for the standard package crypto/hkdf, which is generic, in interpreted code.
package hkdf

import (
	"hash"

	"github.com/quernlab/quern/interp/generic/compiled"
)

// Extract makes a pseudorandom key of a secret and a salt, by RFC 5869.
func Extract[H hash.Hash](h func() H, secret, salt []byte) ([]byte, error) {
	return compiled.HKDFExtract(func() hash.Hash { return h() }, secret, salt)
}

// Expand makes a key of keyLength bytes of a pseudorandom key and a context, by RFC 5869.
func Expand[H hash.Hash](h func() H, pseudorandomKey []byte, info string, keyLength int) ([]byte, error) {
	return compiled.HKDFExpand(func() hash.Hash { return h() }, pseudorandomKey, info, keyLength)
}

// Key is Extract and then Expand.
func Key[Hash hash.Hash](h func() Hash, secret, salt []byte, info string, keyLength int) ([]byte, error) {
	return compiled.HKDFKey(func() hash.Hash { return h() }, secret, salt, info, keyLength)
}
