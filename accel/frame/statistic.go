package frame

import (
	"errors"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
	"time"
)

// Statistic is a value computed of a column for each group of rows, or of all rows; see
// [Groups.Aggregate] and [Frame.Aggregate]. Missing values are left out.
type Statistic struct {
	name, column string
	// One of these is set. The rows are those of a group that have a value.
	count  func(c cells, rows []int) int
	number func(values []float64) float64
	choose func(c cells, rows []int) int // the row whose value is the result
	sum    bool
}

// As returns the statistic with a name for its column. Without it, the name is that of the
// column, "_" and the name of the statistic, such as "age_mean".
func (s Statistic) As(name string) Statistic {
	s.name = name
	return s
}

// Count is the number of rows, in a column named "count".
func Count() Statistic { return Statistic{name: "count"} }

// CountPresent is the number of rows that have a value in a column.
func CountPresent(column string) Statistic {
	return Statistic{name: column + "_count", column: column, count: func(_ cells, rows []int) int { return len(rows) }}
}

// CountDistinct is the number of different values.
func CountDistinct(column string) Statistic {
	return Statistic{name: column + "_distinct", column: column, count: func(c cells, rows []int) int {
		_, n := c.take(rows).codes()
		return n
	}}
}

// Sum is the sum, of ints or bools as an int, and 0 without values. A sum of ints beyond the range
// of int panics.
func Sum(column string) Statistic {
	return Statistic{name: column + "_sum", column: column, sum: true}
}

// Mean is the arithmetic mean; of bools it is the share of true.
func Mean(column string) Statistic { return Reduce("mean", column, mean) }

// Std is the standard deviation of a sample, with the divisor n - 1. It is missing for less than
// two values.
func Std(column string) Statistic { return Reduce("std", column, std) }

// Median is the middle value, or the mean of the two in the middle.
func Median(column string) Statistic {
	return Reduce("median", column, func(v []float64) float64 { return quantile(v, 0.5) })
}

// Quantile is the value below which the fraction q of the values lies, interpolated linearly
// between two values as NumPy and pandas do. The column is named after 100·q, such as "age_q25". It panics if q is not between 0 and 1.
func Quantile(column string, q float64) Statistic {
	if !(q >= 0 && q <= 1) {
		panic(fmt.Errorf("frame: the quantile %v of column %q: use one between 0 and 1", q, column))
	}
	return Reduce(fmt.Sprintf("q%.12g", 100*q), column, func(v []float64) float64 { return quantile(v, q) })
}

// Min is the lowest value of a column of any type.
func Min(column string) Statistic { return extreme("min", column, -1) }

// Max is the highest value of a column of any type.
func Max(column string) Statistic { return extreme("max", column, 1) }

// First is the value of the first row that has one, of a column of any type.
func First(column string) Statistic {
	return Statistic{name: column + "_first", column: column, choose: func(_ cells, rows []int) int { return rows[0] }}
}

// Reduce is a statistic of the caller's: reduce gets the numbers of a group, at least one, and
// must neither keep nor change them. The column has floats, ints or bools.
func Reduce(name, column string, reduce func(values []float64) float64) Statistic {
	return Statistic{name: column + "_" + name, column: column, number: reduce}
}

func extreme(name, column string, sign int) Statistic {
	return Statistic{name: column + "_" + name, column: column, choose: func(c cells, rows []int) int {
		best := rows[0]
		for _, i := range rows[1:] {
			if sign*c.compare(i, best) > 0 {
				best = i
			}
		}
		return best
	}}
}

// of computes the statistic for groups of rows.
func (s Statistic) of(f *Frame, groups [][]int) Column {
	if s.column == "" {
		sizes := &list[int]{}
		for _, rows := range groups {
			sizes.values = append(sizes.values, len(rows))
		}
		return Column{name: s.name, cells: sizes}
	}
	c := f.Column(s.column)
	var numbers []float64
	if s.number != nil || s.sum {
		numbers = c.Floats() // panics if there are none
	}
	switch {
	case s.count != nil:
		return Column{name: s.name, cells: &list[int]{values: gather(c, groups, func(rows []int) int { return s.count(c.cells, rows) })}}
	case s.choose != nil:
		chosen := gather(c, groups, func(rows []int) int {
			if len(rows) == 0 {
				return -1
			}
			return s.choose(c.cells, rows)
		})
		return Column{name: s.name, cells: c.cells.take(chosen)}
	case s.sum && c.Type() != Float:
		return Column{name: s.name, cells: &list[int]{values: gather(c, groups, func(rows []int) int { return sumInts(c, rows) })}}
	}
	reduce, empty := s.number, math.NaN()
	if s.sum {
		reduce, empty = sum, 0
	}
	var values []float64
	return Column{name: s.name, cells: &list[float64]{values: gather(c, groups, func(rows []int) float64 {
		values = values[:0]
		for _, i := range rows {
			values = append(values, numbers[i])
		}
		if len(values) == 0 {
			return empty
		}
		return reduce(values)
	})}}
}

