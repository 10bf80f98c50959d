package rt

import (
	"encoding/gob"
	"errors"
	"fmt"
	"go/types"
	"reflect"
	"strings"

	"github.com/quernlab/quern/interp/origin"
)

// gobMethods are the methods that package encoding/gob looks for.
var gobMethods = []string{"GobEncode", "GobDecode", "MarshalBinary", "UnmarshalBinary"}

// EncodeGob is e.Encode(x).
func (r *Registry) EncodeGob(e *gob.Encoder, x any) error {
	h := newBoxConverter(r, "encoding/gob", gobMethods)
	return h.named(e.Encode(h.declared(x)))
}

// DecodeGob is d.Decode(x). Package gob stores values of the created types in
// interfaces; DecodeGob boxes them afterwards.
func (r *Registry) DecodeGob(d *gob.Decoder, x any) error {
	v := r.encodable("encoding/gob", x)
	err := v.named(d.Decode(v.value))
	if err != nil || x == nil {
		return err
	}
	target, w := reflect.ValueOf(x), view{nil, reflect.TypeOf(x)}
	if v.box.T != nil {
		target = reflect.ValueOf(v.box.V)
		w = view{v.box.T, target.Type()}
	}
	return newBoxConverter(r, "gob", gobMethods).box(target, w)
}

// A gobType is a type that a cell has registered with package encoding/gob.
type gobType struct {
	typ *Type
	raw reflect.Type
}

// registerGob is gob.RegisterName(name, x), or gob.Register(x) if name is empty. Package
// encoding/gob keeps the first type of a name until the process ends.
func (r *Registry) registerGob(name string, x any) {
	b, ok := r.unbox(x)
	switch {
	case ok && name == "":
		name = gobName(b.T)
	case name == "":
		gob.Register(x)
		return
	case !ok:
		gob.RegisterName(name, x)
		return
	}
	v := r.encodable("encoding/gob", x)
	defer func() {
		text, ok := recover().(string)
		if !ok {
			return
		}
		if strings.HasPrefix(text, "gob: registering duplicate types for ") {
			old, _ := r.gobNames.Load(name)
			if t, ok := old.(*Type); !ok || t.name == b.T.name {
				panic(fmt.Sprintf("gob: the name %q is registered for an earlier definition of %s, which package encoding/gob cannot forget: "+
					"restart the kernel, or register the type under another name with gob.RegisterName", name, b.T.name))
			} else {
				text = fmt.Sprintf("gob: registering duplicate types for %q: %s != %s", name, t.name, b.T.name)
			}
		}
		panic(v.named(errors.New(text)).Error())
	}()
	gob.RegisterName(name, v.value)
	v.parts(func(_ view, t reflect.Type) {
		if d, ok := r.declared.made.Load(t); ok {
			d.(*declaredType).made.Keep()
		}
	})
	r.gobNames.Store(name, b.T)
	r.gobTypes.Store(reflect.TypeOf(v.value), gobType{b.T, reflect.TypeOf(b.V)})
}

// gobName returns the name under which gob.Register registers t.
func gobName(t *Type) string {
	stars, base := "", types.Unalias(t.typ)
	if p, ok := base.(*types.Pointer); ok {
		stars, base = "*", types.Unalias(p.Elem())
	}
	n, ok := base.(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return t.name
	}
	_, name, _ := strings.Cut(t.name, ".")
	return stars + origin.ImportPath(n.Obj().Pkg()) + "." + name
}
