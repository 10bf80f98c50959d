package tune

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A search does not continue from a file with one flipped bit. It does from one whose last line was not
// written completely, but not from one without checksums.
func TestDamagedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "search.jsonl")
	tried := 0
	run := func() (*Search, error) {
		tried = 0
		return Run(t.Context(), func(trial *Trial) (float64, error) {
			tried++
			return trial.Float("x", 0, 1), nil
		}, Trials(3), Seed(4), Quiet(), Resume(path))
	}
	first, err := run()
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	again := func(text []byte) (*Search, error) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return run()
	}
	for at := range whole {
		for _, bit := range []int{at % 8, 5} { // bit 5 is the case of a letter
			damaged := bytes.Clone(whole)
			damaged[at] ^= 1 << bit
			if _, err := again(damaged); err == nil || !strings.Contains(err.Error(), path) || tried > 0 {
				t.Errorf("bit %d of byte %d: %v, and %d trials", bit, at, err, tried)
			}
		}
	}
	for at := 0; at <= len(whole); at += 5 {
		s, err := again(whole[:at])
		if err != nil || len(s.Trials) != 3 || s.Trials[2].Value != first.Trials[2].Value || tried != 3-max(bytes.Count(whole[:at], []byte("\n"))-1, 0) {
			t.Fatalf("the first %d bytes: %v, %v after %d trials", at, s, err, tried)
		}
	}
	if _, err := again(whole); err != nil || tried != 0 {
		t.Errorf("the whole file: %v, and %d trials", err, tried)
	}
	if _, err := again(regexp.MustCompile(`,"crc32c":"[0-9a-f]{8}"`).ReplaceAll(whole, nil)); err == nil || tried > 0 {
		t.Errorf("no checksums: %v, and %d trials", err, tried)
	}
}
