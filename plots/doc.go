// Package plots draws figures for notebooks, on gonum.org/v1/plot.
//
// A function for each kind of figure takes the data and returns a [Figure],
// which shows itself as the last expression of a cell:
//
//	plots.Line("loss", losses)
//	plots.Scatter("embedding", x, y).XLabel("first component")
//	plots.Confusion("test set", classes, counts)
//
// [Training] and [DeviceUse] draw a training run and what it asks of the
// machine, [Stack] puts figures below each other, and [Live] redraws one in
// place while data come in.
//
// # What a notebook gets
//
// A figure is an SVG that follows the reader's light or dark theme without any
// script, a PNG at two pixels for each CSS pixel for places that show no SVG,
// and one line of text. [Figure.As] chooses one of the pictures for a figure,
// the environment variable QUERN_PLOTS (svg or png) for all. Use PNG for
// notebooks that are read on GitHub. Equal data give equal bytes.
//
// # Bad numbers
//
// No data make these functions fail. A value that is NaN, infinite, beyond
// ±1e300 or not positive on a logarithmic axis has no place in a figure: it is
// left out, marked where a mark can stand, and counted in the legend. A figure
// without data says so.
//
// # For who changes this package
//
// One kind of figure is one file. A kind gives sections (header, legend and
// body), most bodies are rows of panels, and a panel is a plot of gonum/plot
// with the marks of marks.go. Numbers pass drawable before they reach gonum,
// which panics or loops for some that do not.
package plots
