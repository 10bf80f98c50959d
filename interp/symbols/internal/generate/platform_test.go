package main

import (
	"bytes"
	"errors"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/gcexportdata"

	"github.com/quernlab/quern/interp/symbols/internal/archive"
)

// TestPlatforms reads the differing packages of each platform.
func TestPlatforms(t *testing.T) {
	r, err := running()
	if err != nil {
		t.Fatal(err)
	}
	for _, platform := range others {
		name := r.path(platform.archive())
		data, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Errorf("%v: run make generate", err)
			continue
		}
		r, err := archive.NewReader(string(data))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for path := range r.Names() {
			data, err := r.Types(path)
			switch {
			case path == "syscall" && err != nil:
				t.Errorf("%s has no types of syscall, which differs there: %v", name, err)
			case path == "strings" && err == nil:
				t.Errorf("%s has types of strings, which are the same there", name)
			case errors.Is(err, archive.ErrNone):
			case err != nil:
				t.Errorf("%s: %v", name, err)
			default:
				if _, err := gcexportdata.Read(bytes.NewReader(data), token.NewFileSet(), make(map[string]*types.Package), path); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
}
