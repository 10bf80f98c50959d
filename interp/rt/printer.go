package rt

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"
)

// printer formats operands as package fmt does, but uses descriptors where fmt uses
// reflect. It leaves values that cannot hold a box to fmt. It is the fmt.State of the
// Format methods that it calls.
type printer struct {
	registry *Registry
	buffer   []byte

	flags

	erroring   bool  // printing the value in an error such as %!d(...): no methods are called
	panicking  bool  // printing the panic of a method
	wrapErrors bool  // %w is allowed
	wrapped    []int // indices of the operands of %w
}

// flags are the flags of one directive. %+v and %#v set plusV and sharpV instead of plus
// and sharp, so that the flags do not apply to the numbers inside a value.
type flags struct {
	minus, plus, sharp, space, zero bool
	plusV, sharpV                   bool
	width, precision                int
	hasWidth, hasPrecision          bool

	directiveText string // cached directive for the verb directiveVerb
	directiveVerb rune
}

func (r *Registry) newPrinter() *printer { return &printer{registry: r} }

// Write implements fmt.State.
func (p *printer) Write(b []byte) (int, error) {
	p.buffer = append(p.buffer, b...)
	return len(b), nil
}

// WriteString makes io.WriteString cheap for Format methods.
func (p *printer) WriteString(s string) (int, error) {
	p.buffer = append(p.buffer, s...)
	return len(s), nil
}

// Width implements fmt.State.
func (p *printer) Width() (int, bool) { return p.width, p.hasWidth }

// Precision implements fmt.State.
func (p *printer) Precision() (int, bool) { return p.precision, p.hasPrecision }

// Flag implements fmt.State.
func (p *printer) Flag(c int) bool {
	switch c {
	case '-':
		return p.minus
	case '+':
		return p.plus || p.plusV
	case '#':
		return p.sharp || p.sharpV
	case ' ':
		return p.space
	case '0':
		return p.zero
	}
	return false
}

var (
	_ fmt.State       = (*printer)(nil)
	_ io.StringWriter = (*printer)(nil)
)

func (p *printer) writeString(s string) { p.buffer = append(p.buffer, s...) }
func (p *printer) writeByte(c byte)     { p.buffer = append(p.buffer, c) }

// directive returns the format string for fmt that corresponds to the current directive.
func (p *printer) directive(verb rune) string {
	if p.directiveVerb != verb || p.directiveText == "" {
		p.directiveText, p.directiveVerb = fmt.FormatString(p, verb), verb
	}
	return p.directiveText
}

// print formats x, which holds no box, by package fmt.
func (p *printer) print(x any, verb rune) {
	p.buffer = fmt.Appendf(p.buffer, p.directive(verb), x)
}

// printBasic formats a basic value by its kind. While it prints the value in an error such
// as %!d(...), the verb is v, but the flags are those of another verb and would mean
// something else for v. plain is a verb for which they mean the same.
func (p *printer) printBasic(x any, verb, plain rune) {
	if verb == 'v' && !p.plusV && !p.sharpV && (p.plus || p.sharp) {
		verb = plain
	}
	p.print(x, verb)
}

// padded writes a short text with the width, but without the precision.
func (p *printer) padded(s string) {
	saved := p.flags
	p.hasPrecision, p.directiveText = false, ""
	p.print(s, 's')
	p.flags = saved
}

// badVerb writes the error that verb does not fit the value v of type d.
func (p *printer) badVerb(d *Type, v reflect.Value, verb rune, a access) {
	p.erroring = true
	p.writeString("%!")
	p.buffer = utf8.AppendRune(p.buffer, verb)
	p.writeByte('(')
	if v.IsValid() {
		p.writeString(nameOf(d, v))
		p.writeByte('=')
		p.printValue(d, v, 'v', 0, a)
	} else {
		p.writeString("<nil>")
	}
	p.writeByte(')')
	p.erroring = false
}

// nameOf returns the name of the type of v, which d describes if it is not nil.
func nameOf(d *Type, v reflect.Value) string {
	if d != nil {
		return d.name
	}
	return compiledName(v.Type())
}

// printArgument formats one operand.
func (p *printer) printArgument(x any, verb rune) {
	b, isBox := p.registry.unbox(x)
	if !isBox {
		switch {
		case x == nil && !plainVerb(verb):
			p.badVerb(nil, reflect.Value{}, verb, visible)
		case x == nil:
			p.print(x, verb)
		case verb == 'T':
			p.print(p.registry.TypeName(x), 's')
		case verb == 'p':
			p.printPointer(nil, reflect.ValueOf(x), 'p', visible)
		case verb == 'w' && p.isPlainError(x):
			p.print(x, 'v')
		case verb == 'w':
			p.badVerb(nil, reflect.ValueOf(x), verb, visible)
		default:
			p.printCompiled(reflect.ValueOf(x), verb, 0)
		}
		return
	}
	v := reflect.ValueOf(b.V)
	switch verb {
	case 'T':
		p.print(b.T.name, 's')
	case 'p':
		p.printPointer(b.T, v, 'p', visible)
	default:
		if !p.callMethods(b.T, v, verb) {
			p.printValue(b.T, v, verb, 0, visible)
		}
	}
}

