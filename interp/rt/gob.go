package rt

import (
	"encoding/gob"
	"errors"
	"fmt"
	"go/types"
	"reflect"
	"strings"
)

// gobMethods are what package encoding/gob asks values for.
var gobMethods = []string{"GobEncode", "GobDecode", "MarshalBinary", "UnmarshalBinary"}

// EncodeGob is e.Encode(x).
func (r *Registry) EncodeGob(e *gob.Encoder, x any) error {
	h := newHeld(r, "encoding/gob", gobMethods)
	return h.named(e.Encode(h.declared(x)))
}

// DecodeGob is d.Decode(x). What it decodes into interfaces are values of the types that
// stand for those of cells.
func (r *Registry) DecodeGob(d *gob.Decoder, x any) error {
	v := r.encodable("encoding/gob", x, gobMethods)
	err := v.named(d.Decode(v.value))
	if err != nil || x == nil {
		return err
	}
	target, w := reflect.ValueOf(x), view{nil, reflect.TypeOf(x)}
	if v.box.T != nil {
		target = reflect.ValueOf(v.box.V)
		w = view{v.box.T, target.Type()}
	}
	return newHeld(r, "gob", gobMethods).box(target, w)
}

// A gobType is one that a cell has registered with package encoding/gob.
type gobType struct {
	typ *Type
	raw reflect.Type
}

// registerGob is gob.RegisterName(name, x), or gob.Register(x) without a name. Package
// encoding/gob keeps the first type of a name for the life of the process.
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
	v := r.encodable("encoding/gob", x, gobMethods)
	defer func() {
		text, ok := recover().(string)
		if !ok {
			return
		}
		if strings.HasPrefix(text, "gob: registering duplicate types for ") {
			old, _ := r.gobNames.Load(name)
			if t, ok := old.(*Type); !ok || t.name == b.T.name {
				panic(fmt.Sprintf("gob: the name %q is registered for an earlier definition of %s, which package encoding/gob cannot forget: "+
					"restart the kernel, or take another name with gob.RegisterName", name, b.T.name))
			} else {
				text = fmt.Sprintf("gob: registering duplicate types for %q: %s != %s", name, t.name, b.T.name)
			}
		}
		panic(v.named(errors.New(text)).Error())
	}()
	gob.RegisterName(name, v.value)
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
	return stars + n.Obj().Pkg().Path() + "." + name
}
