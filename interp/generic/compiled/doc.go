// Package compiled implements, for the sources in interp/generic, what interpreted code cannot do or does slowly: coroutines,
// interning, hashing, and loops over slices of ordered types that call no function of the cell.
//
// It is not generic, so it has symbols that interpreted code can call. A slice is passed as a reflect.Value, since the
// interpreter passes the plain value to package reflect, even for named types; a named type has the kind, and therefore the
// order, of its underlying type.
package compiled
