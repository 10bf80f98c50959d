package rt

import (
	"database/sql/driver"
	"encoding/xml"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/quernlab/quern/interp/lower/layout"
)

// Methods that compiled packages find by reflection on types of cells. The code of these
// methods is compiled into the program, and a method only gets its receiver. So there is
// a fixed number of types with all these methods. Each type of a cell that needs such
// methods gets one.

// stub has the methods for the slot with the key N. A pointer to it is the data word of
// an interface value.
type stub[N any] struct{}

func (s *stub[N]) box() Box { return stubs().byKey[reflect.TypeFor[N]()].box(unsafe.Pointer(s)) }

// GobEncode implements gob.GobEncoder.
func (s *stub[N]) GobEncode() ([]byte, error) { return call0x2[[]byte, error](s.box(), "GobEncode") }

// GobDecode implements gob.GobDecoder.
func (s *stub[N]) GobDecode(data []byte) error { return call1[error](s.box(), "GobDecode", data) }

// MarshalBinary implements encoding.BinaryMarshaler.
func (s *stub[N]) MarshalBinary() ([]byte, error) {
	return call0x2[[]byte, error](s.box(), "MarshalBinary")
}

// UnmarshalBinary implements encoding.BinaryUnmarshaler.
func (s *stub[N]) UnmarshalBinary(data []byte) error {
	return call1[error](s.box(), "UnmarshalBinary", data)
}

// MarshalText implements encoding.TextMarshaler.
func (s *stub[N]) MarshalText() ([]byte, error) {
	return call0x2[[]byte, error](s.box(), "MarshalText")
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *stub[N]) UnmarshalText(text []byte) error {
	return call1[error](s.box(), "UnmarshalText", text)
}

// MarshalJSON implements json.Marshaler.
func (s *stub[N]) MarshalJSON() ([]byte, error) {
	return call0x2[[]byte, error](s.box(), "MarshalJSON")
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *stub[N]) UnmarshalJSON(data []byte) error {
	return call1[error](s.box(), "UnmarshalJSON", data)
}

// MarshalXML implements xml.Marshaler.
func (s *stub[N]) MarshalXML(e *xml.Encoder, start xml.StartElement) error {
	return call2[error](s.box(), "MarshalXML", e, start)
}

// UnmarshalXML implements xml.Unmarshaler.
func (s *stub[N]) UnmarshalXML(d *xml.Decoder, start xml.StartElement) error {
	return call2[error](s.box(), "UnmarshalXML", d, start)
}

// MarshalXMLAttr implements xml.MarshalerAttr.
func (s *stub[N]) MarshalXMLAttr(name xml.Name) (xml.Attr, error) {
	return call1x2[xml.Attr, error](s.box(), "MarshalXMLAttr", name)
}

// UnmarshalXMLAttr implements xml.UnmarshalerAttr.
func (s *stub[N]) UnmarshalXMLAttr(attr xml.Attr) error {
	return call1[error](s.box(), "UnmarshalXMLAttr", attr)
}

// String implements fmt.Stringer and flag.Value.
func (s *stub[N]) String() string { return call0[string](s.box(), "String") }

// Set implements flag.Value.
func (s *stub[N]) Set(text string) error { return call1[error](s.box(), "Set", text) }

// Get implements flag.Getter.
func (s *stub[N]) Get() any { return call0[any](s.box(), "Get") }

// IsBoolFlag reports to package flag that the flag needs no value.
func (s *stub[N]) IsBoolFlag() bool { return call0[bool](s.box(), "IsBoolFlag") }

// Scan implements sql.Scanner.
func (s *stub[N]) Scan(value any) error { return call1[error](s.box(), "Scan", value) }

// Error implements error.
func (s *stub[N]) Error() string { return call0[string](s.box(), "Error") }

// Value implements driver.Valuer.
func (s *stub[N]) Value() (driver.Value, error) {
	return call0x2[driver.Value, error](s.box(), "Value")
}

