package widgets_test

import (
	"fmt"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/plots"
	"github.com/quernlab/quern/widgets"
)

// The sink of a front end gets the same messages as without the models of figures.
func ExampleNewFigures() {
	notebook := display.SinkFunc(func(m display.Message) { fmt.Println(m.Kind, m.Data["text/plain"]) })
	defer display.SetSink(display.SetSink(widgets.NewFigures(notebook)))
	loss := display.Show(plots.Line("loss", []float64{3, 2}).As(plots.SVG))
	loss.Update(plots.Line("loss", []float64{3, 2, 1}).As(plots.SVG))
	// Output:
	// display loss: 2 points from 2 to 3
	// update loss: 3 points from 1 to 3
}
