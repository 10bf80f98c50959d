// Package archive is the file that holds what the front end knows of compiled packages: their types and their documentation.
//
// One archive may lie over another and then has the names of all packages, but types and documentation only of some.
// It is a zip file with fixed times and sorted names, so that the same packages give the same bytes:
//
//	version            the minor Go release whose toolchain the types come from, for instance "go1.26"
//	names              one line a package: import path, space, package name
//	types/<path>       the package's types in the indexed export format of golang.org/x/tools/go/gcexportdata
//	doc/<path>         its documentation, see [Docs]
//
// The generator writes it, package symbols embeds and reads it. A Reader may be used by several goroutines.
package archive

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

const (
	versionFile  = "version"
	namesFile    = "names"
	typesFolder  = "types/"
	docsFolder   = "doc/"
	docSeparator = "\x00"
)

// Package is what an archive holds of one package.
type Package struct {
	Path  string
	Name  string // "": it cannot be imported, and is not among Names
	Types []byte // indexed export data; nil: none here
	Docs  Docs   // nil: none here
}

// Docs maps "Name", "Type.Method" and "Type.Field" to documentation; the empty name is the package's own.
type Docs map[string]string

// Write writes the packages and the Go version they come from. The order of the packages does not matter.
func Write(w io.Writer, goVersion string, packages []Package) error {
	packages = sorted(packages)
	z := zip.NewWriter(w)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	add := func(name string, data []byte) error {
		f, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		return err
	}
	if err := add(versionFile, []byte(goVersion)); err != nil {
		return err
	}
	if err := add(namesFile, formatNames(packages)); err != nil {
		return err
	}
	for _, p := range packages {
		if p.Types != nil {
			if err := add(typesFolder+p.Path, p.Types); err != nil {
				return err
			}
		}
		if p.Docs != nil {
			if err := add(docsFolder+p.Path, p.Docs.encode()); err != nil {
				return err
			}
		}
	}
	return z.Close()
}

// encode puts name and text after one another, each ended by a zero byte, in the order of the names.
func (d Docs) encode() []byte {
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(d)) {
		b.WriteString(name + docSeparator + d[name] + docSeparator)
	}
	return b.Bytes()
}

func decodeDocs(data []byte) Docs {
	d := make(Docs)
	fields := strings.Split(string(data), docSeparator)
	for i := 0; i+1 < len(fields); i += 2 {
		d[fields[i]] = fields[i+1]
	}
	return d
}

// Reader reads an archive that lies in memory; each package is unpacked when it is asked for.
type Reader struct {
	version string
	names   map[string]string
	files   map[string]*zip.File
}

// ErrNone says that the archive has no such entry.
var ErrNone = errors.New("not in the package archive")

// NewReader reads the archive's table of contents.
func NewReader(data string) (*Reader, error) {
	z, err := zip.NewReader(strings.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("package archive: %w", err)
	}
	r := &Reader{files: make(map[string]*zip.File, len(z.File))}
	for _, f := range z.File {
		r.files[f.Name] = f
	}
	version, err := r.read(versionFile)
	if err != nil {
		return nil, err
	}
	r.version = string(version)
	names, err := r.read(namesFile)
	if err != nil {
		return nil, err
	}
	r.names = parseNames(names)
	return r, nil
}

// Version returns the minor Go release that made the archive, for instance "go1.26".
func (r *Reader) Version() string { return r.version }

// Names returns the package name of each import path. The caller does not change it.
func (r *Reader) Names() map[string]string { return r.names }

// Types returns the export data of a package.
func (r *Reader) Types(path string) ([]byte, error) { return r.read(typesFolder + path) }

// Docs returns the documentation of a package.
func (r *Reader) Docs(path string) (Docs, error) {
	data, err := r.read(docsFolder + path)
	if err != nil {
		return nil, err
	}
	return decodeDocs(data), nil
}

func (r *Reader) read(name string) ([]byte, error) {
	f := r.files[name]
	if f == nil {
		return nil, fmt.Errorf("%s: %w", name, ErrNone)
	}
	in, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("package archive: %s: %w", name, err)
	}
	defer in.Close()
	data := make([]byte, f.UncompressedSize64)
	if _, err := io.ReadFull(in, data); err != nil {
		return nil, fmt.Errorf("package archive: %s: %w", name, err)
	}
	return data, nil
}
