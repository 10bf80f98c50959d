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

	"github.com/quernlab/quern/internal/testenv"
)

// compiled compiles a C library in a folder.
func compiled(t *testing.T, folder, name, source string) {
	t.Helper()
	cc := testenv.Command(t, "cc")
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
	// The section table is at the end of the file, and is not needed to load a library.
	clear(text[40:48])
	clear(text[58:64])
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text[:end-8], 0o600); err != nil {
		t.Fatal(err)
	}
}

// foreign copies a library and changes its architecture.
func foreign(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	text[18] ^= byte(elf.EM_X86_64) ^ byte(elf.EM_AARCH64)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, 0o600); err != nil {
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
	compiled(t, file("two"), "libcublasLt.so.13", blas(130401, 13020))
	compiled(t, file("two"), "libcublasLt.so.12", blas(120400, 12040))
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
	truncated(t, file("good/libcublasLt.so.13"), file("cut/libquern_cut.so.13"))
	compiled(t, file("parts"), "libcudnn.so.9", "size_t cudnnGetVersion(void) { return 92600; }\nsize_t cudnnGetCudartVersion(void) { return 13020; }\n")
	truncated(t, file("parts/libcudnn.so.9"), file("parts/libcudnn_ops.so.9"))
	foreign(t, file("good/libcublasLt.so.13"), file("foreign/libcublasLt.so.13"))
	compiled(t, file("deadly"), "libnccl.so.2", "#include <stdlib.h>\n__attribute__((constructor)) static void begin(void) { abort(); }\n")
	compiled(t, file("lethal"), "libnccl.so.2", "int ncclGetVersion(int *v) { return *(volatile int *)8; }")
	// As the real library does if its parts are missing.
	compiled(t, file("alone"), "libcudnn.so.9", "#include <stdlib.h>\nsize_t cudnnGetVersion(void) { abort(); }\nsize_t cudnnGetCudartVersion(void) { abort(); }\n")
	for _, folder := range []string{"uncalled", "called"} {
		compiled(t, file(folder), "libcudnn.so.9", "size_t cudnnGetVersion(void) { return 92600; }\nsize_t cudnnGetCudartVersion(void) { return 13020; }\n")
		compiled(t, file(folder), "libquern_part.so.9", "")
	}
	compiled(t, file("called"), "libquern_called.so.13", "")
	calls := *CuDNN // with file names that this process has not loaded
	calls.first = "libquern_part.so.9"
	calls.calls = &Library{Name: "cuBLASLt", Files: []string{"libquern_called.so.13", "libquern_called.so.12"}}
	for _, row := range []struct {
		name     string
		library  *Library
		folders  string
		want     string // version
		err      any
		contains string
		driver   int
	}{
		{"good", CuBLASLt, "good", "13.4.1", nil, "", 0},
		{"old", CuBLASLt, "old", "", new(*VersionError), "11.0.0", 0},
		{"the next one", CuBLASLt, "both", "12.4.0", nil, "", 0},
		{"the next folder", CuBLASLt, "old:good", "13.4.1", nil, "", 0},
		{"no function", CuBLASLt, "empty", "", new(*LoadError), "has no cublasLtGetVersion", 0},
		{"argument", NCCL, "nccl", "2.29.7", nil, "", 0},
		{"failing", NCCL, "sick", "", new(*VersionError), "libnccl.so.2 has version", 0},
		{"no library", CuDNN, "text", "", new(*LoadError), "libcudnn.so.9", 0},
		{"half a file", CuBLASLt, "cut", "", new(*LoadError), "install it again", 0},
		{"behind half a file", CuBLASLt, "cut:good", "13.4.1", nil, "", 0},
		{"half a part", CuDNN, "parts", "", new(*LoadError), "libcudnn_ops.so.9", 0},
		{"link to nowhere", NCCL, "text", "", new(*MissingError), "is not in", 0},
		{"nothing", NCCL, "good", "", new(*MissingError), "libnccl.so.2 is not in", 0},
		{"ends who loads it", NCCL, "deadly", "", new(*LoadError), "is damaged (aborted in a process that tried it): install it again", 0},
		{"ends who calls it", NCCL, "lethal", "", new(*LoadError), "is damaged (segmentation fault", 0},
		{"another architecture", CuBLASLt, "foreign", "", new(*LoadError), "and this machine is", 0},
		{"without its parts", &calls, "alone", "", new(*LoadError), "libquern_part.so.9, which is not usable", 0},
		{"without what it calls", &calls, "uncalled", "", new(*LoadError), "needs libquern_called.so.13", 0},
		{"with what it calls", &calls, "called", "9.26.0", nil, "", 0},
		{"for the driver", CuBLASLt, "good", "13.4.1", nil, "", 13000},
		{"for a later driver", CuBLASLt, "good", "", new(*DriverError), "requires CUDA 13", 12080},
		{"the one for the driver", CuBLASLt, "two", "12.4.0", nil, "", 12080},
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
			h, err := row.library.open(m, row.driver)
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
	// The folders of the dynamic loader are searched too.
	cut := Machine{Env: func(name string) string {
		if name == "LD_LIBRARY_PATH" {
			return file("cut")
		}
		return ""
	}, Loaded: func() []string { return nil }}
	only := *CuBLASLt
	only.Files = []string{"libquern_cut.so.13"}
	if h, err := only.open(cut, 0); !errors.As(err, new(*LoadError)) || !strings.Contains(err.Error(), "install it again") {
		t.Errorf("half a file on the loader's path: %+v, %v", h, err)
	}
	// A library that the dynamic loader does not find is reported as a MissingError.
	none := Machine{Env: func(string) string { return "" }, Loaded: func() []string { return nil }}
	if h, err := NCCL.open(none, 0); err != nil && !errors.As(err, new(*MissingError)) {
		t.Errorf("no NCCL: %+v, %v", h, err)
	}
}

// If the real libraries are installed, their versions must be supported.
func TestOpenHere(t *testing.T) {
	for _, f := range Report(0) {
		if f.Unused != nil {
			t.Logf("%s: %v", f.Library.Name, f.Unused)
			continue
		}
		t.Logf("%s %s, %s (%s)", f.Library.Name, f.Version, f.Location.Path, f.Location.From)
	}
	// A library is loaded once.
	for _, l := range All {
		one, err := l.Open(0)
		if two, again := l.Open(0); one != two || (again == nil) != (err == nil) {
			t.Errorf("%s was loaded twice", l.Name)
		}
	}
}

// A library that was not found is loaded when it has been installed.
func TestOpenAfterError(t *testing.T) {
	folder := t.TempDir()
	t.Setenv(Variable, folder)
	l := *NCCL // not one that another test has opened
	if h, err := l.Open(0); !errors.As(err, new(*MissingError)) {
		t.Fatalf("got %+v, %v", h, err)
	}
	if err := os.WriteFile(filepath.Join(folder, "libnccl.so.2"), []byte("half a download"), 0o600); err != nil {
		t.Fatal(err)
	}
	if h, err := l.Open(0); !errors.As(err, new(*LoadError)) {
		t.Fatalf("got %+v, %v", h, err)
	}
	compiled(t, folder, "libnccl.so.2", "int ncclGetVersion(int *v) { *v = 22907; return 0; }")
	h, err := l.Open(0)
	if err != nil || h.Version.String() != "2.29.7" {
		t.Fatalf("got %+v, %v", h, err)
	}
	if again, err := l.Open(0); again != h || err != nil {
		t.Errorf("loaded again: %+v, %v", again, err)
	}
}

// A table has the addresses in the order of the names, and 0 for an optional function that the library does not have.
func TestTable(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	compiled(t, folder, "libquern_table.so", "int one(void) { return 1; }\nint two(void) { return 2; }\n")
	h, err := Load(filepath.Join(folder, "libquern_table.so"))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	table, err := h.Table([]string{"two", "one"}, []string{"three", "one"})
	if err != nil {
		t.Fatal(err)
	}
	one, _ := h.Symbol("one")
	two, _ := h.Symbol("two")
	if got, want := *(*[4]uintptr)(table), [4]uintptr{two, one, 0, one}; got != want || one == 0 || one == two {
		t.Errorf("got %x, want %x", got, want)
	}
	if _, err := h.Table([]string{"one", "three"}, nil); !errors.As(err, new(*LoadError)) || !strings.Contains(err.Error(), "has no three") {
		t.Errorf("a required function: %v", err)
	}
	if _, err := Load(filepath.Join(folder, "nothing.so")); !errors.As(err, new(*LoadError)) {
		t.Errorf("no file: %v", err)
	}
}
