// Package structure tests properties of the whole module: the direction of imports, that
// exported names are documented, and that documents such as README.md, docs and the
// tutorials refer to things that exist. testdata/api.txt has the exported names of the packages that
// notebooks and programs import; the command go test ./internal/structure -run API -update writes it.
//
// It only reads files, so it is quick and independent of the system.
package structure
