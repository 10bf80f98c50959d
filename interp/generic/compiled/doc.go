// Package compiled does, for the bodies in interp/generic, what interpreted code cannot do or does slowly: coroutines,
// interning, hashing, and loops over slices of ordered types that need no function of the cell.
//
// It is not generic, so it has symbols that interpreted code can call. A slice comes as a reflect.Value, since the
// interpreter gives package reflect the plain value, whatever its type is called; a named type has the kind, and so the
// order, of the type below it.
package compiled
