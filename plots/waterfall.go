package plots

// Waterfall draws how a number changes from step to step, in the order given: the training time
// as techniques are added one by one, for instance. The first bar begins at zero, each other
// one where the previous one ended, and the number at a bar is the value reached. Rising and
// falling bars have different colors. For a value that is not drawable, Waterfall writes the
// number in red instead of a bar, and the next bar begins where the last drawn one ended. Names and values
// that differ in number are as in [Bar].
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

// waterfall is bars that begin where the previous one ended.
type waterfall struct{ bars }

func (k waterfall) sections(l settings) []section {
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
