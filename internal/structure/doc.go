// Package structure has tests of what concerns the module as a whole: which way
// imports point, that what is exported is documented, and that the texts beside the
// code (README.md, docs, the tutorials) speak of what is there.
//
// It reads files and builds nothing, so it is quick and the same on every system.
package structure
