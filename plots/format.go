package plots

import "os"

// Format says which pictures a figure gives to the notebook.
type Format string

// The formats. With Both, which is the default, the notebook shows the SVG,
// which follows its theme, and keeps the PNG for places that show no SVG.
const (
	Both Format = ""
	SVG  Format = "svg"
	PNG  Format = "png"
)

// Environment is the variable that sets the format of all figures that set
// none themselves: "png" for notebooks that are read on GitHub, "svg" for
// small ones. It is read when a figure is shown.
const Environment = "QUERN_PLOTS"

// orEnvironment is the format to use: f, or else the environment's. A word
// that is no format counts as not set.
func (f Format) orEnvironment() Format {
	if f == Both {
		f = Format(os.Getenv(Environment))
	}
	switch f {
	case SVG, PNG:
		return f
	}
	return Both
}
