package hkdf_test

import (
	"bytes"
	standard "crypto/hkdf"
	"crypto/sha256"
	"crypto/sha3"
	"fmt"
	"testing"

	"github.com/quernlab/quern/interp/generic/crypto/hkdf"
)

func TestKeys(t *testing.T) {
	secret, salt := []byte("a secret that is long"), []byte("salt")
	for _, length := range []int{0, 1, 32, 100, 255*32 + 1} {
		got, err := hkdf.Key(sha256.New, secret, salt, "info", length)
		want, wantErr := standard.Key(sha256.New, secret, salt, "info", length)
		same(t, "Key", got, err, want, wantErr)
		got, err = hkdf.Expand(sha3.New256, secret, "info", length)
		want, wantErr = standard.Expand(sha3.New256, secret, "info", length)
		same(t, "Expand", got, err, want, wantErr)
	}
	got, err := hkdf.Extract(sha256.New, secret, salt)
	want, wantErr := standard.Extract(sha256.New, secret, salt)
	same(t, "Extract", got, err, want, wantErr)
}

func same(t *testing.T, name string, got []byte, err error, want []byte, wantErr error) {
	t.Helper()
	if !bytes.Equal(got, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
		t.Errorf("%s = %x, %v, want %x, %v", name, got, err, want, wantErr)
	}
}
