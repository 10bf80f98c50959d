package preprocess_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/frame"
	"github.com/quernlab/quern/accel/preprocess"
)

// A file with one flipped bit, or without its end or its checksum, is not loaded.
func TestDamagedFile(t *testing.T) {
	f := frame.New(frame.Floats("x", 1, 2, 4), frame.Texts("colour", "red", "blue", "red"), frame.Texts("kind", "a", "b", "a"))
	transform, err := preprocess.Fit(f, preprocess.Class("kind"), preprocess.Numbers("x"), preprocess.Categories("colour"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "prepare.json")
	if err := transform.Save(path); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	load := func(text []byte) error {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := preprocess.Load(path)
		return err
	}
	if err := load(whole); err != nil {
		t.Error(err)
	}
	for at := range whole {
		for _, bit := range []int{at % 8, 5} { // bit 5 is the case of a letter
			damaged := bytes.Clone(whole)
			damaged[at] ^= 1 << bit
			if err := load(damaged); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("bit %d of byte %d: %v", bit, at, err)
			}
		}
		if err := load(whole[:at]); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("the first %d bytes: %v", at, err)
		}
	}
	plain := regexp.MustCompile(`,"crc32c":"[0-9a-f]{8}"`).ReplaceAll(whole, nil)
	for _, version := range []string{"2", "1", "0"} {
		if err := load(bytes.Replace(plain, []byte(`"quern.preprocess": 2`), []byte(`"quern.preprocess": `+version), 1)); err == nil {
			t.Errorf("a file of version %s without its checksum is loaded", version)
		}
	}
}
