package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"testing"

	"golang.org/x/mod/module"

	"github.com/quernlab/quern/interp"
)

// sample are programs of modules that this module requires, so that the test needs no network. They import no other modules.
var sample = []string{"x_exp", "x_image", "x_mod", "x_sync", "x_text", "uuid"}

// TestSample runs a sample of the programs. To run all, use make modules.
func TestSample(t *testing.T) {
	if testing.Short() {
		t.Skip("imports large packages")
	}
	programs, err := readPrograms("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range programs {
		if !slices.Contains(sample, p.name) {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			source := required(t, p.module().Path)
			p.gets[0].Version = source.Version
			var out bytes.Buffer
			s, err := interp.New(interp.Modules(source), interp.Stdout(&out), interp.Stderr(&out))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for i, cell := range []string{p.commands(), p.source} {
				out.Reset()
				if _, err := s.Execute(context.Background(), i+1, cell); err != nil {
					t.Fatal(err)
				}
			}
			if out.String() != p.want {
				t.Errorf("got\n%s\nwant\n%s", &out, p.want)
			}
		})
	}
}

// requiredModule is a source of one module, in the module cache, without the requirements of that module.
type requiredModule struct{ Path, Version, Folder string }

// required returns a module as this module requires it.
func required(t *testing.T, path string) requiredModule {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-json", path).Output()
	if err != nil {
		t.Fatalf("go list -m %s: %v", path, err)
	}
	var m struct{ Path, Version, Dir string }
	if err := json.Unmarshal(out, &m); err != nil {
		t.Fatal(err)
	}
	return requiredModule{m.Path, m.Version, m.Dir}
}

func (m requiredModule) Resolve(_ context.Context, path, query string) (string, error) {
	if path == m.Path && query == m.Version { // a pseudo-version
		return query, nil
	}
	return "", fmt.Errorf("%s@%s is not in the build list", path, query)
}

func (m requiredModule) GoMod(context.Context, module.Version) ([]byte, error) {
	return []byte("module " + m.Path + "\n"), nil
}

func (m requiredModule) Dir(_ context.Context, v module.Version) (string, error) {
	if v.Path != m.Path || v.Version != m.Version {
		return "", fmt.Errorf("%s is not in the build list", v)
	}
	return m.Folder, nil
}

func (requiredModule) Retracted(context.Context, module.Version) (string, error) { return "", nil }
