package plots

// Areas draws a stacked area chart, with the first series at the bottom: the parts of memory
// over time, for instance. All series use the X of the first one, index by index. A value that
// is missing, negative or not drawable counts as 0, and so does one that has no X. The legend counts these values.
func Areas(title string, series ...Series) *Figure {
	return newFigure(title, areas{copied(series)})
}

type areas struct{ series []named }

func (areas) size() (width, height float64) { return 760, 240 }

func (k areas) sections(l settings) []section {
	var x, y limits
	y.add(0)
	var below []point
	if len(k.series) > 0 {
		for _, q := range k.series[0].points {
			if drawable(q.x, false) {
				below = append(below, point{q.x, 0})
				x.add(q.x)
			}
		}
	}
	p := axes()
	p.X.Label.Text = l.labelX
	p.Add(grid{})
	zeros := 0
	for i, s := range k.series {
		above := make([]point, len(below))
		at := 0
		for j := range below {
			above[j] = below[j]
			for at < len(s.points) && !drawable(s.points[at].x, false) {
				at++
			}
			if at == len(s.points) {
				zeros++ // missing
			} else {
				if v := s.points[at].y; drawable(v, false) && v >= 0 {
					above[j].y += v
				} else {
					zeros++
				}
				at++
			}
			y.add(above[j].y)
		}
		zeros += len(s.points) - at
		stretch := make([]interval, len(below))
		for j := range below {
			stretch[j] = interval{x: below[j].x, low: below[j].y, high: above[j].y}
		}
		p.Add(band{stretch, hue(i)})
		below = above
	}
	scale(&p.X, x.widened(false), false, counter(7, false, false))
	scale(&p.Y, limits{0, y.hi * 1.05, true}.widened(false), false, ticker(4, false))
	subtitle := "no data"
	if len(below) > 0 {
		subtitle = "at most " + value(y.hi)
	} else {
		showEmpty(p, "no data")
	}
	return l.onePanel(p, subtitle, append(legendOf(k.series, nil), flagged(zeros, "value", "drawn as 0")...))
}