// stubMethods are the signatures of these methods in cells, as package reflect prints them.
var stubMethods = map[string]reflect.Type{
	"GobEncode":        reflect.TypeFor[func() ([]byte, error)](),
	"GobDecode":        reflect.TypeFor[func([]byte) error](),
	"MarshalBinary":    reflect.TypeFor[func() ([]byte, error)](),
	"UnmarshalBinary":  reflect.TypeFor[func([]byte) error](),
	"MarshalText":      reflect.TypeFor[func() ([]byte, error)](),
	"UnmarshalText":    reflect.TypeFor[func([]byte) error](),
	"MarshalJSON":      reflect.TypeFor[func() ([]byte, error)](),
	"UnmarshalJSON":    reflect.TypeFor[func([]byte) error](),
	"MarshalXML":       reflect.TypeFor[func(*xml.Encoder, xml.StartElement) error](),
	"UnmarshalXML":     reflect.TypeFor[func(*xml.Decoder, xml.StartElement) error](),
	"MarshalXMLAttr":   reflect.TypeFor[func(xml.Name) (xml.Attr, error)](),
	"UnmarshalXMLAttr": reflect.TypeFor[func(xml.Attr) error](),
	"String":           reflect.TypeFor[func() string](),
	"Set":              reflect.TypeFor[func(string) error](),
	"Get":              reflect.TypeFor[func() any](),
	"IsBoolFlag":       reflect.TypeFor[func() bool](),
	"Scan":             reflect.TypeFor[func(any) error](),
	"Error":            reflect.TypeFor[func() string](),
	"Value":            reflect.TypeFor[func() (driver.Value, error)](),
}

// slot describes the receiver of the methods of one stub.
type slot struct {
	code     map[string]unsafe.Pointer // of the methods
	typ      *Type                     // of the receiver
	direct   bool                      // the data word is the receiver itself, not its address
	raw      atomic.Pointer[rawType]   // type of the receiver, or of its pointer target
	receiver func(unsafe.Pointer) Box  // returns the receiver if it is not nil; then the other fields are unused
}

type rawType struct{ reflect.Type }

// box returns the receiver with this data word.
func (s *slot) box(word unsafe.Pointer) Box {
	if s.receiver != nil {
		return s.receiver(word)
	}
	raw := s.raw.Load().Type
	if s.direct {
		v := reflect.New(raw)
		*(*unsafe.Pointer)(v.UnsafePointer()) = word
		return Box{s.typ, v.Elem().Interface()}
	}
	return Box{s.typ, reflect.NewAt(raw, word).Interface()}
}

// slots are the slots of all sessions of the process, because they share the compiled code.
type slots struct {
	byKey map[reflect.Type]*slot // the code of one slot takes 12 KB

	mu   sync.Mutex // guards free
	free []*slot
}

var stubs = sync.OnceValue(func() *slots {
	s := &slots{byKey: map[reflect.Type]*slot{}}
	addSlots[*[0]byte](s)
	addSlots[*[1]byte](s)
	addSlots[*[2]byte](s)
	addSlots[*[3]byte](s)
	addSlots[*[4]byte](s)
	addSlots[*[5]byte](s)
	addSlots[*[6]byte](s)
	addSlots[*[7]byte](s)
	return s
})

// number makes the keys of slots distinct types. Because the keys are pointers, they share
// the code of generic methods.
type number[A, B any] struct{}

func addSlots[A any](s *slots) {
	addSlot[*number[A, *[0]byte]](s)
	addSlot[*number[A, *[1]byte]](s)
	addSlot[*number[A, *[2]byte]](s)
	addSlot[*number[A, *[3]byte]](s)
	addSlot[*number[A, *[4]byte]](s)
	addSlot[*number[A, *[5]byte]](s)
	addSlot[*number[A, *[6]byte]](s)
	addSlot[*number[A, *[7]byte]](s)
	addSlot[*number[A, *[8]byte]](s)
	addSlot[*number[A, *[9]byte]](s)
	addSlot[*number[A, *[10]byte]](s)
	addSlot[*number[A, *[11]byte]](s)
	addSlot[*number[A, *[12]byte]](s)
	addSlot[*number[A, *[13]byte]](s)
	addSlot[*number[A, *[14]byte]](s)
	addSlot[*number[A, *[15]byte]](s)
}