// isPlainError reports whether x, an operand of %w, is an error and %w is allowed.
func (p *printer) isPlainError(x any) bool {
	_, ok := x.(error)
	return ok && p.wrapErrors
}

// printCompiled formats a value of a compiled type. It leaves that to fmt if fmt would
// call one of the value's methods or if the value holds no box.
func (p *printer) printCompiled(v reflect.Value, verb rune, depth int) {
	switch {
	case p.erroring || !v.CanInterface():
	case !plainVerb(verb):
		if f, ok := v.Interface().(fmt.Formatter); ok {
			defer p.catch(v, verb, "Format")
			f.Format(p, verb)
			return
		}
	case depth > 0 && p.sharpV && v.Type() == bytesType: // fmt prints []byte{} for an operand, []uint8{} inside one
	case hasFormatMethod(v.Type(), verb, p.sharpV),
		p.registry.holdsNoBox(v.Type()) && (depth == 0 || v.Kind() != reflect.Pointer):
		p.print(v.Interface(), verb)
		return
	}
	p.printValue(nil, v, verb, depth, visible)
}

// plainVerb reports whether fmt accepts the rune as a verb after flags and digits. After
// an argument index such as [1] fmt accepts any rune.
func plainVerb(verb rune) bool { return !strings.ContainsRune("+-# 0123456789*.[%", verb) }

var (
	bytesType      = reflect.TypeFor[[]byte]()
	formatterType  = reflect.TypeFor[fmt.Formatter]()
	goStringerType = reflect.TypeFor[fmt.GoStringer]()
	stringerType   = reflect.TypeFor[fmt.Stringer]()
)

// hasFormatMethod reports whether fmt calls a method of the compiled type t.
func hasFormatMethod(t reflect.Type, verb rune, sharpV bool) bool {
	if t.NumMethod() == 0 {
		return false
	}
	switch {
	case t.Implements(formatterType):
		return true
	case sharpV:
		return t.Implements(goStringerType)
	}
	return strings.ContainsRune("vsxXq", verb) && (t.Implements(errorType) || t.Implements(stringerType))
}

// callMethods formats a value of the interpreted type d by the method that fmt would
// call. handled is false if there is none.
func (p *printer) callMethods(d *Type, v reflect.Value, verb rune) (handled bool) {
	if p.erroring || !v.IsValid() {
		return false
	}
	set := d.set.Load()
	isError := set.hasSignature("Error", "func() string")
	if verb == 'w' {
		if !p.wrapErrors || !isError {
			p.badVerb(d, v, verb, visible)
			return true
		}
		verb = 'v'
	}
	b := Box{d, v.Interface()}
	name := ""
	switch {
	case set.hasSignature("Format", "func(fmt.State, int32)"):
		name = "Format"
	case p.sharpV:
		if !set.hasSignature("GoString", "func() string") {
			return false
		}
		name = "GoString"
	case !strings.ContainsRune("vsxXq", verb):
		return false
	case isError:
		name = "Error"
	case set.hasSignature("String", "func() string"):
		name = "String"
	default:
		return false
	}
	p.callMethod(b, v, verb, name)
	return true
}

// callMethod formats a value by the method name, and prints its panic if it panics.
func (p *printer) callMethod(b Box, v reflect.Value, verb rune, name string) {
	defer p.catch(v, verb, name)
	switch name {
	case "Format":
		callVoid2[fmt.State](b, name, p, verb)
	case "GoString":
		p.print(call0[string](b, name), 's')
	default:
		p.print(call0[string](b, name), verb)
	}
}

// catch prints the panic of a method: <nil> if the receiver is a nil pointer, otherwise
// an error such as %!v(PANIC=...).
func (p *printer) catch(v reflect.Value, verb rune, method string) {
	cause := recover()
	if cause == nil {
		return
	}
	if p.registry.config.Uncaught(cause) {
		panic(cause)
	}
	if v.Kind() == reflect.Pointer && v.IsNil() {
		p.writeString("<nil>")
		return
	}
	if p.panicking {
		panic(cause)
	}
	saved := p.flags
	p.flags = flags{}
	p.writeString("%!")
	p.buffer = utf8.AppendRune(p.buffer, verb)
	p.writeString("(PANIC=" + method + " method: ")
	p.panicking = true
	p.printArgument(Recovered(cause), 'v')
	p.panicking = false
	p.writeByte(')')
	p.flags = saved
}

// format implements a Format method: it calls print with a printer that has the flags of
// state.
func format(r *Registry, state fmt.State, verb rune, print func(*printer)) {
	p := r.newPrinter()
	p.minus, p.space, p.zero = state.Flag('-'), state.Flag(' '), state.Flag('0')
	if verb == 'v' {
		p.plusV, p.sharpV = state.Flag('+'), state.Flag('#')
	} else {
		p.plus, p.sharp = state.Flag('+'), state.Flag('#')
	}
	p.width, p.hasWidth = state.Width()
	p.precision, p.hasPrecision = state.Precision()
	print(p)
	_, _ = state.Write(p.buffer) // fmt.State buffers the text and returns no error
}
