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
