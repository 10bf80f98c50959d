package plots

import (
	"slices"

	"gonum.org/v1/plot/vg"
)

// Stack combines figures into one, below each other, each with its own title: a training run
// above the use of its device, for instance. Their notes are below all of them. Later changes to a figure also change the stack.
func Stack(figures ...*Figure) *Figure {
	var k stack
	for _, f := range figures {
		if f != nil {
			k = append(k, f)
		}
	}
	return newFigure("", k)
}

type stack []*Figure

func (k stack) size() (width, height float64) {
	for _, f := range k {
		w, h := f.withoutNotes()
		width = max(width, float64(w)*4/3)
		height += float64(h) * 4 / 3
	}
	if len(k) == 0 {
		return defaultWidth, defaultHeight
	}
	return width, height
}

func (k stack) sections(settings) []section {
	var all []section
	for _, f := range k {
		_, height := f.withoutNotes()
		sections := f.sections()
		var total vg.Length
		for _, s := range sections {
			total += s.height
		}
		for _, s := range sections {
			s.height *= height / total
			all = append(all, s)
		}
		if n := len(sections); n > 0 {
			last := &all[len(all)-1]
			last.notes = slices.Concat(last.notes, f.notes)
		}
	}
	return all
}
