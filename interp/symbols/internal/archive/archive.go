// Package archive reads and writes the types and the documentation of compiled packages.
//
// An archive is a zip file with fixed times and sorted names, so that the same packages give the same
// bytes:
//
//	version            the minor Go release of the types, such as "go1.26"
//	names              one line for each package: import path, space, package name
//	types/<path>       types in the indexed export format of golang.org/x/tools/go/gcexportdata
//	doc/<path>         documentation, see [Docs]
//
// An archive that contains the differences of a platform lists the names of all packages, but has types and
// documentation only of packages that differ. The generator writes archives; package symbols embeds and
// reads them. A Reader may be used concurrently.
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

// Package is the entry of a package in an archive.
type Package struct {
	Path  string
	Name  string // "": it cannot be imported and is not in Names
	Types []byte // indexed export data; nil if the archive has none
	Docs  Docs   // nil if the archive has none
}

// Docs maps "Name", "Type.Method" and "Type.Field" to documentation. The key "" is the package.
type Docs map[string]string

// Write writes an archive. goVersion is the release of the packages; their order does not matter.
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

// encode returns the names, sorted, and their texts, each terminated by a zero byte.
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

// Reader reads an archive in memory. It decompresses a package when it is read.
type Reader struct {
	version string
	names   map[string]string
	files   map[string]*zip.File
}

// ErrNone means that the archive does not contain the entry.
var ErrNone = errors.New("not in the package archive")

// NewReader reads the table of contents of an archive.
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

// Version returns the minor Go release of the archive, such as "go1.26".
func (r *Reader) Version() string { return r.version }

// Names returns the package names by import path. The caller must not change the map.
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
