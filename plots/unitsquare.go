package plots

// unitSquare draws curves whose x and y are shares, on axes from 0 to 100 %.
type unitSquare struct {
	series         []named
	labelX, labelY string
	diagonal       string                // what the dashed diagonal stands for; "" for no diagonal
	dots           bool                  // mark each value
	measure        func([]point) float64 // the area of a curve, for the summary
	measured       string                // its name
}

func (unitSquare) size() (width, height float64) { return 420, 400 }

func (k unitSquare) sections(l settings) []section {
	unit := limits{0, 1, true}
	p := axes()
	p.X.Label.Text = k.labelX
	if l.labelX != "" {
		p.X.Label.Text = l.labelX
	}
	if l.labelY == "" {
		l.labelY = k.labelY
	}
	scale(&p.X, unit, false, linear{count: 5, format: shareLabel})
	scale(&p.Y, unit, false, linear{count: 5, format: shareLabel})
	p.Add(grid{vertical: true})
	var legend []entry
	if k.diagonal != "" {
		m := line([]point{{0, 0}, {1, 1}}, inkSecond, widthFaint)
		m.style.Dashes = patterns[1]
		p.Add(m)
		legend = append(legend, entry{name: k.diagonal, color: inkSecond, dashes: patterns[1]})
	}
	overlaps := covering(k.series, unit)
	var bad []point
	var areas limits
	for i, s := range k.series {
		var inside []point
		for _, q := range s.points {
			if q.x >= 0 && q.x <= 1 && q.y >= 0 && q.y <= 1 {
				inside = append(inside, q)
			} else {
				bad = append(bad, q)
			}
		}
		if len(inside) == 0 {
			continue
		}
		p.Add(series(i, overlaps[i], l.stepPoints(reduce(inside, 0, 1, false))))
		if k.dots {
			p.Add(spots{inside, 2, hue(i)})
		}
		areas.add(k.measure(inside))
		if s.name != "" {
			legend = append(legend, entry{name: s.name, color: hue(i), dashes: pattern(i, overlaps[i])})
		}
	}
	subtitle := "no data"
	switch {
	case !areas.some:
		showEmpty(p, "no data")
	case areas.lo == areas.hi:
		subtitle = k.measured + " " + decimals(areas.lo, 3)
	default:
		subtitle = k.measured + " " + decimals(areas.lo, 3) + " to " + decimals(areas.hi, 3)
	}
	return l.onePanel(p, subtitle, append(legend, notDrawn(bad)...))
}

// shareLabel formats a share as a tick in percent.
func shareLabel(v, step float64) string { return percent(100*v, 100*step) }
