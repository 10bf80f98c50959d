package rt

import (
	"fmt"
	"io"
	"reflect"
	"runtime"
	"strings"
	"unicode/utf8"
)

// printer formats operands as package fmt does, asking descriptors where fmt
// asks reflect. Whatever cannot hold a box it leaves to fmt itself. It is the
// fmt.State of the Format methods that it calls.
type printer struct {
	registry *Registry
	buffer   []byte

	flags

	erroring   bool  // printing the value in a complaint: methods are not called
	panicking  bool  // printing the panic of a method
	wrapErrors bool  // %w is allowed
	wrapped    []int // indices of the operands of %w
}

// flags are those of one directive. %+v and %#v set plusV and sharpV in place
// of plus and sharp, so that they do not reach the numbers inside.
type flags struct {
	minus, plus, sharp, space, zero bool
	plusV, sharpV                   bool
	width, precision                int
	hasWidth, hasPrecision          bool

	leaf     string // the directive for verb leafVerb, once it was asked for
	leafVerb rune
}

func (r *Registry) newPrinter() *printer { return &printer{registry: r} }

// Write returns that of fmt.State.
func (p *printer) Write(b []byte) (int, error) {
	p.buffer = append(p.buffer, b...)
	return len(b), nil
}

// WriteString makes io.WriteString cheap for Format methods.
func (p *printer) WriteString(s string) (int, error) {
	p.buffer = append(p.buffer, s...)
	return len(s), nil
}

// Width returns that of fmt.State.
func (p *printer) Width() (int, bool) { return p.width, p.hasWidth }

// Precision returns that of fmt.State.
func (p *printer) Precision() (int, bool) { return p.precision, p.hasPrecision }

// Flag returns that of fmt.State.
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

// directive returns the format that makes fmt treat an operand as the current
// directive does.
func (p *printer) directive(verb rune) string {
	if p.leafVerb != verb || p.leaf == "" {
		p.leaf, p.leafVerb = fmt.FormatString(p, verb), verb
	}
	return p.leaf
}

// print lets fmt format x, which holds no box.
func (p *printer) print(x any, verb rune) {
	p.buffer = fmt.Appendf(p.buffer, p.directive(verb), x)
}

// printBasic formats a basic value by its kind alone. In a complaint the verb
// is v while the flags are those of another verb, for which v would read them
// differently; plain is the verb that reads them alike.
func (p *printer) printBasic(x any, verb, plain rune) {
	if verb == 'v' && !p.plusV && !p.sharpV && (p.plus || p.sharp) {
		verb = plain
	}
	p.print(x, verb)
}

// padded writes a short text that obeys the width but not the precision.
func (p *printer) padded(s string) {
	saved := p.flags
	p.hasPrecision, p.leaf = false, ""
	p.print(s, 's')
	p.flags = saved
}

// badVerb complains that verb does not fit the value v of type d.
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

// nameOf returns the name of the type of v: that of its descriptor if it has one.
func nameOf(d *Type, v reflect.Value) string {
	if d != nil {
		return d.name
	}
	return v.Type().String()
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

// isPlainError reports whether x, an operand of %w, is an error and may be one.
func (p *printer) isPlainError(x any) bool {
	_, ok := x.(error)
	return ok && p.wrapErrors
}

// printCompiled formats a value of a compiled type: by fmt if fmt would call
// one of its methods or if it holds no box.
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

// plainVerb reports whether fmt takes the rune for a verb behind flags and
// digits. Behind an operand number it takes any.
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

// callMethods formats a value of the interpreted type d by one of its methods,
// if it has one that fmt would call.
func (p *printer) callMethods(d *Type, v reflect.Value, verb rune) (handled bool) {
	if p.erroring || !v.IsValid() {
		return false
	}
	set, class := d.set.Load(), int(d.class.Load())
	if verb == 'w' {
		if !p.wrapErrors || class&classError == 0 {
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
	case class&classError != 0:
		name = "Error"
	case class&classStringer != 0:
		name = "String"
	default:
		return false
	}
	p.callMethod(b, v, verb, name)
	return true
}

// callMethod formats a value by the method name; a panic in it is printed.
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

// catch prints the panic of a method: as nil if the receiver was a nil pointer,
// else as a complaint.
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

// formatBox is the Format method of all boxes: what compiled code prints that
// does not print through this package.
func formatBox(state fmt.State, verb rune, b Box) {
	format(b.T.registry, state, verb, func(p *printer) {
		v := reflect.ValueOf(b.V)
		if p.callMethods(b.T, v, verb) {
			return
		}
		depth := 0
		if v.Kind() == reflect.Pointer && belowOperand() {
			depth = 1
		}
		p.printValue(b.T, v, verb, depth, visible)
	})
}

// format has a printer with the flags of state print for a Format method.
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
	_, _ = state.Write(p.buffer) // fmt.State keeps the text: it has no errors
}

// belowOperand reports whether fmt calls Format for a value inside an operand.
// fmt prints what a pointer points to only if the pointer is the operand
// itself, and tells a Formatter nothing about it; its own stack does.
func belowOperand() bool {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		frame, more := frames.Next()
		switch frame.Function {
		case "fmt.(*pp).printValue":
			return true
		case "fmt.(*pp).printArg":
			return false
		}
		if !more {
			return false
		}
	}
}
