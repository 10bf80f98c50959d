package library

import (
	"fmt"
	"io"
	"os"

	"github.com/quernlab/quern/interp/rt"
	"github.com/quernlab/quern/interp/stream"
)

// A printer has the functions of package fmt that write to a writer or scan, and methods
// of os.File.
type printer struct {
	in  *stream.Input
	out *stream.Output
}

func (p *printer) functions() Packages {
	return Packages{
		rt.Methods: functionsOf(map[string]any{
			"(*os.File).Read":        func(f *os.File, b []byte) (int, error) { return p.in.Replace(f).Read(b) },
			"(*os.File).Write":       func(f *os.File, b []byte) (int, error) { return p.out.Replace(f).Write(b) },
			"(*os.File).WriteString": func(f *os.File, text string) (int, error) { return io.WriteString(p.out.Replace(f), text) },
		}),
		"fmt/fmt": functionsOf(map[string]any{
			"Print":   func(a ...any) (int, error) { return fmt.Fprint(p.out.Printed(), a...) },
			"Printf":  func(format string, a ...any) (int, error) { return fmt.Fprintf(p.out.Printed(), format, a...) },
			"Println": func(a ...any) (int, error) { return fmt.Fprintln(p.out.Printed(), a...) },
			"Fprint":  func(w io.Writer, a ...any) (int, error) { return fmt.Fprint(p.out.Replace(w), a...) },
			"Fprintf": func(w io.Writer, format string, a ...any) (int, error) {
				return fmt.Fprintf(p.out.Replace(w), format, a...)
			},
			"Fprintln": func(w io.Writer, a ...any) (int, error) { return fmt.Fprintln(p.out.Replace(w), a...) },
			"Scan":     func(a ...any) (int, error) { return fmt.Fscan(p.in.Current(), a...) },
			"Scanf":    func(format string, a ...any) (int, error) { return fmt.Fscanf(p.in.Current(), format, a...) },
			"Scanln":   func(a ...any) (int, error) { return fmt.Fscanln(p.in.Current(), a...) },
			"Fscan":    func(r io.Reader, a ...any) (int, error) { return fmt.Fscan(p.in.Replace(r), a...) },
			"Fscanf": func(r io.Reader, format string, a ...any) (int, error) {
				return fmt.Fscanf(p.in.Replace(r), format, a...)
			},
			"Fscanln": func(r io.Reader, a ...any) (int, error) { return fmt.Fscanln(p.in.Replace(r), a...) },
		}),
	}
}
