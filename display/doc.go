// Package display is what a cell may show.
//
// A value shows itself as the last expression of a cell when it has a method
// MIMEBundle (see [Displayer]). [HTML], [Markdown], [LaTeX], [SVG], [PNG],
// [JSON] and [VegaLite] wrap content that is already in such a format. [Show]
// puts a value on the page at once and returns a [Handle] whose Update changes
// it in place; [ClearOutput] takes back what the cell has shown. [Table] makes rows and
// columns of slices, maps and structs.
//
// Any other value is shown as [Format] gives it: in one line if it fits there,
// else laid out and cut, so that no value floods the page.
//
// The package knows nothing of Jupyter: what is shown goes to a [Sink]. The
// kernel's worker sets one that speaks to the notebook; a plain program gets
// the text form on its standard output. Everything here may be called from any
// goroutine.
package display
