//go:build unix

package cubin

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda/kernels"
	"github.com/quernlab/quern/accel/internal/cuda/library"
	"github.com/quernlab/quern/internal/testenv"
)

// stub makes a script the only ptxas, with an empty cache.
func stub(t *testing.T, script string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "ptxas"), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv(library.Variable, folder)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir()) // with the cache of macOS
	return folder
}

// The machine code of a module is assembled once, and apart for each module, kind of GPU and ptxas.
func TestAssemble(t *testing.T) {
	const script = `echo "$2" >> "$0.calls"
case "$1" in -arch=*) echo "$1" > "$3"; cat "$4" >> "$3" ;; esac`
	folder := stub(t, script)
	calls := func() int {
		text, err := os.ReadFile(filepath.Join(folder, "ptxas.calls"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "-o")
	}
	for i, row := range []struct {
		capability int
		ptx, want  string
		calls      int
	}{
		{90, "a", "-arch=sm_90a\na", 1}, {90, "b", "-arch=sm_90a\nb", 2}, {90, "a", "-arch=sm_90a\na", 2},
		{80, "a", "-arch=sm_80\na", 3}, {100, "a", "-arch=sm_100\na", 4}, {80, "a", "-arch=sm_80\na", 4},
	} {
		a, err := New(row.capability) // as another process
		if err != nil {
			t.Fatal(err)
		}
		if code, err := a.Assemble(t.Context(), row.ptx); err != nil || string(code) != row.want || calls() != row.calls {
			t.Errorf("row %d: %q, %v, %d calls", i, code, err, calls())
		}
	}
	t.Setenv("XDG_CACHE_HOME", "") // without a cache
	t.Setenv("HOME", "")
	a, err := New(90)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if code, err := a.Assemble(t.Context(), "a"); err != nil || string(code) != "-arch=sm_90a\na" || calls() != 5+i {
			t.Errorf("without a cache: %q, %v, %d calls", code, err, calls())
		}
	}
}

func TestErrors(t *testing.T) {
	stub(t, `echo "ptxas fatal: line 7" >&2; exit 3`)
	a, err := New(90)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // an error is not kept
		if _, err := a.Assemble(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "ptxas fatal: line 7") || !strings.Contains(err.Error(), "exit status 3") {
			t.Errorf("got %v", err)
		}
	}
	t.Setenv(library.Variable, t.TempDir())
	if _, err := New(90); err == nil || !strings.Contains(err.Error(), "ptxas is not in") {
		t.Errorf("got %v", err)
	}
}

// The real ptxas makes an ELF file.
func TestRealAssembler(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	if venv, err := filepath.Abs("../../../../.venv"); err == nil && os.Getenv("VIRTUAL_ENV") == "" {
		t.Setenv("VIRTUAL_ENV", venv) // that of make kernelspec
	}
	a, err := New(90)
	if err != nil {
		testenv.Missing(t, "%v", err)
	}
	text, err := kernels.PTX("finite_f32")
	if err != nil {
		t.Fatal(err)
	}
	if code, err := a.Assemble(t.Context(), text); err != nil || !bytes.HasPrefix(code, []byte("\x7fELF")) {
		t.Errorf("%d bytes, %v", len(code), err)
	}
	if _, err := a.Assemble(t.Context(), text+"nonsense"); err == nil || !strings.Contains(err.Error(), "ptxas") {
		t.Errorf("got %v", err)
	}
}
