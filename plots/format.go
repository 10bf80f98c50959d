package plots

import "os"

// Format selects the image formats of a figure in a notebook.
type Format string

// The formats. Both is the default: the notebook displays the SVG, which follows its theme, and
// stores the PNG for viewers that do not support SVG.
const (
	Both Format = ""
	SVG  Format = "svg"
	PNG  Format = "png"
)

// formatEnv is the environment variable with the format of all figures that do not call
// [Figure.As]: "png" for notebooks that are read on GitHub, "svg" for small notebooks. It is
// read when a figure is displayed.
const formatEnv = "QUERN_PLOTS"

// resolve returns f, or the format of the environment if f is Both. Unknown values of the
// variable are ignored.
func (f Format) resolve() Format {
	if f == Both {
		f = Format(os.Getenv(formatEnv))
	}
	switch f {
	case SVG, PNG:
		return f
	}
	return Both
}
