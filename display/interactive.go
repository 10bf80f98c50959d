package display

// Interactive is a figure for front ends with widgets, which show the values under the pointer, and where readers can zoom.
type Interactive struct {
	View any           // the drawing and its points, encoded by encoding/json, for the JavaScript of package widgets
	CSV  func() string // returns all points as a table
}

// InteractiveFigure is a Displayer that front ends with widgets can show as an interactive figure. Others show its MIME
// bundle, which is also what notebooks keep.
type InteractiveFigure interface {
	MetadataDisplayer
	// Interactive returns the figure as it is now; nil if it has no interactive form.
	Interactive() *Interactive
}

// Figures returns the figures of a value in the order of their images: the value itself, or those of a report. One that is
// no InteractiveFigure is nil.
func Figures(v any) (figures []InteractiveFigure) {
	defer func() {
		if recover() != nil { // Render says why
			figures = nil
		}
	}()
	if r, ok := v.(Reporter); ok {
		v = r.Report()
	}
	if r, ok := v.(*Report); ok && r != nil {
		for _, p := range r.parts {
			if p.figure != nil {
				f, _ := p.figure.(InteractiveFigure)
				figures = append(figures, f)
			}
		}
		return figures
	}
	if f, ok := v.(InteractiveFigure); ok {
		return []InteractiveFigure{f}
	}
	return nil
}
