package rt

import (
	"database/sql/driver"
	"fmt"
	"reflect"
	"strings"
)

var valuer = wellKnown{"Value", "func() (driver.Value, error)", reflect.TypeFor[driver.Valuer]()}

// ConvertParameter is c.ConvertValue(x) for a converter of database/sql/driver, which
// inspects the type of x and calls its method Value.
func (r *representations) ConvertParameter(c driver.ValueConverter, x any) (driver.Value, error) {
	b, ok := r.unbox(x)
	if !ok {
		return c.ConvertValue(x)
	}
	switch converter := c.(type) {
	case driver.NotNull:
		return r.ConvertParameter(converter.Converter, x)
	case driver.Null:
		return r.ConvertParameter(converter.Converter, x)
	}
	v := reflect.ValueOf(b.V)
	switch reflect.TypeOf(c) {
	case reflect.TypeOf(driver.DefaultParameterConverter):
		return r.parameter(b, v)
	case reflect.TypeOf(driver.Int32), reflect.TypeOf(driver.Bool):
		return r.scalarParameter(c, b, v)
	}
	return c.ConvertValue(x)
}

// parameter returns the result of driver.DefaultParameterConverter for b.
func (r *representations) parameter(b Box, v reflect.Value) (driver.Value, error) {
	if b.T.set.Load().hasSignature(valuer.name, valuer.signature) {
		if v.Kind() == reflect.Pointer && v.IsNil() && b.T.shape().elem.set.Load().hasSignature(valuer.name, valuer.signature) {
			return nil, nil
		}
		value, err := call0x2[driver.Value, error](b, valuer.name)
		if err != nil {
			return nil, err
		}
		if !driver.IsValue(value) {
			return nil, fmt.Errorf("non-Value type %s returned from Value", r.TypeName(value))
		}
		return value, nil
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil, nil
		}
		return r.ConvertParameter(driver.DefaultParameterConverter, b.T.shape().elem.box(v.Elem().Interface()))
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Uint8 {
			return nil, fmt.Errorf("unsupported type %s, a slice of %s", b.T.name, v.Type().Elem().Kind())
		}
		return v.Bytes(), nil
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return driver.DefaultParameterConverter.ConvertValue(v.Interface())
	}
	return nil, fmt.Errorf("unsupported type %s, a %s", b.T.name, v.Kind())
}

// scalarParameter returns the result of driver.Bool or driver.Int32 for b.
func (r *representations) scalarParameter(c driver.ValueConverter, b Box, v reflect.Value) (driver.Value, error) {
	if c == driver.ValueConverter(driver.Bool) && !v.CanInt() && !v.CanUint() {
		return nil, fmt.Errorf("sql/driver: couldn't convert %v (%s) into type bool", b, b.T.name)
	}
	value, err := c.ConvertValue(b.V)
	if err != nil {
		err = fmt.Errorf("%s", strings.Replace(err.Error(), fmt.Sprintf("%v (type %T)", b.V, b.V), fmt.Sprintf("%v (type %s)", b, b.T.name), 1))
	}
	return value, err
}
