package check

import (
	"go/types"
	"reflect"
	"unsafe"
)

// releaseScopes makes the functions of a cell that has been compiled forget the scopes of their bodies. Types of earlier cells are kept for
// ever if they have values in interfaces, and with them their methods, which would keep the scopes of all functions of the cell. The scope
// of a signature and the parent of a variable are unexported fields; a test fails if they change.
func releaseScopes(info *types.Info) {
	for _, o := range info.Defs {
		f, ok := o.(*types.Func)
		if !ok {
			continue
		}
		s := f.Signature()
		*(**types.Scope)(unsafe.Pointer(reflect.ValueOf(s).Elem().FieldByName("scope").UnsafeAddr())) = nil
		if s.Recv() != nil {
			releaseParent(s.Recv())
		}
		for v := range s.Params().Variables() {
			releaseParent(v)
		}
		for v := range s.Results().Variables() {
			releaseParent(v)
		}
	}
}

func releaseParent(v *types.Var) {
	*(**types.Scope)(unsafe.Pointer(reflect.ValueOf(v).Elem().FieldByName("parent").UnsafeAddr())) = nil
}
