package stream

import (
	"io"
	"os"
	"reflect"
	"strings"
)

// redirected lists the packages with functions that take a reader or writer. If such a
// function is called with os.Stdin, os.Stdout or os.Stderr, it uses the stream of the
// session instead, which asks the user for input, and keeps the order of what is written to
// the two output streams.
//
// Code that stores such a file in a field, or passes it to a child process, uses the file
// of the process. What is written to that is in order only within each stream, and standard
// input cannot be read, except by a child process, which reads from a pipe.
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

// Redirect wraps the functions of compiled packages that take readers or writers, so that
// they use the streams of the session in place of standard files.
func Redirect(packages map[string]map[string]reflect.Value, in *Input, out *Output) {
	for _, path := range redirected {
		for name, f := range packages[path] {
			if !f.IsValid() || f.Kind() != reflect.Func || strings.HasPrefix(name, "_") || !takesStream(f.Type()) {
				continue
			}
			packages[path][name] = redirect(f, in, out)
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

func redirect(f reflect.Value, in *Input, out *Output) reflect.Value {
	t := f.Type()
	return reflect.MakeFunc(t, func(args []reflect.Value) []reflect.Value {
		for i, a := range args {
			file, ok := asFile(a)
			if !ok {
				continue
			}
			switch t.In(i) {
			case readerType:
				r := in.Replace(file)
				args[i] = reflect.ValueOf(&r).Elem()
			case writerType:
				w := out.Replace(file)
				args[i] = reflect.ValueOf(&w).Elem()
			}
		}
		if t.IsVariadic() {
			return f.CallSlice(args)
		}
		return f.Call(args)
	})
}

// asFile returns the file in an interface value.
func asFile(v reflect.Value) (*os.File, bool) {
	if v.Kind() != reflect.Interface || v.IsNil() {
		return nil, false
	}
	f, ok := v.Interface().(*os.File)
	return f, ok
}
