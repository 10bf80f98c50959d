// Package extra has the packages that a user has compiled into this program in addition to those of every program. In the
// source of Quern there are none: package build adds a file to this package that sets the variables.
package extra

import "reflect"

var (
	// Archive has the types and the documentation, as package archive writes them; empty if there are none.
	Archive string
	// Tables are the symbols by yaegi's key, import path and package name.
	Tables map[string]func() map[string]reflect.Value
	// Requests are the modules and packages that the user asked for, as path@version.
	Requests []string
	// Base identifies the program of Quern without the packages, and Source is where its source is.
	Base, Source string
)
