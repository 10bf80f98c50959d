package symbols_test

import (
	"slices"
	"testing"

	"github.com/quernlab/quern/interp/symbols"
)

func TestGuess(t *testing.T) {
	json := []string{"encoding/json"}
	if slices.Contains(symbols.Paths(), "encoding/json/v2") { // since Go 1.27
		json = append(json, "encoding/json/v2")
	}
	for name, want := range map[string][]string{
		"fmt":      {"fmt"},
		"rand":     {"math/rand/v2", "math/rand", "crypto/rand"},
		"template": {"text/template", "html/template"},
		"pprof":    {"runtime/pprof", "net/http/pprof"},
		"json":     json,
		"display":  {"github.com/quernlab/quern/display"},
		"accel":    {"github.com/quernlab/quern/accel"},
		"nn":       {"github.com/quernlab/quern/accel/nn"},
		"plots":    {"github.com/quernlab/quern/plots"},
		"compiled": nil,
		"plugin":   nil,
		"v2":       nil,
		"abi":      nil,
		"":         nil,
	} {
		if got := symbols.Guess(name); !slices.Equal(got, want) {
			t.Errorf("Guess(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestGuessIsTheCallers(t *testing.T) {
	symbols.Guess("rand")[0] = "changed"
	if got := symbols.Guess("rand")[0]; got != "math/rand/v2" {
		t.Errorf("the caller can change the result of later calls: %q", got)
	}
}

func TestPaths(t *testing.T) {
	paths := symbols.Paths()
	if !slices.IsSorted(paths) {
		t.Error("Paths is not sorted")
	}
	for _, path := range []string{"fmt", "unsafe", "iter", "unique", "weak", "structs", "os/exec", "time/tzdata", "math/rand/v2"} {
		if !slices.Contains(paths, path) {
			t.Errorf("%s is not importable", path)
		}
	}
}
