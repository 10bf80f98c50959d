//go:build linux && cgo

package library

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// compiled makes a library of C in a folder.
func compiled(t *testing.T, folder, name, source string) {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler here")
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(cc, "-shared", "-fPIC", "-o", filepath.Join(folder, name), "-x", "c", "-")
	c.Stdin = strings.NewReader("#include <stddef.h>\n" + source)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func blas(version, cuda int) string {
	return fmt.Sprintf("size_t cublasLtGetVersion(void) { return %d; }\nsize_t cublasLtGetCudartVersion(void) { return %d; }\n", version, cuda)
}

// truncated copies a library without the end of its last part.
func truncated(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	end := uint64(0)
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			end = max(end, p.Off+p.Filesz)
		}
	}
	// The table of sections is behind the parts, and is not wanted to load a library.
	clear(text[40:48])
	clear(text[58:64])
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text[:end-8], 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	file := func(name string) string { return filepath.Join(root, name) }
	compiled(t, file("good"), "libcublasLt.so.13", blas(130401, 13020))
	compiled(t, file("old"), "libcublasLt.so.12", blas(110000, 11000))
	compiled(t, file("both"), "libcublasLt.so.13", blas(140000, 14000))
	compiled(t, file("both"), "libcublasLt.so.12", blas(120400, 12040))
	compiled(t, file("empty"), "libcublasLt.so.13", "")
	compiled(t, file("nccl"), "libnccl.so.2", "int ncclGetVersion(int *v) { *v = 22907; return 0; }")
	compiled(t, file("sick"), "libnccl.so.2", "int ncclGetVersion(int *v) { return 3; }")
	if err := os.MkdirAll(file("text"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file("text/libcudnn.so.9"), []byte("<html>404</html>"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file("gone"), file("text/libnccl.so.2")); err != nil {
		t.Fatal(err)
	}
	truncated(t, file("good/libcublasLt.so.13"), file("cut/libcublasLt.so.13"))
	compiled(t, file("parts"), "libcudnn.so.9", "size_t cudnnGetVersion(void) { return 92600; }\nsize_t cudnnGetCudartVersion(void) { return 13020; }\n")
	truncated(t, file("parts/libcudnn.so.9"), file("parts/libcudnn_ops.so.9"))
	for _, row := range []struct {
		name     string
		library  *Library
		folders  string
		want     string // version
		err      any
		contains string
	}{
		{"good", CuBLASLt, "good", "13.4.1", nil, ""},
		{"old", CuBLASLt, "old", "", new(*VersionError), "11.0.0"},
		{"the next one", CuBLASLt, "both", "12.4.0", nil, ""},
		{"the next folder", CuBLASLt, "old:good", "13.4.1", nil, ""},
		{"no function", CuBLASLt, "empty", "", new(*LoadError), "has no cublasLtGetVersion"},
		{"argument", NCCL, "nccl", "2.29.7", nil, ""},
		{"failing", NCCL, "sick", "", new(*VersionError), "libnccl.so.2 is version"},
		{"no library", CuDNN, "text", "", new(*LoadError), "libcudnn.so.9"},
		{"half a file", CuBLASLt, "cut", "", new(*LoadError), "install it again"},
		{"behind half a file", CuBLASLt, "cut:good", "13.4.1", nil, ""},
		{"half a part", CuDNN, "parts", "", new(*LoadError), "libcudnn_ops.so.9"},
		{"link to nowhere", NCCL, "text", "", new(*MissingError), "is not in"},
		{"nothing", NCCL, "good", "", new(*MissingError), "libnccl.so.2 is not in"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var folders []string
			for _, f := range strings.Split(row.folders, ":") {
				folders = append(folders, file(f))
			}
			m := Machine{Env: func(name string) string {
				if name == Variable {
					return strings.Join(folders, ":")
				}
				return ""
			}}
			h, err := row.library.open(m)
			if row.err != nil {
				if err == nil || !errors.As(err, row.err) || !strings.Contains(err.Error(), row.contains) {
					t.Fatalf("got %v, want %q", err, row.contains)
				}
				return
			}
			if err != nil || h.Version.String() != row.want || h.From != Variable {
				t.Fatalf("got %+v, %v, want version %s", h, err, row.want)
			}
			if _, err := h.Symbol("nothing"); !errors.As(err, new(*LoadError)) {
				t.Errorf("function that is not there: %v", err)
			}
		})
	}
	// What the loader does not find is no error of its own.
	none := Machine{Env: func(string) string { return "" }, Loaded: func() []string { return nil }}
	if h, err := NCCL.open(none); err != nil && !errors.As(err, new(*MissingError)) {
		t.Errorf("no NCCL: %+v, %v", h, err)
	}
}

// The real ones, where there are some: their versions must be known.
func TestOpenHere(t *testing.T) {
	for _, f := range Report(0) {
		if f.Unused != nil {
			t.Logf("%s: %v", f.Library.Name, f.Unused)
			continue
		}
		t.Logf("%s %s, %s (%s)", f.Library.Name, f.Version, f.Place.Path, f.Place.From)
	}
	// Found once, loaded once.
	for _, l := range All {
		one, err := l.Open()
		two, again := l.Open()
		if one != two || !errors.Is(again, err) {
			t.Errorf("%s was loaded twice", l.Name)
		}
	}
}
