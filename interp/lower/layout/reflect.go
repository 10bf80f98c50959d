package layout

import (
	"fmt"
	"go/types"
	"reflect"
)

// Reflect returns the compiled form of any type without type parameters. The error is
// about a type that yaegi's tables do not have, or that only a named type
// can be.
func (b *Builder) Reflect(t types.Type) (made reflect.Type, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(error)
			if !ok {
				e = fmt.Errorf("%v", r)
			}
			made, err = nil, e
		}
	}()
	c := &cycle{Builder: b}
	return c.typeOf(t, false), nil
}
