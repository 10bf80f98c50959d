package nn

import (
	"reflect"
	"strings"
)

// NilModules returns the paths of the fields of a model that hold modules and are nil, such as
// "Head". They may be nil on purpose, if Forward does not use them.
func NilModules(model any) (paths []string) {
	w := walker{visit: func([]string, any) {}, seen: map[visited]bool{}}
	w.null = func(path []string) { paths = append(paths, strings.Join(path, ".")) }
	w.value(nil, reflect.ValueOf(model))
	return paths
}
