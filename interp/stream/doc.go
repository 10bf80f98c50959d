// Package stream implements the standard streams of cells.
//
//	output.go    Output: standard output and error, of the session or of each cell
//	input.go     Input: standard input
//	redirect.go  wraps functions of compiled packages that take os.Stdin, os.Stdout or os.Stderr
package stream
