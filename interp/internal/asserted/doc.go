// Asserted lists the interfaces to which packages of the standard library convert values at run time: by x.(T), a case
// of a type switch, errors.As, errors.AsType, or reflect.TypeFor and TypeAssert. It writes interp/assertedlist_test.go, which
// TestAsserted of package interp uses.
//
// Run it by go run ./internal/asserted in interp, when a Go release has other assertions. A comment in the list has the
// interfaces that a cell cannot implement, with the reasons.
//
//   - find.go: finds the interfaces.
//   - write.go: writes the list.
package main
