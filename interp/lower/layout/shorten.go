package layout

import (
	"fmt"
	"go/types"
	"reflect"

	"github.com/quernlab/quern/interp/named"
)

// longest is the length in bytes from which the string of a struct type is replaced.
const longest = 1000

// shorten gives a struct type that reflect.StructOf has created for n a short string, if its string is long. The types in
// lowered code have no names, so the string of a struct repeats those of all structs inside it: one of a module for
// spreadsheets has 1.5 MB. Package reflect copies the string for each type and function that mentions the struct.
// Types are not identified by their strings, and what programs print uses the names of the declared types.
func shorten(t reflect.Type, n *types.Named) {
	if t.Kind() != reflect.Struct || t.Name() != "" || len(t.String()) < longest {
		return
	}
	// The address makes it unique.
	named.SetString(t, fmt.Sprintf("%s(%p)", types.TypeString(n, (*types.Package).Name), t))
}
