// Command imports times the first import of modules by %get, each in a process of its
// own, and prints a table: how long %get takes (versions, checksums, download), how
// long the first cell that imports and uses the packages takes, and a second such cell.
//
//	go run ./interp/internal/imports [-modules lo,testify] [-cpuprofile FILE]
//
// The modules are in modules.txt: a name, the module, the cell, and what it prints.
package main
