package rt

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
)

var (
	errIncomparable = errors.New("invalid type for comparison")
	errOneOperand   = errors.New("missing argument for comparison")
)

// group returns the kind that represents all kinds that templates compare with v.
func group(v ReflectValue) reflect.Kind {
	switch k := v.Kind(); {
	case v.CanInt():
		return reflect.Int
	case v.CanUint():
		return reflect.Uint
	case v.CanFloat():
		return reflect.Float64
	case v.CanComplex():
		return reflect.Complex128
	case k == reflect.Bool, k == reflect.String:
		return k
	}
	return reflect.Invalid
}

// compareIntegers compares two integers, signed or unsigned.
func compareIntegers(x, y ReflectValue) int {
	switch {
	case x.CanInt() && y.CanInt():
		return cmp.Compare(x.Int(), y.Int())
	case x.CanInt() && x.Int() < 0:
		return -1
	case y.CanInt() && y.Int() < 0:
		return 1
	}
	unsigned := func(v ReflectValue) uint64 {
		if v.CanInt() {
			return uint64(v.Int())
		}
		return v.Uint()
	}
	return cmp.Compare(unsigned(x), unsigned(y))
}

// templateEqual reports whether x is equal to one of others.
func templateEqual(x ReflectValue, others ...ReflectValue) (bool, error) {
	x = concrete(x)
	if len(others) == 0 {
		return false, errOneOperand
	}
	for _, y := range others {
		equal, err := equalInTemplate(x, concrete(y))
		if equal || err != nil {
			return equal, err
		}
	}
	return false, nil
}

func equalInTemplate(x, y ReflectValue) (bool, error) {
	switch k, l := group(x), group(y); {
	case integer(k) && integer(l):
		return compareIntegers(x, y) == 0, nil
	case k != l:
		if x.IsValid() && y.IsValid() {
			return false, fmt.Errorf("incompatible types for comparison: %v and %v", x.Type(), y.Type())
		}
		return false, nil
	case k == reflect.Float64:
		return x.Float() == y.Float(), nil
	case k != reflect.Invalid:
		return x.Value.Equal(convertedTo(y, x)), nil
	}
	if x.IsValid() && y.IsValid() && x.Kind() != y.Kind() {
		return false, fmt.Errorf("non-comparable types %s: %v, %s: %v", x, x.Type(), y.Type(), y)
	}
	if isNull(x) || isNull(y) {
		return isNull(x) == isNull(y), nil
	}
	if !y.Type().Comparable() {
		return false, fmt.Errorf("non-comparable type %s: %v", y, y.Type())
	}
	return x.r.Equal(x.Interface(), y.Interface()), nil
}

// convertedTo returns y as a raw value of the type of x. Their kinds differ only in size.
func convertedTo(y, x ReflectValue) reflect.Value { return y.Value.Convert(x.Value.Type()) }

func isNull(v ReflectValue) bool { return !v.IsValid() || canBeNil(v.Type()) && v.IsNil() }

// templateLess returns x < y.
func templateLess(x, y ReflectValue) (bool, error) {
	x, y = concrete(x), concrete(y)
	k, l := group(x), group(y)
	switch {
	case k == reflect.Invalid || l == reflect.Invalid:
		return false, errIncomparable
	case integer(k) && integer(l):
		return compareIntegers(x, y) < 0, nil
	case k != l:
		return false, fmt.Errorf("incompatible types for comparison: %v and %v", x.Type(), y.Type())
	case k == reflect.Float64:
		return x.Float() < y.Float(), nil
	case k == reflect.String:
		return x.String() < y.String(), nil
	}
	return false, errIncomparable
}

// templateLessOrEqual returns x <= y.
func templateLessOrEqual(x, y ReflectValue) (bool, error) {
	less, err := templateLess(x, y)
	if less || err != nil {
		return less, err
	}
	return templateEqual(x, y)
}
