package compiled

import (
	"crypto/hkdf"
	"crypto/pbkdf2"
	"hash"
)

// HKDFExtract returns [hkdf.Extract].
func HKDFExtract(h func() hash.Hash, secret, salt []byte) ([]byte, error) {
	return hkdf.Extract(h, secret, salt)
}

// HKDFExpand returns [hkdf.Expand].
func HKDFExpand(h func() hash.Hash, pseudorandomKey []byte, info string, keyLength int) ([]byte, error) {
	return hkdf.Expand(h, pseudorandomKey, info, keyLength)
}

// HKDFKey returns [hkdf.Key].
func HKDFKey(h func() hash.Hash, secret, salt []byte, info string, keyLength int) ([]byte, error) {
	return hkdf.Key(h, secret, salt, info, keyLength)
}

// PBKDF2Key returns [pbkdf2.Key].
func PBKDF2Key(h func() hash.Hash, password string, salt []byte, iterations, keyLength int) ([]byte, error) {
	return pbkdf2.Key(h, password, salt, iterations, keyLength)
}
