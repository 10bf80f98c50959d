package symbols_test

import (
	"fmt"
	"go/token"

	"github.com/quernlab/quern/interp/symbols"
)

// Find the package that a cell uses without an import, its types and its documentation.
func Example() {
	path := symbols.Guess("json")[0]
	pkg, err := symbols.Importer(token.NewFileSet()).Import(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(pkg.Scope().Lookup("Valid"))
	fmt.Println(symbols.Doc(path, "Valid"))
	// Output:
	// func encoding/json.Valid(data []byte) bool
	// Valid reports whether data is a valid JSON encoding.
}
