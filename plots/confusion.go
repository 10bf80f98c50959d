package plots

import "strconv"

// Confusion draws how often each class was taken for each: counts[i][j] is the
// number of examples of class i that the model called class j. Cells are in
// percent of their row, so that rare classes read like frequent ones.
//
// Cells that counts do not have are 0, and so are negative ones.
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
		if i < len(counts) {
			for j, count := range counts[i] {
				k.counts[i][j] = max(count, 0)
			}
		}
	}
	return newFigure(title, k)
}

type confusion struct {
	classes []string
	counts  [][]int // square
}

func (k confusion) size() (width, height float64) {
	n := float64(max(len(k.classes), 1))
	side := 34.0
	if n > manyClasses {
		side = 14
	}
	return k.matrix(nil).size(min(max(side*n, 200), 900)/n, 620)
}

// manyClasses is the number of classes from which cells are small.
const manyClasses = 20

// matrix is the figure without what its cells show.
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

// groundOpacity is that of a cell without examples.
const groundOpacity = .05

func (k confusion) sections(l look) []section {
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
		title: l.title, subtitle: subtitle, height: 1,
		body: k.matrix(func(i, j int) cell {
			if sums[i] == 0 {
				return k.cell(0, "–")
			}
			part := float64(k.counts[i][j]) / sums[i]
			return k.cell(part, decimals(100*part, 0))
		}),
	}}
}

// cell is one that holds a part of its row.
func (k confusion) cell(part float64, words string) cell {
	c := cell{at(hue(0), groundOpacity+(1-groundOpacity)*part), words, inkOver(hue(0), part)}
	if part < .005 { // written as 0
		c.ink = inkAxis
		if len(k.classes) > manyClasses { // thousands of zeros would hide the rest
			return cell{}
		}
	}
	return c
}
