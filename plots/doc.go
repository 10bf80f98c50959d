// Package plots draws figures for notebooks, using gonum.org/v1/plot.
//
// There is a function for each kind of figure. It takes the data and returns a [Figure], which
// the notebook displays if it is the last expression of a cell:
//
//	plots.Line("loss", losses)
//	plots.Scatter("embedding", x, y).XLabel("first component")
//	plots.Confusion("test set", classes, counts)
//
// [Training] and [DeviceUse] draw a training run and the load of its device, [Stack] puts
// figures below each other, and [Live] redraws a figure in place while data arrive.
//
// # What a notebook gets
//
// A figure is displayed as an SVG that follows the reader's light or dark theme without a
// script, as a PNG with two pixels per CSS pixel where SVG is not supported, and as one line of
// text. [Figure.As] selects one image format for a figure, and the environment variable
// QUERN_PLOTS (svg or png) for all figures. Use PNG for notebooks that are read on GitHub. The
// same data always give the same bytes.
//
// Front ends with anywidget show figures with curves interactively, from [Figure.Interactive]: with the
// values under the pointer, zoom, logarithmic axes and series to hide.
//
// # Values that cannot be drawn
//
// These functions do not fail for any data. A value is drawable if it is finite, not beyond
// ±1e300 and, on a logarithmic axis, positive. Any other value is left out, marked in red where
// its position is known, and counted in the legend. A figure without data says so.
//
// # How the package works
//
// Each kind of figure has its own file and implements kind. A kind returns sections (header,
// legend and body). Most bodies are rows of panels, and a panel is a gonum plot with the marks
// of marks.go. Check every number with drawable before it reaches gonum, which panics or loops
// forever for some values.
package plots
