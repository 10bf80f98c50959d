package frame

import "slices"

// Describe returns a frame with a row for each column: its type, the number of values and of
// missing ones, and of numbers and bools mean, standard deviation, minimum, quartiles and maximum; of
// other columns the number of different values, and the most frequent one with its count.
func (f *Frame) Describe() *Frame {
	var rows []description
	for _, c := range f.columns {
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
