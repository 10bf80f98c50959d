package frame

import "fmt"

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
	if kind < Inner || kind > Outer {
		panic(fmt.Errorf("frame: join of kind %d: use Inner, Left or Outer", int(kind)))
	}
	if len(on) == 0 {
		panic(fmt.Errorf("frame: join without columns: name the columns that both frames have in common"))
	}
	codes, none := make([]int, f.rows+other.rows), make([]bool, f.rows+other.rows)
	for _, name := range on {
		more, _ := (concatenate([]Column{f.Column(name), other.Column(name)})).codes()
		for i, code := range more {
			none[i] = none[i] || code < 0
		}
		codes = combine(codes, more)
	}
	matches := map[int][]int{} // rows of other by code
	for j := range other.rows {
		if !none[f.rows+j] {
			matches[codes[f.rows+j]] = append(matches[codes[f.rows+j]], j)
		}
	}
	var left, right []int
	matched := make([]bool, other.rows)
	for i := range f.rows {
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
		for j := range other.rows {
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
