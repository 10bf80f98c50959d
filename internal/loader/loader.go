package loader

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/quernlab/quern/internal/trust"
)

// Variable is the environment variable with the directories of the loader.
const Variable = "LD_LIBRARY_PATH"

// Path is the value of [Variable] at the start of the process, which the loader uses.
var Path = sync.OnceValue(func() string {
	text, err := os.ReadFile("/proc/self/environ")
	if err != nil {
		return os.Getenv(Variable)
	}
	for entry := range bytes.SplitSeq(text, []byte{0}) {
		if value, ok := bytes.CutPrefix(entry, []byte(Variable+"=")); ok {
			return string(value)
		}
	}
	return ""
})

// UnsafeError reports a directory in LD_LIBRARY_PATH that contains libraries and in which
// other users can plant libraries.
type UnsafeError struct {
	Element string // element of the variable
	File    string // a library that the loader could load
	Err     error  // why the directory is not trusted
}

func (e *UnsafeError) Error() string {
	if e.Element == "" {
		return fmt.Sprintf("%s has an empty element, which means the working directory, and there is %s: remove the empty element (a colon at the start or end, or two in a row)", Variable, e.File)
	}
	return fmt.Sprintf("%s has the element %q, and there is %s, but %v", Variable, e.Element, e.File, e.Err)
}

// Unwrap returns why the directory is not trusted.
func (e *UnsafeError) Unwrap() error { return e.Err }

// NotFoundError reports that no library with a name was found.
type NotFoundError struct {
	Name    string
	Skipped error // why files with that name are not used; may be nil
}

func (e *NotFoundError) Error() string {
	if e.Skipped != nil {
		return fmt.Sprintf("%s is not used: %v", e.Name, e.Skipped)
	}
	return e.Name + " is not on the loader's path"
}

// Unwrap returns why files of that name are not used.
func (e *NotFoundError) Unwrap() error { return e.Skipped }

// elements splits the variable as the loader does.
func elements(path string) []string {
	if path == "" {
		return nil
	}
	return strings.Split(strings.ReplaceAll(path, ";", ":"), ":")
}

// Check returns an [*UnsafeError] if the loader would search for the dependencies of a
// library in a relative directory, or one that everybody can write to, and there are
// libraries in it. The argument is the value of [Variable].
func Check(path string) error {
	for _, element := range elements(path) {
		if strings.HasPrefix(element, "$") {
			continue // $ORIGIN and other tokens of the loader
		}
		dir, reason := element, error(nil)
		if !filepath.IsAbs(element) {
			if dir == "" {
				dir = "."
			}
			reason = &trust.Error{Path: fmt.Sprintf("%q", element), Reason: "is not an absolute path"}
		} else if info, err := os.Stat(element); err != nil || !info.IsDir() || runtime.GOOS == "windows" || info.Mode().Perm()&0o002 == 0 {
			continue
		} else {
			reason = trust.File(element)
		}
		if file := anyLibrary(dir); file != "" {
			return &UnsafeError{element, file, reason}
		}
	}
	return nil
}

// anyLibrary returns a shared library in a directory, or "".
func anyLibrary(dir string) string {
	d, err := os.Open(dir)
	if err != nil {
		return ""
	}
	defer d.Close()
	for {
		names, err := d.Readdirnames(256)
		for _, name := range names {
			if strings.HasSuffix(name, ".so") || strings.Contains(name, ".so.") {
				return filepath.Join(dir, name)
			}
		}
		if err != nil {
			return ""
		}
	}
}

// Find returns the absolute path of a library by its name: the first of this
// architecture in the trusted directories of path, which is the value of [Variable],
// in the loader's cache and in the directories of the system. The error is an
// [*UnsafeError] or a [*NotFoundError].
func Find(name, path string) (string, error) {
	if err := Check(path); err != nil {
		return "", err
	}
	var skipped []error
	for _, element := range elements(path) {
		if !filepath.IsAbs(element) {
			continue
		}
		file := filepath.Join(element, name)
		if !fits(file) {
			continue
		}
		if err := trust.File(file); err != nil {
			skipped = append(skipped, err)
			continue
		}
		return file, nil
	}
	// Whoever can write here controls the machine or has built the container.
	for _, file := range cached(name) {
		if filepath.IsAbs(file) && fits(file) {
			return file, nil
		}
	}
	for _, dir := range system() {
		if file := filepath.Join(dir, name); fits(file) {
			return file, nil
		}
	}
	return "", &NotFoundError{name, errors.Join(skipped...)}
}

// system returns the directories that the loader always searches, and the one in which
// Apptainer puts the driver of the machine.
func system() []string {
	multiarch := "x86_64-linux-gnu"
	if runtime.GOARCH == "arm64" {
		multiarch = "aarch64-linux-gnu"
	}
	return []string{"/lib/" + multiarch, "/usr/lib/" + multiarch, "/lib64", "/usr/lib64", "/lib", "/usr/lib", "/.singularity.d/libs"}
}

// Header fields of an ELF file.
const (
	elfMagic   = "\x7fELF"
	elfMachine = 18 // offset of two bytes
)

var elfMachines = map[string]byte{"amd64": 62, "arm64": 183}

// fits reports whether a file exists and is not for another architecture. Other defects
// are reported when it is loaded.
func fits(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return false
	}
	head := make([]byte, elfMachine+1)
	n, _ := f.ReadAt(head, 0)
	want, known := elfMachines[runtime.GOARCH]
	return n < len(head) || !known || string(head[:len(elfMagic)]) != elfMagic || head[elfMachine] == want
}
