package display

import (
	"reflect"
	"regexp"
	"time"
)

// A time.Time made by time.Now also has a monotonic clock reading, which its text shows at the
// end as "m=+30.12". Readers have no use for it.

var timeType = reflect.TypeFor[time.Time]()

// withoutMonotonic returns x without that reading, if x is a time.
func withoutMonotonic(x any) any {
	if t, ok := x.(time.Time); ok {
		return t.Round(0)
	}
	return x
}

// reading matches it after the time zone, as fmt prints it inside other values.
var reading = regexp.MustCompile(`([+-]\d{4} \S+) m=[+-]\d+\.\d+`)

// holdsTime reports whether values of a type contain times that fmt would print.
func holdsTime(t reflect.Type) bool { return findTime(t, map[reflect.Type]bool{}) }

func findTime(t reflect.Type, seen map[reflect.Type]bool) bool {
	if t == nil || seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Struct:
		if t == timeType {
			return true
		}
		for i := range t.NumField() {
			if findTime(t.Field(i).Type, seen) {
				return true
			}
		}
	case reflect.Map:
		return findTime(t.Key(), seen) || findTime(t.Elem(), seen)
	case reflect.Slice, reflect.Array, reflect.Pointer:
		return findTime(t.Elem(), seen)
	case reflect.Interface:
		return true // it may
	}
	return false
}
