package frame

import (
	"fmt"
	"slices"
)

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
	codes := make([]int, f.Len())
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
	all := [][]int{f.allRows()}
	columns := make([]Column, len(statistics))
	for k, s := range statistics {
		columns[k] = s.of(f, all)
	}
	return build(columns, 1)
}

// allRows returns the numbers of all rows.
func (f *Frame) allRows() []int {
	all := make([]int, f.Len())
	for i := range all {
		all[i] = i
	}
	return all
}

// CountValues returns how often each value of a column occurs, in a frame with the column and
// "count", the most frequent value first. Missing values are counted too.
func (f *Frame) CountValues(column string) *Frame {
	return f.GroupBy(column).Aggregate(Count()).Sort(Descending("count"))
}

// Key is a column by which [Frame.Sort] sorts; see [Ascending] and [Descending].
type Key struct {
	column     string
	descending bool
}

// Ascending sorts by a column from the lowest value to the highest, false before true, and text
// by its bytes.
func Ascending(column string) Key { return Key{column: column} }

// Descending sorts by a column from the highest value to the lowest.
func Descending(column string) Key { return Key{column: column, descending: true} }

// Sort returns the rows sorted by the first key, those with equal values by the second one, and
// so on. Rows that are equal in all keys keep their order. Missing values come last in both
// directions.
func (f *Frame) Sort(keys ...Key) *Frame {
	rows := f.allRows()
	slices.SortStableFunc(rows, f.order(keys))
	return f.take(rows)
}

// order returns a function that compares two rows by keys.
func (f *Frame) order(keys []Key) func(i, j int) int {
	columns := make([]cells, len(keys))
	for k, key := range keys {
		columns[k] = f.Column(key.column).cells
	}
	return func(i, j int) int {
		for k, c := range columns {
			switch a, b := c.missing(i), c.missing(j); {
			case a && b:
				continue
			case a:
				return 1
			case b:
				return -1
			}
			if order := c.compare(i, j); order != 0 {
				if keys[k].descending {
					return -order
				}
				return order
			}
		}
		return 0
	}
}

// JoinKind says which rows a join keeps that match none of the other frame.
type JoinKind int

// The kinds of joins.
const (
	Inner JoinKind = iota // none
	Left                  // those of the left frame
	Outer                 // those of both frames
)

// Join combines each row with each row of other that has equal values in the columns on. The
// result has the columns of both frames, those of on once; other columns that both frames have
// cause a [*ColumnError]: rename or drop them first. A missing value equals nothing, not even
// another missing value. Columns of ints and of floats can be compared.
//
// The rows have the order of this frame, then, for each, that of other. Rows of other that match
// none come last.
func (f *Frame) Join(kind JoinKind, other *Frame, on ...string) *Frame {
	rows := f.Len() + other.Len()
	if kind < Inner || kind > Outer {
		panic(fmt.Errorf("frame: join of kind %d: use Inner, Left or Outer", int(kind)))
	}
	if len(on) == 0 {
		panic(fmt.Errorf("frame: join without columns: name the columns that both frames have in common"))
	}
	codes, none := make([]int, rows), make([]bool, rows)
	for _, name := range on {
		more, _ := (concatenate([]Column{f.Column(name), other.Column(name)})).codes()
		for i, code := range more {
			none[i] = none[i] || code < 0
		}
		codes = combine(codes, more)
	}
	matches := map[int][]int{} // rows of other by code
	for j := range other.Len() {
		if !none[f.Len()+j] {
			matches[codes[f.Len()+j]] = append(matches[codes[f.Len()+j]], j)
		}
	}
	var left, right []int
	matched := make([]bool, other.Len())
	for i := range f.Len() {
		var found []int
		if !none[i] {
			found = matches[codes[i]]
		}
		for _, j := range found {
			left, right, matched[j] = append(left, i), append(right, j), true
		}
		if len(found) == 0 && kind != Inner {
			left, right = append(left, i), append(right, -1)
		}
	}
	both := len(left)
	if kind == Outer {
		for j := range other.Len() {
			if !matched[j] {
				left, right = append(left, -1), append(right, j)
			}
		}
	}
	joined := f.take(left)
	for _, name := range on { // rows that only other has
		c := joined.Column(name)
		c.cells = concatenate([]Column{{name: name, cells: c.cells.slice(0, both)}, {name: name, cells: other.Column(name).cells.take(right[both:])}})
		joined = joined.With(c)
	}
	return build(append(joined.columns, other.Drop(on...).take(right).columns...), len(left))
}
