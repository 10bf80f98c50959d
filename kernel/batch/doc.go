// Package batch executes a notebook from its first cell to its last without a
// front end: the worker and its supervision are those of the kernel, and what a
// front end would show is kept in the notebook and written to a terminal.
//
// [Run] is all there is. It fails with a [*CellError] when a cell does.
package batch
