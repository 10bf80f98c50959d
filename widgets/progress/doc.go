// Package progress displays the progress of a loop:
//
//	for x := range progress.Each(xs) { … }
//	for i := range progress.Range(1000) { … }
//
// The bar is updated in place, with the step count, the elapsed and the remaining time; a plain
// program prints a line from time to time. The bar stays in the saved notebook and does not
// need ipywidgets. A loop that ends early leaves the bar at its last state.
package progress
