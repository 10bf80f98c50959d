package main

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/lzw"
	"compress/zlib"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"sort"
	"strings"
	"testing/fstest"
	"testing/iotest"
	"text/template"
	"time"
)

// Packages io, io/fs and those that read and write look for optional methods.

var seen []string

func saw(format string, a ...any) { seen = append(seen, fmt.Sprintf(format, a...)) }

func show(what string, values ...any) {
	fmt.Println(append([]any{what, seen}, values...)...)
	seen = nil
}

type source struct {
	text string
	at   int
}

func (s *source) Read(b []byte) (int, error) {
	saw("Read")
	if s.at == len(s.text) {
		return 0, io.EOF
	}
	n := copy(b, s.text[s.at:])
	s.at += n
	return n, nil
}

type byteSource struct{ source }

func (s *byteSource) ReadByte() (byte, error) {
	if s.at == len(s.text) {
		return 0, io.EOF
	}
	s.at++
	return s.text[s.at-1], nil
}

func (s *byteSource) UnreadByte() error { s.at--; return nil }

type runeSource struct{ byteSource }

func (s *runeSource) ReadRune() (rune, int, error) {
	saw("ReadRune")
	if s.at == len(s.text) {
		return 0, 0, io.EOF
	}
	s.at++
	return rune(s.text[s.at-1]), 1, nil
}

func (s *runeSource) UnreadRune() error { saw("UnreadRune"); s.at--; return nil }

type writerTo struct{ source }

func (s *writerTo) WriteTo(w io.Writer) (int64, error) {
	saw("WriteTo")
	n, err := io.WriteString(w, s.text)
	return int64(n), err
}

type seeker struct{ source }

func (s *seeker) Seek(offset int64, whence int) (int64, error) {
	saw("Seek %d %d", offset, whence)
	switch whence {
	case io.SeekStart:
		s.at = int(offset)
	case io.SeekEnd:
		s.at = len(s.text) + int(offset)
	default:
		s.at += int(offset)
	}
	return int64(s.at), nil
}

type at string

