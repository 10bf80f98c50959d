package rt

import (
	"fmt"
	"io"
	"reflect"
	"sort"
)

// testPackages is a table of compiled symbols like yaegi's.
var testPackages = map[string]map[string]reflect.Value{
	"fmt/fmt": {
		"Stringer":   reflect.ValueOf((*fmt.Stringer)(nil)),
		"GoStringer": reflect.ValueOf((*fmt.GoStringer)(nil)),
	},
	"io/io": {
		"Reader":    reflect.ValueOf((*io.Reader)(nil)),
		"Writer":    reflect.ValueOf((*io.Writer)(nil)),
		"WriterTo":  reflect.ValueOf((*io.WriterTo)(nil)),
		"_WriterTo": reflect.ValueOf((*writerToWrapper)(nil)),
	},
	"sort/sort": {"Interface": reflect.ValueOf((*sort.Interface)(nil))},
}

// writerToWrapper has the form of yaegi's wrappers.
type writerToWrapper struct {
	IValue   any
	WWriteTo func(w io.Writer) (int64, error)
}

func (w writerToWrapper) WriteTo(to io.Writer) (int64, error) { return w.WWriteTo(to) }
