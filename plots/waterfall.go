package plots

// Waterfall draws how a number changes from step to step, in the order given: the
// first bar begins at zero, each other one where the bar above it ended, and the
// number at a bar is what has been come to. Bars that fall and bars that rise have
// colours of their own. The seconds of a training, each technique added to those
// above it, for instance. A value that cannot be drawn has its number in red
// instead of a bar, and the next bar begins where the last one ended.
func Waterfall(title string, names []string, values []float64) *Figure {
	k := waterfall{barsOf(names, values)}
	level, first := 0., true
	for i := range k.bars {
		b := &k.bars[i]
		b.from = level
		if !drawable(b.value, false) {
			continue
		}
		switch {
		case first:
			b.hue = 0
		case b.value > level:
			b.hue = 1
		default:
			b.hue = 2
		}
		level, first = b.value, false
	}
	return newFigure(title, k)
}

// waterfall has bars that begin where others end.
type waterfall struct{ bars }

func (k waterfall) sections(l look) []section {
	all := k.bars.sections(l)
	var drawn bars
	for _, b := range k.bars {
		if drawable(b.value, false) {
			drawn = append(drawn, b)
		}
	}
	if len(drawn) > 1 {
		write := k.writer()
		first, last := drawn[0], drawn[len(drawn)-1]
		all[0].subtitle = "from " + write(first.value) + " with " + quoted(first.name) + " to " + write(last.value) + " with " + quoted(last.name)
	}
	return all
}