func (a at) ReadAt(b []byte, off int64) (int, error) {
	saw("ReadAt %d", off)
	if int(off) >= len(a) {
		return 0, io.EOF
	}
	n := copy(b, a[off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

type sink struct{ b bytes.Buffer }

func (s *sink) Write(b []byte) (int, error) { saw("Write"); return s.b.Write(b) }

type stringSink struct{ sink }

func (s *stringSink) WriteString(text string) (int, error) {
	saw("WriteString %q", text)
	return s.b.WriteString(text)
}

type readerFrom struct{ sink }

func (s *readerFrom) ReadFrom(r io.Reader) (int64, error) {
	saw("ReadFrom")
	return s.b.ReadFrom(r)
}

type bothSides struct {
	*stringSink
	io.Reader
}

type flusher struct{ sink }

func (f *flusher) Flush() error              { saw("Flush"); return nil }
func (f *flusher) WriteByte(c byte) error    { return f.b.WriteByte(c) }
func (f *flusher) Close() error              { saw("Close"); return errors.New("closed") }
func (f *flusher) Sync() error               { saw("Sync"); return nil }
func (f *flusher) Reset(w io.Writer)         { saw("Reset") }
func (f *flusher) Available() int            { return 1 }
func (f *flusher) Name() string              { return "flusher" }
func (f *flusher) String() string            { return f.b.String() }
func (f flusher) Format(s fmt.State, _ rune) { io.WriteString(s, "formatted"); s.Write([]byte("!")) }

// A file system with all optional methods, and one with none.

type plainFS struct{ fstest.MapFS }

func (p plainFS) Open(name string) (fs.File, error) { saw("Open %s", name); return p.MapFS.Open(name) }

type onlyOpen struct{ fs fs.FS }

func (o onlyOpen) Open(name string) (fs.File, error) { saw("open %s", name); return o.fs.Open(name) }

type readFileFS struct{ onlyOpen }

func (readFileFS) ReadFile(name string) ([]byte, error) {
	saw("ReadFile")
	return []byte("read " + name), nil
}

type statFS struct{ onlyOpen }

func (statFS) Stat(name string) (fs.FileInfo, error) { return info(name), nil }

type info string

func (i info) Name() string       { return path.Base(string(i)) }
func (i info) Size() int64        { return int64(len(i)) }
func (i info) Mode() fs.FileMode  { return 0o640 }
func (i info) ModTime() time.Time { return time.Unix(1e9, 0).UTC() }
func (i info) IsDir() bool        { return false }
func (i info) Sys() any           { return i }

type named struct{ info }

func (named) Uname() (string, error) { return "user of a cell", nil }
func (named) Gname() (string, error) { return "group of a cell", nil }

type subFS struct{ onlyOpen }

func (s subFS) Sub(dir string) (fs.FS, error) { saw("Sub %s", dir); return fs.Sub(s.fs, dir) }

type globFS struct{ onlyOpen }

func (globFS) Glob(pattern string) ([]string, error) { return []string{"found " + pattern}, nil }

type readDirFS struct{ onlyOpen }

func (r readDirFS) ReadDir(name string) ([]fs.DirEntry, error) {
	saw("ReadDir %s", name)
	return fs.ReadDir(r.fs, name)
}

type linkFS struct{ onlyOpen }

func (linkFS) ReadLink(name string) (string, error)   { return "link of " + name, nil }
func (linkFS) Lstat(name string) (fs.FileInfo, error) { return info("lstat " + name), nil }

type entry struct{ info }

func (e entry) Type() fs.FileMode          { return 0 }
func (e entry) Info() (fs.FileInfo, error) { return e.info, nil }

func main() {
	var plain sink
	n, err := io.Copy(&plain, &source{text: "plain"})
	show("copy", n, err, plain.b.String())
	n, err = io.Copy(&plain, &writerTo{source{text: "to"}})
	show("copy WriterTo", n, err)
	var from readerFrom
	n, err = io.Copy(&from, &source{text: "from"})
	show("copy ReaderFrom", n, err, from.b.String())
	n, err = io.CopyN(&from, &writerTo{source{text: "limited"}}, 3)
	show("copy n", n, err, from.b.String())
	n, err = io.CopyBuffer(struct{ io.Writer }{&from}, struct{ io.Reader }{&writerTo{source{text: "hidden"}}}, make([]byte, 2))
	show("copy of hidden methods", n, err, from.b.String())
	var text stringSink
	m, err := io.WriteString(&text, "text")
	show("WriteString", m, err)
	m, err = io.WriteString(io.MultiWriter(&plain, &text), "several")
	show("MultiWriter", m, err)
	m, err = io.WriteString(bothSides{&text, nil}, "embedded")
	show("embedded", m, err, text.b.String())
	_, err = fmt.Fprintf(&text, "%d", 5)
	show("Fprintf", err)
	w := bufio.NewWriterSize(&text, 16)
	w.WriteString(strings.Repeat("long", 10))
	w.Flush()
	show("bufio.Writer", text.b.Len())
	bw := bufio.NewWriter(&from)
	n, err = bw.ReadFrom(&source{text: "x"})
	show("bufio ReadFrom", n, err)
	n, err = bufio.NewReader(&writerTo{source{text: "buffered"}}).WriteTo(&plain)
	show("bufio WriteTo", n, err)

	section := io.NewSectionReader(at("0123456789"), 2, 5)
	all, err := io.ReadAll(section)
	show("section", string(all), err)
	p, err := io.NewSectionReader(at("0123456789"), 2, 5).Seek(-1, io.SeekEnd)
	show("section seek", p, err)
	all, err = io.ReadAll(io.TeeReader(&source{text: "tee"}, &text))
	show("tee", string(all), err)
	closer := io.NopCloser(&writerTo{source{text: "nop"}})
	n, err = io.Copy(&plain, closer)
	show("nop closer", n, err, closer.Close())

	var word string
	var number int
	fmt.Fscan(&runeSource{byteSource{source{text: "word 12 rest"}}}, &word, &number)
	show("scan", word, number)
	rest := &source{text: "9 8"}
	fmt.Fscan(rest, &number)
	show("scan bytes", number, rest.at)
	value, err := binary.ReadUvarint(&byteSource{source{text: "\x96\x01"}})
	show("uvarint", value, err)

	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, "zipped")
	z.Close()
	after := &byteSource{source{text: packed.String() + "after"}}
	unzip, err := gzip.NewReader(after)
	if err == nil {
		unzip.Multistream(false)
		all, err = io.ReadAll(unzip)
	}
	seen = nil
	show("gzip leaves the rest", string(all), err, after.text[after.at:])
	packed.Reset()
	f, _ := flate.NewWriter(&packed, 6)
	io.WriteString(f, "flate")
	f.Close()
	after = &byteSource{source{text: packed.String() + "rest"}}
	all, err = io.ReadAll(flate.NewReader(after))
	seen = nil
	show("flate", string(all), err, after.text[after.at:])
	packed.Reset()
	zw := zlib.NewWriter(&packed)
	io.WriteString(zw, "zlib")
	zw.Close()
	after = &byteSource{source{text: packed.String() + "more"}}
	zr, err := zlib.NewReader(after)
	all, _ = io.ReadAll(zr)
	seen = nil
	show("zlib", string(all), err, after.text[after.at:])
	var flushed flusher
	lw := lzw.NewWriter(&flushed, lzw.LSB, 8)
	io.WriteString(lw, "aaaa")
	err = lw.Close()
	show("lzw", flushed.b.Len(), err)
	fmt.Printf("%v %s %d\n", flushed, &flushed, struct{ f *flusher }{nil})
	reader := csv.NewReader(iotest.OneByteReader(&source{text: "a,b\n"}))
	record, err := reader.Read()
	show("csv", record, err)

	files := fstest.MapFS{"a/b.txt": {Data: []byte("b")}, "a/c.txt": {Data: []byte("{{.}} c")}, "d.txt": {Data: []byte("d")}}
	open := onlyOpen{files}
	for _, system := range []fs.FS{open, readFileFS{open}, statFS{open}, subFS{open}, globFS{open}, readDirFS{open}, linkFS{open}, &readDirFS{open}} {
		fmt.Printf("%T\n", system)
		data, err := fs.ReadFile(system, "a/b.txt")
		show("  ReadFile", string(data), err)
		i, err := fs.Stat(system, "a/b.txt")
		show("  Stat", i.Name(), i.Size(), i.Mode(), err)
		_, err = fs.Sub(system, "a")
		show("  Sub", err)
		names, err := fs.Glob(system, "a/*")
		show("  Glob", names, err)
		entries, err := fs.ReadDir(system, "a")
		show("  ReadDir", len(entries), err)
		link, err := fs.ReadLink(system, "d.txt")
		show("  ReadLink", link, err != nil)
		i, err = fs.Lstat(system, "d.txt")
		show("  Lstat", i.Name(), err)
		walked := 0
		err = fs.WalkDir(system, ".", func(string, fs.DirEntry, error) error { walked++; return nil })
		seen = nil
		show("  WalkDir", walked, err)
		t, err := template.ParseFS(system, "a/c.txt")
		seen = nil
		if err == nil {
			err = t.Execute(&plain.b, "x")
		}
		show("  ParseFS", err)
	}
	sub, err := fs.Sub(readFileFS{open}, "a")
	data, err2 := fs.ReadFile(sub, "b.txt")
	show("sub of ReadFileFS", string(data), err, err2)
	fmt.Println(fstest.TestFS(plainFS{files}, "d.txt"))
	sort.Strings(seen)
	seen = nil

	fmt.Println(fs.FormatFileInfo(info("x/y")), fs.FormatDirEntry(entry{"z"}), fs.FileInfoToDirEntry(info("q")))
	header, err := tar.FileInfoHeader(named{"some/file"}, "")
	fmt.Println(header.Name, header.Size, header.Mode, header.Uname, header.Gname, err)
	header, err = tar.FileInfoHeader(info("some/file"), "")
	fmt.Println(header.Name, header.Uname == "", err)
	zipHeader, err := zip.FileInfoHeader(info("some/file"))
	fmt.Println(zipHeader.Name, zipHeader.UncompressedSize64, zipHeader.Modified, err)
	packed.Reset()
	zipped := zip.NewWriter(&packed)
	fmt.Println(zipped.AddFS(onlyOpen{files}), zipped.Close())
	seen = nil
	archive, err := zip.NewReader(at(packed.String()), int64(packed.Len()))
	fmt.Println(len(archive.File), err)
	fmt.Println(fs.ValidPath("a"), errors.Is(&fs.PathError{Op: "open", Path: "p", Err: fs.ErrNotExist}, fs.ErrNotExist))
}
