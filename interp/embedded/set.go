package embedded

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"unsafe"
)

// Set stores the files in a variable of type string, []byte or embed.FS. The first two hold one
// file.
func (f Files) Set(v reflect.Value) error {
	switch {
	case v.Type() == reflect.TypeFor[embed.FS]():
		v.Set(reflect.ValueOf(f.FS()))
		return nil
	case len(f) != 1:
		return fmt.Errorf("a variable of type %s holds one embedded file, not %d: use embed.FS", v.Type(), len(f))
	case v.Kind() == reflect.String:
		for _, text := range f {
			v.SetString(text)
		}
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		for _, text := range f {
			v.SetBytes([]byte(text))
		}
	default:
		return fmt.Errorf("go:embed cannot apply to a variable of type %s", v.Type())
	}
	return nil
}

// fsFile is the type of the elements of embed.FS, whose only field is a pointer to a slice of them.
// A test compares it with the fields of package embed.
type fsFile struct {
	name string // with a slash at the end for a directory
	data string
	hash [16]byte // the first bytes of the SHA-256 sum; zero for a directory
}

// FS returns the files as a file system.
func (f Files) FS() embed.FS {
	names := map[string]bool{}
	for name := range f {
		names[name] = true
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			names[dir+"/"] = true
		}
	}
	list := make([]fsFile, 0, len(names))
	for name := range names {
		file := fsFile{name: name, data: f[name]}
		if !strings.HasSuffix(name, "/") {
			sum := sha256.Sum256([]byte(file.data))
			copy(file.hash[:], sum[:])
		}
		list = append(list, file)
	}
	// embed.FS searches by directory and then by name.
	slices.SortFunc(list, func(a, b fsFile) int {
		aDir, aName := path.Split(strings.TrimSuffix(a.name, "/"))
		bDir, bName := path.Split(strings.TrimSuffix(b.name, "/"))
		if c := strings.Compare(directory(aDir), directory(bDir)); c != 0 {
			return c
		}
		return strings.Compare(aName, bName)
	})
	var system embed.FS
	*(**[]fsFile)(unsafe.Pointer(&system)) = &list
	return system
}

// directory returns the name by which package embed sorts the entries of a directory.
func directory(dir string) string {
	if dir == "" {
		return "."
	}
	return strings.TrimSuffix(dir, "/")
}
