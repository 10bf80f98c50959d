package rt

import (
	"encoding/gob"
	"fmt"
	"go/types"
	"reflect"
	"strings"

	"github.com/quernlab/quern/interp/origin"
)

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
	defer func() {
		text, ok := recover().(string)
		if !ok {
			return
		}
		if strings.HasPrefix(text, "gob: registering duplicate types for ") {
			old, _ := r.gobNames.Load(name)
			if t, ok := old.(*Type); ok && t == b.T {
				text = fmt.Sprintf("gob: the methods of %s have changed since the type was registered as %q, and package encoding/gob keeps the type with the methods before: "+
					"restart the kernel, or register the type under another name with gob.RegisterName", b.T.name, name)
			} else if !ok || t.name == b.T.name {
				text = fmt.Sprintf("gob: the name %q is registered for an earlier definition of %s, which package encoding/gob cannot forget: "+
					"restart the kernel, or register the type under another name with gob.RegisterName", name, b.T.name)
			}
		}
		panic(text)
	}()
	gob.RegisterName(name, x)
	parts(view{b.T, reflect.TypeOf(b.V)}, reflect.TypeOf(x), func(_ view, t reflect.Type) {
		if d, ok := r.declared.made.Load(t); ok {
			d.(*declaredType).made.Keep()
		}
	})
	r.gobNames.Store(name, b.T)
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
