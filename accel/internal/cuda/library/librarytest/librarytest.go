//go:build linux && cgo

package librarytest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/library"
	"github.com/quernlab/quern/internal/testenv"
)

// Installed returns a library of this machine. Without one it skips the test.
func Installed(t *testing.T, l *library.Library) *library.Handle {
	t.Helper()
	h, err := l.Open(0)
	if err != nil {
		testenv.Optional(t, "no %s here: %v", l.Name, err)
	}
	return h
}

// Fake compiles a fake of a library, which computes on host memory, and loads it. The
// library is the first of its file names. The others are empty files that the real library
// consists of or loads.
func Fake(t *testing.T, l *library.Library, source string, others ...string) *library.Handle {
	t.Helper()
	folder := t.TempDir()
	Compile(t, filepath.Join(folder, l.Files[0]), source)
	for _, other := range others {
		Compile(t, filepath.Join(folder, other), os.DevNull)
	}
	h, err := l.OpenIn(folder)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Compile compiles a file in C as a shared library.
func Compile(t *testing.T, path, source string, options ...string) {
	t.Helper()
	cc := append([]string{"-shared", "-fPIC", "-O1", "-o", path}, options...)
	if out, err := exec.Command(testenv.Command(t, "cc"), append(cc, "-x", "c", source, "-lm")...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// Pointer returns the address of the elements, which are the device memory of a fake.
func Pointer[T any](v []T) driver.Pointer {
	return driver.Pointer(uintptr(unsafe.Pointer(unsafe.SliceData(v))))
}

// Include returns the folder with the headers of a library of this machine, and the text of
// one. Without that header it skips the test.
func Include(t *testing.T, h *library.Handle, header string) (folder, text string) {
	t.Helper()
	folder = filepath.Join(filepath.Dir(filepath.Dir(h.Path)), "include")
	b, err := os.ReadFile(filepath.Join(folder, header))
	if err != nil {
		testenv.Optional(t, "the header is not beside the library: %v", err)
	}
	return folder, string(b)
}

// Enum returns the first enum of shim.c, and how many constants it has.
func Enum(t *testing.T) (text string, constants int) {
	t.Helper()
	shim, err := os.ReadFile("shim.c")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(shim), "enum {")
	text, _, end := strings.Cut(text, "};")
	if !found || !end {
		t.Fatal("shim.c has no enum")
	}
	return "enum {" + text + "};\n", strings.Count(text, " = ")
}

// CheckEqual fails unless pairs of constants are equal in C. The source declares them, and
// the options are those of the compiler, such as -I.
func CheckEqual(t *testing.T, source string, pairs map[string]string, options ...string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("#include <stddef.h>\n" + source + "\n")
	for ours, theirs := range pairs {
		b.WriteString("_Static_assert((int)" + ours + " == (int)" + theirs + ", \"" + theirs + "\");\n")
	}
	c := exec.Command(testenv.Command(t, "cc"), append([]string{"-fsyntax-only", "-x", "c", "-"}, options...)...)
	c.Stdin = strings.NewReader(b.String())
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
