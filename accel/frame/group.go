package frame

import "slices"

// Groups are the rows of a frame that have equal values in some columns; see [Frame.GroupBy].
type Groups struct {
	frame *Frame
	keys  []string
	rows  [][]int // of each group
}

// GroupBy puts rows with equal values in all of these columns into a group. Missing values are
// equal to one another. The groups are sorted by the columns, missing values last.
func (f *Frame) GroupBy(columns ...string) *Groups {
	g := &Groups{frame: f, keys: slices.Clone(columns)}
	codes := make([]int, f.rows)
	for _, name := range columns {
		more, _ := f.Column(name).cells.codes()
		codes = combine(codes, more)
	}
	for i, code := range codes { // numbered in the order in which they occur
		if code == len(g.rows) {
			g.rows = append(g.rows, nil)
		}
		g.rows[code] = append(g.rows[code], i)
	}
	by := make([]Key, len(columns))
	for k, name := range columns {
		by[k] = Ascending(name)
	}
	order := f.order(by)
	slices.SortFunc(g.rows, func(a, b []int) int { return order(a[0], b[0]) })
	return g
}

// combine numbers pairs of codes in the order in which they occur.
func combine(a, b []int) []int {
	seen := map[[2]int]int{}
	codes := make([]int, len(a))
	for i := range a {
		pair := [2]int{a[i], b[i]}
		code, ok := seen[pair]
		if !ok {
			code = len(seen)
			seen[pair] = code
		}
		codes[i] = code
	}
	return codes
}

// Len returns the number of groups.
func (g *Groups) Len() int { return len(g.rows) }

// Aggregate returns a frame with a row for each group: the columns that GroupBy named, and the
// statistics.
func (g *Groups) Aggregate(statistics ...Statistic) *Frame {
	first := make([]int, len(g.rows))
	for k, rows := range g.rows {
		first[k] = rows[0]
	}
	columns := g.frame.Select(g.keys...).take(first).columns
	for _, s := range statistics {
		columns = append(columns, s.of(g.frame, g.rows))
	}
	return build(columns, len(g.rows))
}

// Frames returns the rows of each group as a frame, in the order of Aggregate.
func (g *Groups) Frames() []*Frame {
	frames := make([]*Frame, len(g.rows))
	for k, rows := range g.rows {
		frames[k] = g.frame.take(rows)
	}
	return frames
}

// Aggregate returns a frame of one row with the statistics of all rows.
func (f *Frame) Aggregate(statistics ...Statistic) *Frame {
	all := make([]int, f.rows)
	for i := range all {
		all[i] = i
	}
	columns := make([]Column, len(statistics))
	for k, s := range statistics {
		columns[k] = s.of(f, [][]int{all})
	}
	return build(columns, 1)
}

// CountValues returns how often each value of a column occurs, in a frame with the column and
// "count", the most frequent value first. Missing values are counted too.
func (f *Frame) CountValues(column string) *Frame {
	return f.GroupBy(column).Aggregate(Count()).Sort(Descending("count"))
}
