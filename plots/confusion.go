package plots

import "strconv"

// Confusion draws a confusion matrix: counts[i][j] is the number of examples of class i that
// the model predicted as class j. Cells show percentages of their row, so that rare and
// frequent classes can be compared.
//
// Cells missing from counts, and negative counts, count as 0. The legend counts these cells, unless counts is empty.
func Confusion(title string, classes []string, counts [][]int) *Figure {
	n := max(len(classes), len(counts))
	for _, row := range counts {
		n = max(n, len(row))
	}
	k := confusion{classes: make([]string, n), counts: make([][]int, n)}
	for i := range n {
		k.classes[i] = strconv.Itoa(i)
		if i < len(classes) {
			k.classes[i] = classes[i]
		}
		k.counts[i] = make([]int, n)
		if len(counts) > 0 {
			k.zeros += n
		}
		if i < len(counts) {
			for j, count := range counts[i] {
				k.counts[i][j] = max(count, 0)
				if count >= 0 {
					k.zeros--
				}
			}
		}
	}
	return newFigure(title, k)
}

type confusion struct {
	classes []string
	counts  [][]int // square
	zeros   int     // number of cells that count as 0 although they are missing or negative
}

func (k confusion) size() (width, height float64) {
	n := float64(max(len(k.classes), 1))
	side := 34.0
	if n > manyClasses {
		side = 14
	}
	return k.matrix(nil).size(min(max(side*n, 200), 900)/n, 620)
}

// manyClasses is the number of classes above which cells are small.
const manyClasses = 20

// matrix returns the body of the figure with the given cells.
func (k confusion) matrix(cell func(i, j int) cell) matrix {
	m := matrix{
		rows: len(k.counts), columns: len(k.counts),
		rowNames: k.classes, colNames: k.classes,
		rowTitle: "← actual, %", colTitle: "predicted →",
		cell: cell,
	}
	if len(k.classes) > manyClasses {
		m.ground = at(hue(0), groundOpacity)
	}
	return m
}

// groundOpacity is the opacity of a cell without examples.
const groundOpacity = .05

func (k confusion) sections(l settings) []section {
	var hits, total float64
	sums := make([]float64, len(k.counts))
	var worst, from, to = 0.0, 0, 0
	for i, row := range k.counts {
		for j, count := range row {
			sums[i] += float64(count)
			if i == j {
				hits += float64(count)
			}
		}
		total += sums[i]
		for j, count := range row {
			if part := float64(count) / sums[i]; i != j && part > worst {
				worst, from, to = part, i, j
			}
		}
	}
	subtitle := "no examples"
	if total > 0 {
		subtitle = "accuracy " + ratio(hits/total) + ", rows sum to 100 %"
		if worst > 0 {
			subtitle = "accuracy " + ratio(hits/total) + ", most often wrong: " + k.classes[from] + " as " + k.classes[to]
		}
	}
	return []section{{
		title: l.title, subtitle: subtitle, legend: flagged(k.zeros, "cell", "missing or negative"), height: 1,
		body: k.matrix(func(i, j int) cell {
			if sums[i] == 0 {
				return k.cell(0, "–")
			}
			part := float64(k.counts[i][j]) / sums[i]
			return k.cell(part, decimals(100*part, 0))
		}).draw,
	}}
}

// cell returns a cell with a fraction of its row.
func (k confusion) cell(part float64, label string) cell {
	c := cell{at(hue(0), groundOpacity+(1-groundOpacity)*part), label, inkOver(hue(0), part)}
	if label == "0" {
		c.ink = inkAxis
		if len(k.classes) > manyClasses { // thousands of zeros would hide the other numbers
			return cell{}
		}
	}
	return c
}
