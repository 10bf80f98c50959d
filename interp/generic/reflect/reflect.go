// Package reflect implements the generic functions of the standard package reflect for interpreted code.
package reflect

import "reflect"

// TypeFor returns the type T.
func TypeFor[T any]() reflect.Type {
	return reflect.TypeOf((*T)(nil)).Elem()
}

// TypeAssert is v.Interface().(T) with a result for success.
func TypeAssert[T any](v reflect.Value) (T, bool) {
	value, ok := v.Interface().(T)
	return value, ok
}