// gather calls f for each group with the rows that have a value.
func gather[T any](c Column, groups [][]int, f func(rows []int) T) []T {
	results := make([]T, len(groups))
	var present []int
	for g, rows := range groups {
		present = present[:0]
		for _, i := range rows {
			if !c.cells.missing(i) {
				present = append(present, i)
			}
		}
		results[g] = f(present)
	}
	return results
}

var errSum = errors.New("the sum is beyond the range of int: sum a column of floats")

func sumInts(c Column, rows []int) int {
	total := 0
	for _, i := range rows {
		v := 0
		switch l := c.cells.(type) {
		case *list[int]:
			v = l.values[i]
		case *list[bool]:
			if l.values[i] {
				v = 1
			}
		}
		next := total + v
		if (next > total) != (v > 0) && v != 0 {
			panic(fmt.Errorf("frame: column %q: %w", c.name, errSum))
		}
		total = next
	}
	return total
}

// sum adds with the compensation of Neumaier (1974), so that many small values count beside a
// large one.
func sum(values []float64) float64 {
	total, lost := 0.0, 0.0
	for _, v := range values {
		next := total + v
		if math.Abs(total) >= math.Abs(v) {
			lost += (total - next) + v
		} else {
			lost += (v - next) + total
		}
		total = next
	}
	if math.IsNaN(lost) || math.IsInf(total, 0) { // of infinities
		return total
	}
	return total + lost
}

func mean(values []float64) float64 { return sum(values) / float64(len(values)) }

func std(values []float64) float64 {
	if len(values) < 2 {
		return math.NaN()
	}
	m := mean(values)
	squares := make([]float64, len(values))
	for i, v := range values {
		squares[i] = (v - m) * (v - m)
	}
	return math.Sqrt(sum(squares) / float64(len(values)-1))
}

func quantile(values []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	at := q * float64(len(sorted)-1)
	low := int(at)
	if low+1 >= len(sorted) || at == float64(low) {
		return sorted[low]
	}
	return sorted[low] + (sorted[low+1]-sorted[low])*(at-float64(low))
}

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

// Describe returns a frame with a row for each column: its type, the number of values and of
// missing ones, and of numbers and bools mean, standard deviation, minimum, quartiles and maximum; of
// other columns the number of different values, and the most frequent one with its count.
func (f *Frame) Describe() *Frame {
	var rows []description
	for _, c := range f.all() {
		d := description{Column: c.name, Type: c.Type().String(), Missing: c.CountMissing()}
		d.Count = c.Len() - d.Missing
		one := build([]Column{c}, c.Len())
		switch c.Type() {
		case Float, Int, Bool:
			a := one.Aggregate(Mean(c.name), Std(c.name), Quantile(c.name, 0), Quantile(c.name, 0.25), Median(c.name), Quantile(c.name, 0.75), Quantile(c.name, 1))
			for i, to := range []**float64{&d.Mean, &d.Std, &d.Min, &d.Lower, &d.Median, &d.Upper, &d.Max} {
				if !a.columns[i].Missing(0) {
					v := a.columns[i].Floats()[0]
					*to = &v
				}
			}
		default:
			counts := one.DropMissing().CountValues(c.name)
			distinct := counts.Len()
			if d.Distinct = &distinct; distinct > 0 {
				top, n := counts.columns[0].Format(0), counts.columns[1].Ints()[0]
				d.Top, d.Frequency = &top, &n
			}
		}
		rows = append(rows, d)
	}
	all, err := FromStructs(rows)
	if err != nil {
		panic(err) // the type of description is ours
	}
	var used []string // numbers alone have no most frequent value
	for _, c := range all.columns {
		if c.CountMissing() < c.Len() || slices.Contains([]string{"column", "type", "count", "missing"}, c.name) {
			used = append(used, c.name)
		}
	}
	return all.Select(used...)
}

// description is a row of Describe.
type description struct {
	Column    string   `frame:"column"`
	Type      string   `frame:"type"`
	Count     int      `frame:"count"`
	Missing   int      `frame:"missing"`
	Mean      *float64 `frame:"mean"`
	Std       *float64 `frame:"std"`
	Min       *float64 `frame:"min"`
	Lower     *float64 `frame:"25%"`
	Median    *float64 `frame:"50%"`
	Upper     *float64 `frame:"75%"`
	Max       *float64 `frame:"max"`
	Distinct  *int     `frame:"distinct"`
	Top       *string  `frame:"top"`
	Frequency *int     `frame:"frequency"`
}
