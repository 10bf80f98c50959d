// Package registration lets cells register a name with a compiled package more than once:
// flags, patterns of HTTP handlers, drivers of database/sql, variables of package expvar,
// methods of archive/zip, formats of package image and profiles of runtime/pprof. Those
// packages panic if a name is already registered. But a cell that runs again registers its
// names again, and, as with definitions, the latest cell wins. Within one run of a cell, and
// for names that no cell has registered, the compiled package behaves as usual.
//
// Compiled packages cannot unregister a name. So this package registers a value that
// forwards to the current one, which a later cell replaces. Flags and patterns that conflict
// with an earlier one are exceptions: the flag set or the mux gets the content of a copy
// without the name. A profile is emptied.
//
//	registration.go  Registrations: the functions that replace those of the packages; decoders and profiles
//	names.go         names: which run has registered a name
//	flag.go, http.go, mux.go, expvar.go, sql.go  the compiled packages
package registration
