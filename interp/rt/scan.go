package rt

import (
	"errors"
	"fmt"
	"io"
	"reflect"
)

// The scanning functions of package fmt. They store into the values that the operands
// point to, and call the method Scan of operands that have it.

// Sscan is fmt.Sscan.
func (r *representations) Sscan(text string, operands ...any) (int, error) {
	return r.scan(operands, func(raw []any) (int, error) { return fmt.Sscan(text, raw...) })
}

// Sscanf is fmt.Sscanf.
func (r *representations) Sscanf(text, format string, operands ...any) (int, error) {
	return r.scan(operands, func(raw []any) (int, error) { return fmt.Sscanf(text, format, raw...) })
}

// Sscanln is fmt.Sscanln.
func (r *representations) Sscanln(text string, operands ...any) (int, error) {
	return r.scan(operands, func(raw []any) (int, error) { return fmt.Sscanln(text, raw...) })
}

// Fscan is fmt.Fscan.
func (r *representations) Fscan(in io.Reader, operands ...any) (int, error) {
	return r.scan(operands, func(raw []any) (int, error) { return fmt.Fscan(in, raw...) })
}

// Fscanf is fmt.Fscanf.
func (r *representations) Fscanf(in io.Reader, format string, operands ...any) (int, error) {
	return r.scan(operands, func(raw []any) (int, error) { return fmt.Fscanf(in, format, raw...) })
}

// Fscanln is fmt.Fscanln.
func (r *representations) Fscanln(in io.Reader, operands ...any) (int, error) {
	return r.scan(operands, func(raw []any) (int, error) { return fmt.Fscanln(in, raw...) })
}

// scanMethod is the method that package fmt looks for.
var scanMethod = wellKnown{"Scan", "func(fmt.ScanState, int32) error", reflect.TypeFor[fmt.Scanner]()}

// scanned is a box whose type has that method.
type scanned struct{ Box }

// Scan implements fmt.Scanner.
func (b scanned) Scan(state fmt.ScanState, verb rune) error {
	return call2[error](b.Box, scanMethod.name, state, verb)
}

// scan calls scan with the raw values of boxed operands.
func (r *representations) scan(operands []any, scan func(raw []any) (int, error)) (int, error) {
	raw := make([]any, len(operands))
	var names []string // pairs: the name of a type in lowered code, and its declared name
	for i, x := range operands {
		b, ok := r.unbox(x)
		switch {
		case !ok:
			raw[i] = x
		case view{b.T, reflect.TypeOf(b.V)}.has(scanMethod):
			raw[i] = scanned{b}
		default:
			raw[i] = b.V
			names = append(names, reflect.TypeOf(b.V).String(), b.T.name)
		}
	}
	n, err := scan(raw)
	if err != nil {
		for i := 0; i < len(names); i += 2 {
			for _, complaint := range []string{"can't scan type: ", "type not a pointer: "} {
				if err.Error() == complaint+names[i] {
					return n, errors.New(complaint + names[i+1])
				}
			}
		}
	}
	return n, err
}
