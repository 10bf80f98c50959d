package interp

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"syscall"

	"github.com/quernlab/quern/interp/diagnostics"
)

// redirected are the packages whose functions may be given os.Stdin, os.Stdout
// or os.Stderr: there they use the streams of the session, which ask the user
// for a line, and keep what is written to both in order.
//
// The files themselves are those of the process, for fields and for what a child
// inherits: what is written to them is in order within each stream, and standard
// input cannot be read; a child that is given it reads a pipe, see childinput.go.
var redirected = []string{
	"bufio/bufio", "bytes/bytes", "compress/gzip/gzip", "compress/zlib/zlib", "encoding/base64/base64", "encoding/csv/csv",
	"encoding/gob/gob", "encoding/hex/hex", "encoding/json/json", "encoding/xml/xml", "image/gif/gif", "image/image",
	"image/jpeg/jpeg", "image/png/png", "io/io", "io/ioutil/ioutil", "log/log", "log/slog/slog", "pprof/pprof",
	"runtime/pprof/pprof", "text/scanner/scanner", "text/tabwriter/tabwriter",
}

var (
	readerType = reflect.TypeFor[io.Reader]()
	writerType = reflect.TypeFor[io.Writer]()
)

// redirect puts into the packages of redirected what passes on the streams of
// the session in place of the standard files.
func (s *Session) redirect(packages map[string]map[string]reflect.Value) {
	for _, key := range redirected {
		for name, f := range packages[key] {
			if !f.IsValid() || f.Kind() != reflect.Func || strings.HasPrefix(name, "_") || !takesStream(f.Type()) {
				continue
			}
			packages[key][name] = s.passStreams(f)
		}
	}
}

func takesStream(t reflect.Type) bool {
	for i := range t.NumIn() {
		if in := t.In(i); in == readerType || in == writerType {
			return true
		}
	}
	return false
}

func (s *Session) passStreams(f reflect.Value) reflect.Value {
	t := f.Type()
	return reflect.MakeFunc(t, func(args []reflect.Value) []reflect.Value {
		for i, a := range args {
			file, ok := asFile(a)
			if !ok {
				continue
			}
			switch t.In(i) {
			case readerType:
				r := s.reader(file)
				args[i] = reflect.ValueOf(&r).Elem()
			case writerType:
				w := s.standard(file)
				args[i] = reflect.ValueOf(&w).Elem()
			}
		}
		if t.IsVariadic() {
			return f.CallSlice(args)
		}
		return f.Call(args)
	})
}

// asFile is the file in an interface value.
func asFile(v reflect.Value) (*os.File, bool) {
	if v.Kind() != reflect.Interface || v.IsNil() {
		return nil, false
	}
	f, ok := v.Interface().(*os.File)
	return f, ok
}

// stdinReader is the standard input of cells. Where it fails the cell does: few
// programs look at such an error.
type stdinReader struct {
	session *Session
	r       io.Reader
}

// Read implements io.Reader.
func (r *stdinReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if err == nil || errors.Is(err, io.EOF) {
		return n, err
	}
	if m := r.session.goroutines.Member(); m != nil {
		r.session.goroutines.EndIfStopped(m)
	}
	panic(diagnostics.NewCommandError(fmt.Errorf("standard input: %w", err)))
}

// notStdin is part of the error of whoever reads os.Stdin in another way than
// openStdin provides for.
const notStdin = "os.Stdin (a notebook reads it by fmt.Scan, fmt.Fscan, bufio.NewScanner, bufio.NewReader and package io, and may give it to a child)"

// openStdin sets what os.Stdin is in cells: where the session has an input of its
// own, a file that stands for it and cannot be read.
func (s *Session) openStdin() error {
	s.stdin, s.stdinFile = s.config.stdin, os.Stdin
	if s.config.stdin == os.Stdin {
		return nil
	}
	file, err := syscall.Open(os.DevNull, syscall.O_WRONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("opening %s: %w", os.DevNull, err)
	}
	s.stdin, s.stdinFile = &stdinReader{s, s.config.stdin}, os.NewFile(uintptr(file), notStdin)
	return nil
}

// reader is the session's standard input where r stands for it.
func (s *Session) reader(r io.Reader) io.Reader {
	if r == io.Reader(s.stdinFile) {
		return s.stdin
	}
	return r
}
