package rt

import (
	"fmt"
	"io"
	"reflect"
)

// The functions of package fmt. They call fmt itself if no operand can hold a box.

// Append is fmt.Append.
func (r *Registry) Append(b []byte, operands ...any) []byte {
	if !r.mayHoldBox(operands) {
		return fmt.Append(b, operands...)
	}
	return append(b, r.plain(operands)...)
}

// Appendf is fmt.Appendf.
func (r *Registry) Appendf(b []byte, format string, operands ...any) []byte {
	if !r.mayHoldBox(operands) {
		return fmt.Appendf(b, format, operands...)
	}
	return append(b, r.formatted(format, operands)...)
}

// Appendln is fmt.Appendln.
func (r *Registry) Appendln(b []byte, operands ...any) []byte {
	if !r.mayHoldBox(operands) {
		return fmt.Appendln(b, operands...)
	}
	return append(b, r.line(operands)...)
}

// Fprint is fmt.Fprint.
func (r *Registry) Fprint(w io.Writer, operands ...any) (int, error) {
	if !r.mayHoldBox(operands) {
		return fmt.Fprint(w, operands...)
	}
	return w.Write(r.plain(operands))
}

// Fprintf is fmt.Fprintf.
func (r *Registry) Fprintf(w io.Writer, format string, operands ...any) (int, error) {
	if !r.mayHoldBox(operands) {
		return fmt.Fprintf(w, format, operands...)
	}
	return w.Write(r.formatted(format, operands))
}

// Fprintln is fmt.Fprintln.
func (r *Registry) Fprintln(w io.Writer, operands ...any) (int, error) {
	if !r.mayHoldBox(operands) {
		return fmt.Fprintln(w, operands...)
	}
	return w.Write(r.line(operands))
}

// Print is fmt.Print to the session's standard output.
func (r *Registry) Print(operands ...any) (int, error) {
	return r.Fprint(r.config.Stdout, operands...)
}

// Printf is fmt.Printf to the session's standard output.
func (r *Registry) Printf(format string, operands ...any) (int, error) {
	return r.Fprintf(r.config.Stdout, format, operands...)
}

// Println is fmt.Println to the session's standard output.
func (r *Registry) Println(operands ...any) (int, error) {
	return r.Fprintln(r.config.Stdout, operands...)
}

// Sprint is fmt.Sprint.
func (r *Registry) Sprint(operands ...any) string {
	if !r.mayHoldBox(operands) {
		return fmt.Sprint(operands...)
	}
	return string(r.plain(operands))
}

// Sprintf is fmt.Sprintf.
func (r *Registry) Sprintf(format string, operands ...any) string {
	if !r.mayHoldBox(operands) {
		return fmt.Sprintf(format, operands...)
	}
	return string(r.formatted(format, operands))
}

// Sprintln is fmt.Sprintln.
func (r *Registry) Sprintln(operands ...any) string {
	if !r.mayHoldBox(operands) {
		return fmt.Sprintln(operands...)
	}
	return string(r.line(operands))
}

func (r *Registry) formatted(format string, operands []any) []byte {
	p := r.newPrinter()
	p.printf(format, operands)
	return p.buffer
}

// plain formats operands as fmt.Sprint does: with a space between two operands if
// neither is a string.
func (r *Registry) plain(operands []any) []byte {
	p := r.newPrinter()
	afterString := false
	for i, x := range operands {
		isString := x != nil && reflect.TypeOf(r.Value(x)).Kind() == reflect.String
		if i > 0 && !isString && !afterString {
			p.writeByte(' ')
		}
		p.printArgument(x, 'v')
		afterString = isString
	}
	return p.buffer
}

func (r *Registry) line(operands []any) []byte {
	p := r.newPrinter()
	for i, x := range operands {
		if i > 0 {
			p.writeByte(' ')
		}
		p.printArgument(x, 'v')
	}
	p.writeByte('\n')
	return p.buffer
}
