package sealed_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/quernlab/quern/accel/internal/training/sealed"
)

// open reads lines.
func open(file []byte) error {
	_, _, err := new(sealed.Sum).Lines(file)
	return err
}

func TestLines(t *testing.T) {
	var sum, check sealed.Sum
	objects := []string{`{"a":1}`, `{"b":"x\"}"}`, `{"crc32c":"00000000","c":[1,2]}`}
	var lines [][]byte
	for _, o := range objects {
		line := sum.Seal([]byte(o))
		if !json.Valid(line) {
			t.Errorf("not JSON: %s", line)
		}
		if got, err := check.Open(line); err != nil || string(got) != o {
			t.Errorf("%s: %s, %v", line, got, err)
		}
		lines = append(lines, append(line, '\n'))
	}
	file := bytes.Join(lines, nil)
	for at := range file {
		for bit := range 8 {
			damaged := bytes.Clone(file)
			damaged[at] ^= 1 << bit
			if err := open(damaged); !errors.Is(err, sealed.ErrDamaged) {
				t.Errorf("bit %d of byte %d, %q, is not found: %v", bit, at, damaged, err)
			}
		}
		if err := open(file[:at]); err != nil {
			t.Errorf("the first %d bytes, whose writing was interrupted: %v", at, err)
		}
	}
	for i := range lines[:2] {
		missing := append(bytes.Clone(bytes.Join(lines[:i], nil)), bytes.Join(lines[i+1:], nil)...)
		if err := open(missing); !errors.Is(err, sealed.ErrDamaged) {
			t.Errorf("without line %d: %v", i, err)
		}
	}
}
