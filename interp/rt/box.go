package rt

import (
	"encoding/json"
	"fmt"
	"image"
	"log/slog"
	"maps"
	"reflect"

	"github.com/quernlab/quern/display"
)

//go:generate go run ./internal/variants

// Box is an interface value whose type mentions an interpreted one. The dynamic type
// of the interface is Box itself or one of its variants. The class of T alone selects
// the variant, so two boxes are equal by Go's == exactly when Go would find the values
// equal.
type Box struct {
	T *Type // never nil
	V any   // the raw value, of the type that T has in lowered code
}

// Class bits: the interfaces that a box of the type must implement besides
// fmt.Formatter and json.Marshaler, because compiled code asks any value for them.
const (
	classError    = 1 << iota // error
	classErrors               // Unwrap() []error, together with classError
	classStringer             // fmt.Stringer
	classDisplay              // display.Displayer
	classLog                  // slog.LogValuer
	classText                 // encoding.TextMarshaler
)

// class computes the class of the types that have this method set.
func (s *methodSet) class() int {
	class := 0
	if s.hasSignature("Error", "func() string") {
		class |= classError
		if s.hasSignature("Unwrap", "func() []error") {
			class |= classErrors
		}
	}
	if s.hasSignature("String", "func() string") {
		class |= classStringer
	}
	if s.hasSignature("MIMEBundle", "func() map[string]interface {}") || s.isImage() {
		class |= classDisplay
	}
	if s.hasSignature("LogValue", "func() slog.Value") {
		class |= classLog
	}
	if s.hasSignature(marshalText.name, marshalText.signature) {
		class |= classText
	}
	return class
}

func (s *methodSet) isImage() bool {
	return s.hasSignature("ColorModel", "func() color.Model") &&
		s.hasSignature("Bounds", "func() image.Rectangle") &&
		s.hasSignature("At", "func(int, int) color.Color")
}

// boxed is implemented by every box and every native wrapper of a box.
type boxed interface{ box() Box }

func (b Box) box() Box { return b }

// Raw returns the value without its type, for compiled functions that use reflection
// on a value of a cell.
func (b Box) Raw() any { return b.V }

// TypeName returns the name of the value's type as %T prints it, for compiled
// functions that print the types of their arguments.
func (b Box) TypeName() string { return b.T.name }

// GoType returns the type as the cell declared it, for instance a struct with its
// field names.
func (b Box) GoType() reflect.Type { return typeWrapper{reflect.TypeOf(b.V), b.T} }

// Part returns raw, a component of Raw, as an interface value. declared is its type,
// as reached from GoType.
func (b Box) Part(declared reflect.Type, raw any) any {
	if t, ok := declared.(typeWrapper); ok {
		return t.d.box(raw)
	}
	return raw
}

// Box returns v, of the type t, as an interface value.
func (t *Type) Box(v any) any { return t.box(v) }

// BoxError is Box for a type that implements error.
func (t *Type) BoxError(v any) error { return t.box(v).(error) }

func (t *Type) box(v any) any { return variant(int(t.class.Load()), Box{t, v}) }

// unbox returns the box that x is or that x wraps.
func (r *representations) unbox(x any) (Box, bool) {
	switch b := x.(type) {
	case nil:
		return Box{}, false
	case Box:
		return b, true
	case boxed:
		return b.box(), true
	}
	if t := reflect.TypeOf(x); t.Kind() == reflect.Pointer {
		if _, ok := r.yaegiWrappers.Load(t); ok {
			return reflect.ValueOf(x).Elem().Field(0).Interface().(boxed).box(), true
		}
	}
	return Box{}, false
}

// Unbox returns the box that x is, or that x wraps as a compiled interface.
func (r *representations) Unbox(x any) (Box, bool) { return r.unbox(x) }

// Value returns the raw value of a boxed x, and any other x as it is.
func (r *representations) Value(x any) any {
	if b, ok := r.unbox(x); ok {
		return b.V
	}
	return x
}

// Plain returns the box itself if x wraps one as a compiled interface, else x.
func (r *representations) Plain(x any) any {
	if b, ok := r.unbox(x); ok {
		return b.T.box(b.V)
	}
	return x
}

// Format prints the value as fmt prints a value of its type.
func (b Box) Format(f fmt.State, verb rune) { formatBox(f, verb, b) }

// MarshalJSON encodes the value as encoding/json encodes one of its type.
func (b Box) MarshalJSON() ([]byte, error) { return b.T.registry.marshalBox(b) }

// The generated methods of the variants call the methods below.

func (b Box) errorText() string  { return call0[string](b, "Error") }
func (b Box) stringText() string { return call0[string](b, "String") }

func (b Box) unwrapError() error {
	if b.T.set.Load().hasSignature("Unwrap", "func() error") {
		return call0[error](b, "Unwrap")
	}
	return nil
}

func (b Box) unwrapErrors() []error { return call0[[]error](b, "Unwrap") }

func (b Box) isError(target error) bool {
	return b.T.set.Load().hasSignature("Is", "func(error) bool") && call1[bool](b, "Is", target)
}

func (b Box) asError(target any) bool {
	return b.T.set.Load().hasSignature("As", "func(interface {}) bool") && call1[bool](b, "As", target)
}

func (b Box) logValue() slog.Value { return call0[slog.Value](b, "LogValue") }

func (b Box) marshalText() ([]byte, error) { return call0x2[[]byte, error](b, "MarshalText") }

func (b Box) bundle() map[string]any {
	if b.T.set.Load().has("MIMEBundle") {
		data := call0[map[string]any](b, "MIMEBundle")
		if _, ok := data["text/plain"]; !ok {
			// Package display only sees the name of the box type.
			data = maps.Clone(data)
			if data == nil {
				data = map[string]any{}
			}
			data["text/plain"] = b.T.name
		}
		return data
	}
	data, _ := display.Render(imageBox{b})
	return data
}

func (b Box) metadata() map[string]any {
	set := b.T.set.Load()
	switch {
	case set.hasSignature("MIMEMetadata", "func() map[string]interface {}"):
		return call0[map[string]any](b, "MIMEMetadata")
	case set.has("MIMEBundle"):
		return nil
	}
	_, metadata := display.Render(imageBox{b})
	return metadata
}

// TypeName returns the name of the dynamic type of x as %T prints it: "main.P",
// "*bytes.Buffer", "<nil>".
func (r *representations) TypeName(x any) string {
	if x == nil {
		return "<nil>"
	}
	if b, ok := r.unbox(x); ok {
		return b.T.name
	}
	return compiledName(reflect.TypeOf(x))
}

// ToDisplay returns x as a value that package display can show. A boxed value whose
// type has the method MIMEBundle or implements image.Image already is a
// display.Displayer, so ToDisplay only removes the wrapper of a compiled interface.
func (r *representations) ToDisplay(x any) any { return r.Plain(x) }

var (
	_ fmt.Formatter  = Box{}
	_ json.Marshaler = Box{}

	_ display.Structured = Box{}
	_ image.Image        = imageBox{}

	errorType = reflect.TypeFor[error]()
)
