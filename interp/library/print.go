package library

import (
	"io"
	"os"

	"github.com/quernlab/quern/interp/stream"
)

// A printer has the functions of package fmt that write to a writer or scan, and methods
// of os.File.
type printer struct {
	values Values
	in     *stream.Input
	out    *stream.Output
}

func (p *printer) functions() Packages {
	fprint := func(w io.Writer, a ...any) (int, error) { return p.values.Fprint(p.out.Replace(w), a...) }
	fprintf := func(w io.Writer, format string, a ...any) (int, error) {
		return p.values.Fprintf(p.out.Replace(w), format, a...)
	}
	fprintln := func(w io.Writer, a ...any) (int, error) { return p.values.Fprintln(p.out.Replace(w), a...) }
	return Packages{
		"quern/rt/rt": functionsOf(map[string]any{
			"Fprint": fprint, "Fprintf": fprintf, "Fprintln": fprintln,
			"FileRead":        func(f *os.File, b []byte) (int, error) { return p.in.Replace(f).Read(b) },
			"FileWrite":       func(f *os.File, b []byte) (int, error) { return p.out.Replace(f).Write(b) },
			"FileWriteString": func(f *os.File, text string) (int, error) { return io.WriteString(p.out.Replace(f), text) },
		}),
		"fmt/fmt": functionsOf(map[string]any{
			"Fprint": fprint, "Fprintf": fprintf, "Fprintln": fprintln,
			"Scan":   func(a ...any) (int, error) { return p.values.Fscan(p.in.Current(), a...) },
			"Scanf":  func(format string, a ...any) (int, error) { return p.values.Fscanf(p.in.Current(), format, a...) },
			"Scanln": func(a ...any) (int, error) { return p.values.Fscanln(p.in.Current(), a...) },
			"Fscan":  func(r io.Reader, a ...any) (int, error) { return p.values.Fscan(p.in.Replace(r), a...) },
			"Fscanf": func(r io.Reader, format string, a ...any) (int, error) {
				return p.values.Fscanf(p.in.Replace(r), format, a...)
			},
			"Fscanln": func(r io.Reader, a ...any) (int, error) { return p.values.Fscanln(p.in.Replace(r), a...) },
		}),
	}
}
