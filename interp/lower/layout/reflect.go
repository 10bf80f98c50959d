package layout

import (
	"fmt"
	"go/types"
	"reflect"
)

// Reflect returns the compiled form of any type without type parameters. It returns an error for a type that is not in the symbol
// tables, or that can only be a named type.
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
