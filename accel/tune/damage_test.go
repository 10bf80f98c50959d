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
// written completely, and from one of the version without checksums.
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
	old := regexp.MustCompile(`,"crc32c":"[0-9a-f]{8}"`).ReplaceAll(whole, nil)
	old = bytes.Replace(old, []byte(`"version":2`), []byte(`"version":1`), 1)
	for name, file := range map[string][]byte{"checksums": whole, "no checksums": old} {
		for at := 0; at < len(file); at += 5 {
			if at <= bytes.IndexByte(file, '\n') && name == "no checksums" {
				continue // this version does not write its first line
			}
			s, err := again(file[:at])
			if err != nil || len(s.Trials) != 3 || s.Trials[2].Value != first.Trials[2].Value || tried != 3-max(bytes.Count(file[:at], []byte("\n"))-1, 0) {
				t.Fatalf("%s, the first %d bytes: %v, %v after %d trials", name, at, s, err, tried)
			}
		}
		if _, err := again(file); err != nil || tried != 0 {
			t.Errorf("%s: %v, and %d trials", name, err, tried)
		}
	}
}
