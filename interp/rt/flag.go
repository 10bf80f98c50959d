package rt

import (
	"encoding"
	"flag"
	"reflect"
)

// TextVar is f.TextVar(p, name, value, usage).
func (r *representations) TextVar(f *flag.FlagSet, p encoding.TextUnmarshaler, name string, value encoding.TextMarshaler, usage string) {
	variable, ok := r.unbox(p)
	initial, both := r.unbox(value)
	if !ok && !both {
		f.TextVar(p, name, value, usage)
		return
	}
	target := reflect.ValueOf(r.Value(p))
	if target.Kind() != reflect.Pointer {
		panic("variable value type must be a pointer")
	}
	from := reflect.ValueOf(r.Value(value))
	declared := initial.T
	if from.Kind() == reflect.Pointer {
		from = from.Elem()
		declared = declared.shape().elem
	}
	if !ok || !both || declared != variable.T.shape().elem {
		panic("default type does not match variable type")
	}
	target.Elem().Set(from)
	f.Var(textFlag{variable}, name, usage)
}

// textFlag is the flag.Value of a variable of a cell that implements encoding.TextUnmarshaler.
type textFlag struct{ Box }

// Set implements flag.Value.
func (t textFlag) Set(text string) error { return call1[error](t.Box, "UnmarshalText", []byte(text)) }

// Get implements flag.Getter.
func (t textFlag) Get() any { return t.T.box(t.V) }

// String implements flag.Value.
func (t textFlag) String() string {
	if t.T == nil || !t.T.set.Load().hasSignature(marshalText.name, marshalText.signature) {
		return ""
	}
	if text, err := t.marshalText(); err == nil {
		return string(text)
	}
	return ""
}
