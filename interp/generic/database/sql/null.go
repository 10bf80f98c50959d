// Package sql implements the generic type of the standard package database/sql for interpreted code.
package sql

import (
	"database/sql/driver"
	"reflect"

	"github.com/quernlab/quern/interp/generic/compiled"
)

// Null is a value that may be NULL in a database.
type Null[T any] struct {
	V     T
	Valid bool
}

// Scan implements the interface Scanner of the standard package.
func (n *Null[T]) Scan(value any) error {
	if value == nil {
		var zero T
		n.V, n.Valid = zero, false
		return nil
	}
	err := compiled.AssignColumn(&n.V, value)
	n.Valid = err == nil || validAfterError
	return err
}

// Value implements driver.Valuer.
func (n Null[T]) Value() (driver.Value, error) {
	if !n.Valid {
		return nil, nil
	}
	v := any(n.V)
	if valuer, ok := v.(driver.Valuer); ok {
		var value driver.Value
		if t := reflect.TypeOf(v); t.Kind() != reflect.Pointer || !reflect.ValueOf(v).IsNil() || !t.Elem().Implements(reflect.TypeFor[driver.Valuer]()) {
			var err error
			if value, err = valuer.Value(); err != nil {
				return value, err
			}
		}
		v = value
	}
	return driver.DefaultParameterConverter.ConvertValue(v)
}
