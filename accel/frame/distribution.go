package frame

import (
	"fmt"
	"html"
	"math"
	"strings"
	"time"
)

// distribution is how often the values of a column occur, for the display.
type distribution struct {
	counts []int
	labels []string // of each count
}

// Limits of a distribution.
const (
	bins       = 12
	categories = 6
	categorize = 100_000 // values of a column whose texts are counted
)

// distributionOf counts numbers and times in intervals of equal width, and bools and texts by value, the most
// frequent ones first. There is none if almost all texts differ.
func distributionOf(c Column) distribution {
	switch c.Type() {
	case Float, Int:
		return histogram(c.Floats(), func(v float64) string { return fmt.Sprintf("%.4g", v) })
	case Time:
		seconds := make([]float64, c.Len())
		for i, t := range c.Times() {
			if seconds[i] = float64(t.Unix()); c.Missing(i) {
				seconds[i] = math.NaN()
			}
		}
		return histogram(seconds, func(v float64) string { return time.Unix(int64(v), 0).UTC().Format(time.DateOnly) })
	}
	f := build([]Column{c}, c.Len()).Head(categorize).DropMissing()
	counts := f.CountValues(c.name)
	if counts.Len() > 20 && counts.Len() > f.Len()/2 {
		return distribution{}
	}
	var d distribution
	for i := range min(counts.Len(), categories) {
		d.counts = append(d.counts, counts.columns[1].Ints()[i])
		d.labels = append(d.labels, fmt.Sprintf("%s: %d", counts.columns[0].shown(i), d.counts[i]))
	}
	return d
}

func histogram(values []float64, label func(float64) string) distribution {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			low, high = min(low, v), max(high, v)
		}
	}
	if !(low < high) || math.IsInf(high-low, 0) {
		return distribution{}
	}
	d := distribution{counts: make([]int, bins)}
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			d.counts[min(bins-1, int(bins*((v-low)/(high-low))))]++
		}
	}
	for k, n := range d.counts {
		from, to := low+(high-low)*float64(k)/bins, low+(high-low)*float64(k+1)/bins
		d.labels = append(d.labels, fmt.Sprintf("%s to %s: %d", label(from), label(to), n))
	}
	return d
}

// svg draws the counts as bars in the color of the text. Each bar has its label as a tooltip.
func (d distribution) svg() string {
	if len(d.counts) == 0 {
		return ""
	}
	const width, height = 72, 20
	highest := 1
	for _, n := range d.counts {
		highest = max(highest, n)
	}
	bar := float64(width) / float64(len(d.counts))
	var b strings.Builder
	fmt.Fprintf(&b, `<br><svg width="%d" height="%d" role="img" aria-label="distribution">`, width, height)
	for k, n := range d.counts {
		h := float64(height) * float64(n) / float64(highest)
		if n > 0 {
			h = max(h, 1)
		}
		fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="currentColor" opacity="0.55"><title>%s</title></rect>`,
			float64(k)*bar, height-h, max(bar-1, 1), h, html.EscapeString(d.labels[k]))
	}
	b.WriteString("</svg>")
	return b.String()
}