func addSlot[N any](s *slots) {
	t := reflect.TypeFor[*stub[N]]()
	made := &slot{code: map[string]unsafe.Pointer{}}
	for i := range t.NumMethod() {
		m := t.Method(i)
		made.code[m.Name] = m.Func.UnsafePointer()
	}
	s.byKey[reflect.TypeFor[N]()] = made
	s.free = append(s.free, made)
}

// take returns n free slots, or nil if there are fewer.
func (s *slots) take(n int) []*slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.free) < n {
		return nil
	}
	taken := s.free[:n]
	s.free = s.free[n:]
	return taken
}

// noSlot returns the error of a package that would miss methods of t because no slot is
// free.
func noSlot(pkg string, t *Type) *EncodingError {
	return &EncodingError{Package: pkg, Unseen: fmt.Sprintf("the methods of %s: all %d compiled types that Quern has for types of cells with methods such as String, "+
		"MarshalText or GobEncode are in use; restart the kernel", t.name, len(stubs().byKey)), exhausted: true}
}

// give makes slots free again.
func (s *slots) give(back []*slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range back {
		b.typ, b.direct, b.receiver = nil, false, nil
		b.raw.Store(nil)
		s.free = append(s.free, b)
	}
}

// Close releases what is shared with other sessions of the process. No code of the
// session's cells may run any more.
func (r *Registry) Close() {
	var all []*slot
	r.declared.slots.Range(func(made, used any) bool {
		all = append(all, used.([]*slot)...)
		r.declared.slots.Delete(made)
		return true
	})
	stubs().give(all)
}

// stubbed returns the stub methods for the type t of a cell and for pointers to it. made is
// a type with the kind of t. It returns none if no slot is free.
func (r *representations) stubbed(t *Type, made reflect.Type) (methods, ofPointer []layout.Method, used []*slot) {
	p := t.pointer()
	own, all := t.stubMethods(), p.stubMethods()
	if len(all) == 0 {
		return nil, nil, nil
	}
	direct := IsDirectInterface(made) && len(own) > 0
	n := 1
	if direct {
		n = 2
	}
	used = stubs().take(n)
	if used == nil {
		return nil, nil, nil
	}
	used[0].typ = p
	if !direct {
		return used[0].methods(own), used[0].methods(all), used
	}
	used[1].typ, used[1].direct = t, true
	return used[1].methods(own), used[0].methods(all), used
}

// stubMethods returns the names of the methods of t for which there are stubs.
func (t *Type) stubMethods() []string {
	var names []string
	for name, signature := range stubMethods {
		if t.set.Load().hasSignature(name, signature.String()) {
			names = append(names, name)
		}
	}
	return names
}

func (s *slot) methods(names []string) []layout.Method {
	var list []layout.Method
	for _, name := range names {
		list = append(list, layout.Method{Name: name, Type: stubMethods[name], Code: s.code[name]})
	}
	return list
}

// IsDirectInterface reports whether the data word of an interface holds a value of type t itself instead of its
// address: t consists of one pointer, and perhaps of fields or elements without a size.
func IsDirectInterface(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return true
	case reflect.Struct:
		if t.Size() != unsafe.Sizeof(uintptr(0)) {
			return false
		}
		for i := range t.NumField() {
			if f := t.Field(i).Type; f.Size() != 0 {
				return IsDirectInterface(f)
			}
		}
	case reflect.Array:
		return t.Len() == 1 && IsDirectInterface(t.Elem())
	}
	return false
}
