// Package stream has the standard streams of cells.
//
//	output.go    Output: standard output and error, of the session or of each cell
//	input.go     Input: standard input
//	redirect.go  functions of compiled packages that are given a standard file
package stream
