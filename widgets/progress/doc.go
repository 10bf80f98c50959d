// Package progress shows how far a loop has come:
//
//	for x := range progress.Each(xs) { … }
//	for i := range progress.Range(1000) { … }
//
// There is a bar on the page that changes in place, with the count, the time
// that has passed and the time that is left; a plain program prints a line now
// and then. The bar stays in the saved notebook and needs no widgets. A loop
// that ends early leaves the bar where it came to.
package progress
