package frame

import "slices"

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
	rows := make([]int, f.rows)
	for i := range rows {
		rows[i] = i
	}
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
