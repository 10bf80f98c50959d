package frame

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unsafe"
)

// FileError says that the content of a file is not what its format demands.
type FileError struct {
	Path   string // empty if it was not read from a file
	Format string // such as "CSV"
	Line   int    // from 1; 0 if unknown
	Record int    // of a TFRecord file, from 1; 0 for other files
	Column string // empty if unknown
	Want   string // what was expected
	Got    string // what was found
}

// Error says where the file is invalid, and what was expected and found there.
func (e *FileError) Error() string {
	text := "frame: "
	if e.Path != "" {
		text += e.Path + ": "
	}
	text += e.Format
	if e.Line > 0 {
		text += fmt.Sprintf(", line %d", e.Line)
	}
	if e.Record > 0 {
		text += fmt.Sprintf(", record %d", e.Record)
	}
	if e.Column != "" {
		text += fmt.Sprintf(", column %q", e.Column)
	}
	return text + ": want " + e.Want + ", got " + e.Got
}

// readFile opens a file and calls read with its content, uncompressed.
func readFile(path string, read func(io.Reader) (*Frame, error)) (*Frame, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("frame: %w", err)
	}
	defer file.Close()
	f, err := read(file)
	invalid, ok := errors.AsType[*FileError](err)
	switch {
	case ok:
		invalid.Path = path
	case err != nil && strings.HasPrefix(err.Error(), "frame: "):
		return nil, fmt.Errorf("%s: %w", path, err)
	case err != nil:
		return nil, fmt.Errorf("frame: %s: %w", path, err)
	}
	return f, err
}

// uncompressed returns a reader of the content of r, which may be compressed with gzip or bzip2,
// whatever its name is.
func uncompressed(r io.Reader) (io.Reader, error) {
	b := bufio.NewReaderSize(r, 1<<16)
	start, err := b.Peek(3)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(start, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, damagedData(z, err)
		}
		return z, nil
	case bytes.HasPrefix(start, []byte("BZh")):
		return bzip2.NewReader(b), nil
	}
	return b, nil
}

// damagedData returns the error of reading u as a [*FileError] if u is compressed and its data are the cause.
func damagedData(u io.Reader, err error) error {
	if _, plain := u.(*bufio.Reader); plain || errors.As(err, new(*fs.PathError)) {
		return err
	}
	return &FileError{Format: "compressed data", Want: "a whole file", Got: fmt.Sprintf("one that is damaged or truncated (%v)", err)}
}

// readError adds what was read to an error, unless that is a [*FileError].
func readError(format string, err error) error {
	if errors.As(err, new(*FileError)) {
		return err
	}
	return fmt.Errorf("reading %s: %w", format, err)
}

// content reads everything, uncompressed.
func content(r io.Reader) ([]byte, error) {
	u, err := uncompressed(r)
	if err != nil {
		return nil, err
	}
	file, _ := r.(*os.File)
	start, plain := u.(*bufio.Reader)
	var b bytes.Buffer
	if plain && file != nil {
		data, err := readAll(start, file)
		if err != nil {
			return nil, err
		}
		b = *bytes.NewBuffer(data)
	}
	if _, err := b.ReadFrom(u); err != nil {
		return nil, damagedData(u, err)
	}
	return b.Bytes(), nil
}

// pieceSize is how many bytes of a file are read at once.
const pieceSize = 1 << 20

// readAll reads a regular file, whose start may be buffered, on all cores, which takes half as long as on one. It leaves to the
// caller what another program may have appended, and all of a file that is not regular.
func readAll(start *bufio.Reader, file *os.File) ([]byte, error) {
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	from, err := file.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, nil
	}
	buffered := start.Buffered()
	rest := max(0, info.Size()-from)
	data := uncleared(buffered + int(rest) + bytes.MinRead)[:buffered+int(rest)]
	if _, err := io.ReadFull(start, data[:buffered]); err != nil {
		return nil, err
	}
	unread := data[buffered:]
	err = parallel((len(unread)+pieceSize-1)/pieceSize, func(_, k int) error {
		at := k * pieceSize
		_, err := file.ReadAt(unread[at:min(at+pieceSize, len(unread))], from+int64(at))
		if errors.Is(err, io.EOF) {
			return io.ErrUnexpectedEOF // another program has shortened it
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	_, err = file.Seek(from+rest, io.SeekStart)
	return data, err
}

// uncleared returns n bytes, at least one, with any values. One core would clear those of a slice, which takes a tenth of the time
// that two cores need to read a CSV file.
func uncleared(n int) []byte {
	var b strings.Builder
	b.Grow(n)
	b.WriteByte(0) // the address of an empty string is not specified
	return unsafe.Slice(unsafe.StringData(b.String()), n)
}

// chooseColumns returns the indices of the chosen names, or of all if none are chosen.
func chooseColumns(names, chosen []string) ([]int, error) {
	if len(chosen) == 0 {
		chosen = names
	}
	places := make(map[string]int, len(names))
	for i, name := range names {
		places[name] = i
	}
	indices := make([]int, len(chosen))
	seen := make(map[string]bool, len(chosen))
	for k, name := range chosen {
		i, ok := places[name]
		if !ok {
			return nil, &ColumnError{Name: name, Columns: names}
		}
		if seen[name] {
			return nil, &ColumnError{Name: name, Duplicate: true}
		}
		indices[k], seen[name] = i, true
	}
	return indices, nil
}

// foreign returns what kind of file begins in this way if it cannot be a text file, or "".
func foreign(start []byte) string {
	for prefix, kind := range map[string]string{
		"PAR1":              "a Parquet file: use Parquet",
		"ARROW1":            "an Arrow file: use Arrow",
		"PK\x03\x04":        "a ZIP archive, such as an Excel workbook: save the sheet as CSV",
		"\xd0\xcf\x11\xe0":  "an Excel workbook: save the sheet as CSV",
		"\x28\xb5\x2f\xfd":  "data compressed with zstd: uncompress it first",
		"\xfd7zXZ":          "data compressed with xz: uncompress it first",
		"SQLite format 3":   "an SQLite database: export a table as CSV",
		"\xff\xfe":          "text in UTF-16: save it as UTF-8",
		"\xfe\xff":          "text in UTF-16: save it as UTF-8",
		"\x89HDF":           "an HDF5 file: export a table as CSV",
		"<!DOCTYPE html":    "a web page: download the file itself",
		"<html":             "a web page: download the file itself",
		"version https://g": "the pointer of a Git LFS file: download the file itself",
	} {
		if bytes.HasPrefix(start, []byte(prefix)) {
			return kind
		}
	}
	return ""
}
