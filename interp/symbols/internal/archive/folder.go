package archive

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Folder reads packages from separate files, so that changes of two packages do not conflict in version
// control:
//
//	names              as in an archive
//	<path>/types       types, compressed
//	<path>/doc         documentation, compressed
//
// A file is decompressed when it is read. A Folder may be used concurrently.
type Folder struct {
	files fs.FS
	names map[string]string
}

// Names of the files of a package.
const (
	folderTypes = "types"
	folderDocs  = "doc"
)

// OpenFolder reads the package names of a folder.
func OpenFolder(files fs.FS) (*Folder, error) {
	text, err := fs.ReadFile(files, namesFile)
	if err != nil {
		return nil, fmt.Errorf("package folder: %w", err)
	}
	return &Folder{files, parseNames(text)}, nil
}

// Names returns the package names by import path. The caller must not change the map.
func (f *Folder) Names() map[string]string { return f.names }

// Types returns the export data of a package.
func (f *Folder) Types(path string) ([]byte, error) { return f.read(path + "/" + folderTypes) }

// Docs returns the documentation of a package.
func (f *Folder) Docs(path string) (Docs, error) {
	data, err := f.read(path + "/" + folderDocs)
	if err != nil {
		return nil, err
	}
	return decodeDocs(data), nil
}

func (f *Folder) read(name string) ([]byte, error) {
	packed, err := fs.ReadFile(f.files, name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return nil, fmt.Errorf("%s: %w", name, ErrNone)
	} else if err != nil {
		return nil, fmt.Errorf("package folder: %w", err)
	}
	data, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil {
		return nil, fmt.Errorf("package folder: %s: %w", name, err)
	}
	return data, nil
}

// WriteFolder replaces dir by a [Folder] of the packages. The same packages give the same bytes.
func WriteFolder(dir string, packages []Package) error {
	packages = sorted(packages)
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, p := range packages {
		at := filepath.Join(dir, filepath.FromSlash(p.Path))
		if err := os.MkdirAll(at, 0o777); err != nil {
			return err
		}
		if p.Types != nil {
			if err := writePacked(filepath.Join(at, folderTypes), p.Types); err != nil {
				return err
			}
		}
		if p.Docs != nil {
			if err := writePacked(filepath.Join(at, folderDocs), p.Docs.encode()); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(filepath.Join(dir, namesFile), formatNames(packages), 0o666)
}

func writePacked(name string, data []byte) error {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(name, b.Bytes(), 0o666)
}

func sorted(packages []Package) []Package {
	return slices.SortedFunc(slices.Values(packages), func(a, b Package) int { return strings.Compare(a.Path, b.Path) })
}

// formatNames formats the table of package names, parseNames parses it.
func formatNames(packages []Package) []byte {
	var b bytes.Buffer
	for _, p := range packages {
		if p.Name != "" {
			fmt.Fprintf(&b, "%s %s\n", p.Path, p.Name)
		}
	}
	return b.Bytes()
}

func parseNames(text []byte) map[string]string {
	names := make(map[string]string)
	for line := range bytes.Lines(text) {
		path, name, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		names[path] = name
	}
	return names
}
