// Package registration lets cells register names with compiled packages again: flags,
// patterns of HTTP handlers, drivers of database/sql, variables of package expvar, methods of
// archive/zip and formats of package image. Those packages panic on a name that is taken, as
// in a program that takes it twice. A cell that runs again registers its names again, and as
// with a definition the later cell counts. Within one run of a cell, and for names that no
// cell has registered, the compiled package decides.
//
// Compiled packages cannot forget a name. So they get a value that forwards to the current
// one, which a later cell replaces. Flags are an exception: the flag set is copied without
// the name.
//
//	registration.go  Registrations: the functions that cells have in place of those
//	names.go         names: which run has registered a name
//	flag.go, http.go, expvar.go, sql.go, decoder.go  one compiled package each
package registration
