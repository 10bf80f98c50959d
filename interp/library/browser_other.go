//go:build !js

package library

// noProcesses is nil where commands can run.
var noProcesses error

// browser returns nothing: it is for the kernel for browsers.
func browser() Packages { return nil }
