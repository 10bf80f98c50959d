// Package notices has the licenses of everything that the program contains: the modules of
// all platforms with the versions of go.mod, Go itself, and data sets.
//
// The command generate writes notices.txt, and the file NOTICE, from the files in the
// modules. A test fails if a module is missing, has another version, or has a license that
// nobody has looked at.
package notices

import _ "embed"

//go:generate go run ./generate

// Text is the list of the parts, followed by the text of each license.
//
//go:embed notices.txt
var Text string
