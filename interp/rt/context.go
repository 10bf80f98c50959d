package rt

import (
	"context"
	"fmt"
)

// ContextWithValue is context.WithValue. The String method of the context prints the
// names of types declared in cells.
func (r *Registry) ContextWithValue(parent context.Context, key, value any) context.Context {
	if key != nil && parent != nil {
		if b, ok := r.unbox(key); ok {
			if !b.GoType().Comparable() {
				panic("key is not comparable")
			}
			r.Hashable(key)
		}
	}
	_, boxedKey := r.unbox(key)
	_, boxedValue := r.unbox(value)
	if parent == nil || key == nil || !boxedKey && !boxedValue {
		return context.WithValue(parent, key, value)
	}
	return &ValueContext{parent, r, key, value}
}

// A ValueContext replaces the context that context.WithValue returns.
type ValueContext struct {
	context.Context
	registry   *Registry
	key, value any
}

func (*ValueContext) compiledName() string { return "*context.valueCtx" }

// Value implements context.Context.
func (c *ValueContext) Value(key any) any {
	if c.key == key {
		return c.value
	}
	return c.Context.Value(key)
}

// String implements fmt.Stringer.
func (c *ValueContext) String() string {
	parent, ok := c.Context.(fmt.Stringer)
	name := ""
	if ok {
		name = parent.String()
	} else {
		name = c.registry.TypeName(c.Context)
	}
	return name + ".WithValue(" + c.registry.contextPart(c.key) + ", " + c.registry.contextPart(c.value) + ")"
}

// contextPart formats a key or a value in the text of a context.
func (r *representations) contextPart(x any) string {
	switch x := x.(type) {
	case fmt.Stringer:
		return x.String()
	case string:
		return x
	}
	return r.TypeName(x)
}
