package plots

import (
	"math"
	"strconv"
)

// HeatMap draws a matrix as colors: values[i][j] is in row i from the top and column j from
// the left. Positive values are blue, negative ones red, and the color is strongest for the
// largest absolute value. The names of rows and columns may be nil. A value that is not
// drawable is a red cell, a missing one an empty cell; both are counted in the legend, and so are rows and
// columns without a name if others have one.
func HeatMap(title string, values [][]float64, rowNames, columnNames []string) *Figure {
	k := heatMap{
		rowNames:    append([]string(nil), rowNames...),
		columnNames: append([]string(nil), columnNames...),
		columns:     len(columnNames),
	}
	for _, row := range values {
		k.values = append(k.values, append([]float64(nil), row...))
		k.columns = max(k.columns, len(row))
	}
	for len(k.values) < len(rowNames) {
		k.values = append(k.values, nil)
	}
	return newFigure(title, k)
}

type heatMap struct {
	values                [][]float64
	columns               int
	rowNames, columnNames []string
}

func (k heatMap) size() (width, height float64) {
	n := float64(max(k.columns, len(k.values), 1))
	return k.matrix(settings{}, nil).size(min(max(34*n, 160), 560)/n, 560)
}

// matrix returns the body of the figure with the given cells.
func (k heatMap) matrix(l settings, cell func(i, j int) cell) matrix {
	m := matrix{
		rows: len(k.values), columns: k.columns,
		rowNames: k.rowNames, colNames: k.columnNames,
		cell: cell, allOrNoText: true,
	}
	if l.labelY != "" {
		m.rowTitle = "← " + l.labelY
	}
	if l.labelX != "" {
		m.colTitle = l.labelX + " →"
	}
	return m
}

func (k heatMap) sections(l settings) []section {
	var z limits
	bad, missing := 0, 0
	for _, row := range k.values {
		missing += k.columns - len(row)
		for _, v := range row {
			if drawable(v, false) {
				z.add(v)
			} else {
				bad++
			}
		}
	}
	most := max(math.Abs(z.lo), math.Abs(z.hi))
	if most == 0 {
		most = 1
	}
	subtitle := "no data"
	if z.some {
		subtitle = "from " + value(z.lo) + " to " + value(z.hi)
	}
	var legend []entry
	if bad > 0 {
		legend = append(legend, entry{name: strconv.Itoa(bad) + " not drawn", color: wrong, filled: true})
	}
	if missing > 0 {
		legend = append(legend, entry{name: strconv.Itoa(missing) + " missing", color: inkGrid, filled: true})
	}
	unnamed := func(n int, names []string) int {
		if len(names) == 0 {
			return 0
		}
		return n - len(names)
	}
	legend = append(legend, flagged(unnamed(len(k.values), k.rowNames), "row", "without a name")...)
	legend = append(legend, flagged(unnamed(k.columns, k.columnNames), "column", "without a name")...)
	return []section{{
		title: l.title, subtitle: subtitle, legend: legend, height: 1,
		body: k.matrix(l, func(i, j int) cell {
			if j >= len(k.values[i]) {
				return cell{}
			}
			v := k.values[i][j]
			if !drawable(v, false) {
				return cell{fill: wrong, label: value(v), ink: paper}
			}
			series := 0
			if v < 0 {
				series = 1
			}
			part := math.Abs(v / most)
			return cell{at(hue(series), .04+.96*part), short(v), inkOver(hue(series), part)}
		}).draw,
	}}
}

// short formats a number with two significant digits.
func short(v float64) string {
	size := math.Abs(v)
	switch {
	case size == 0:
		return "0"
	case size < .01 || size >= 1e5:
		return scientific(v, 0)
	case size >= 10:
		return decimals(v, 0)
	case size >= 1:
		return decimals(v, 1)
	}
	return decimals(v, 2)
}
