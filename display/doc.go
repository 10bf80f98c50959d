// Package display displays values in a notebook.
//
// The notebook displays a value that is the last expression of a cell with its method
// MIMEBundle, if it has one (see [Displayer]), or as the [Report] that its method Report returns: texts,
// tables and figures. [HTML], [Markdown], [LaTeX], [SVG], [PNG],
// [JSON] and [VegaLite] wrap content that is already in such a format. [Show] displays a value
// immediately and returns a [Handle], whose Update replaces it in place; [ClearOutput] removes
// the output of the cell. [Table] displays slices, maps and structs as rows and columns.
//
// Any other value is displayed as the text that [Format] returns: one line if it fits,
// otherwise several lines, truncated so that large values do not flood the notebook.
//
// The package does not depend on Jupyter: output goes to a [Sink]. The kernel's worker sets one
// that sends it to the notebook; a plain program prints the text form to standard output.
// Everything in this package may be called from any goroutine.
package display
