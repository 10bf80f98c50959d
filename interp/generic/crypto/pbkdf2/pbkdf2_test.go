package pbkdf2_test

import (
	"bytes"
	standard "crypto/pbkdf2"
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/quernlab/quern/interp/generic/crypto/pbkdf2"
)

func TestKey(t *testing.T) {
	for _, length := range []int{1, 16, 70, 0, -1} {
		got, err := pbkdf2.Key(sha256.New, "password", []byte("salt"), 3, length)
		want, wantErr := standard.Key(sha256.New, "password", []byte("salt"), 3, length)
		if !bytes.Equal(got, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("length %d: %x, %v, want %x, %v", length, got, err, want, wantErr)
		}
	}
}
