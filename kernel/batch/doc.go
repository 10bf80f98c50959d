// Package batch executes a notebook from its first to its last cell without a front end.
// It uses the same worker and supervisor as the kernel. What a front end would show is
// stored in the notebook and written to a terminal.
//
// The only function is [Run]. It fails with a [*CellError] if a cell fails.
package batch
