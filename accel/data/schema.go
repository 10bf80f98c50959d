package data

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Schema is the meaning of a data set's labels and columns, without its examples. A model only
// learns their positions.
type Schema struct {
	Dataset        string   // name of the data set
	Classes        []string // by class index; nil for regression
	Columns        []string // names of the features in order; nil if unnamed
	Targets        []string // names of the targets; nil if unnamed
	Outputs        int      // length of a target vector; 0 for classes
	SequenceLength int      // labels per example of a sequence; otherwise 0
}

// Schema returns the meaning of the data set's labels and columns.
func (s *Dataset) Schema() Schema {
	return Schema{
		Dataset: s.name, Classes: slices.Clone(s.classes), Columns: slices.Clone(s.columns), Targets: slices.Clone(s.targetNames),
		Outputs: s.Targets(), SequenceLength: s.SequenceLength(),
	}
}

// MismatchError says that the labels or columns of a data set differ in meaning from those that
// a model was trained with, so the model's predictions would be compared with the wrong ones.
type MismatchError struct {
	Dataset, Trained string // names of the data set and of the training set
	What             string // "class", "column" or "target", or "labels" if the kind of labels differs
	At               int    // the first index at which they differ; 0 for labels
	Got, Want        string // the names; "" if missing

	concat bool // Trained is the first data set of Concat
}

// Error names the difference and says what to do.
func (e *MismatchError) Error() string {
	if e.What == "labels" && e.concat {
		return fmt.Sprintf("data: Concat: %s has %s, but %s has %s: concatenate data sets with the same kind of labels", e.Dataset, e.Got, e.Trained, e.Want)
	}
	if e.What == "labels" {
		return fmt.Sprintf("data: %s has %s, but %s has %s: use data sets with the same kind of labels", e.Dataset, e.Got, e.Trained, e.Want)
	}
	name := func(s string) string {
		if s == "" {
			return "none"
		}
		return strconv.Quote(s)
	}
	rename := map[string]string{"class": "classes with WithClasses", "column": "columns with WithColumns", "target": "targets with WithTargets"}[e.What]
	if e.concat {
		return fmt.Sprintf("data: Concat: %s %d is %s in %s, but %s in %s: reorder one data set with Like of the other, or name its %s",
			e.What, e.At, name(e.Got), e.Dataset, name(e.Want), e.Trained, rename)
	}
	return fmt.Sprintf("data: %s %d is %s in %s, but %s in %s, the training set: reorder the data set with Like(training set), or name its %s",
		e.What, e.At, name(e.Got), e.Dataset, name(e.Want), e.Trained, rename)
}

// Check returns a [*MismatchError] if a model trained with this schema cannot be evaluated on the
// data set, because a class index, a column or a target has another meaning. The data set may have
// fewer classes, because the last ones need not occur, and more classes if they are only numbers.
// Columns are compared if both data sets name them; see [Dataset.Columns].
func (want Schema) Check(set *Dataset) error {
	got := set.Schema()
	if a, b := got.kind(), want.kind(); a != b {
		return &MismatchError{Dataset: got.Dataset, Trained: want.Dataset, What: "labels", Got: a, Want: b}
	}
	if err := want.CheckColumns(set); err != nil {
		return err
	}
	if got.Targets != nil && want.Targets != nil {
		if err := differ("target", got, want, got.Targets, want.Targets); err != nil {
			return err
		}
	}
	n := min(len(got.Classes), len(want.Classes))
	if err := differ("class", got, want, got.Classes[:n], want.Classes[:n]); err != nil {
		return err
	}
	if len(got.Classes) > n && !(isNumbered(got.Classes) && isNumbered(want.Classes)) {
		return &MismatchError{Dataset: got.Dataset, Trained: want.Dataset, What: "class", At: n, Got: got.Classes[n]}
	}
	return nil
}

// CheckOrder returns a [*MismatchError] if a model trained with this schema should not be trained
// further on the data set, because a class, a column or a target that both have by name has another
// index. Other names are another task, which the model learns.
func (want Schema) CheckOrder(set *Dataset) error {
	got := set.Schema()
	for _, names := range []struct {
		what      string
		got, want []string
	}{{"column", got.Columns, want.Columns}, {"target", got.Targets, want.Targets}, {"class", got.Classes, want.Classes}} {
		places := indices(names.want)
		for i, name := range names.got {
			if at, ok := places[name]; !ok || at == i {
				continue
			}
			e := &MismatchError{Dataset: got.Dataset, Trained: want.Dataset, What: names.what, At: i, Got: name}
			if i < len(names.want) {
				e.Want = names.want[i]
			}
			return e
		}
	}
	return nil
}

// CheckColumns is [Schema.Check] for the columns only, for a data set whose labels do not
// matter.
func (want Schema) CheckColumns(set *Dataset) error {
	got := set.Schema()
	if got.Columns == nil || want.Columns == nil {
		return nil
	}
	return differ("column", got, want, got.Columns, want.Columns)
}

// kind describes the kind of the labels.
func (s Schema) kind() string {
	switch {
	case s.Outputs > 0:
		return fmt.Sprintf("targets of length %d", s.Outputs)
	case s.SequenceLength > 0:
		return "a class at each position of a sequence"
	}
	return "one class per example"
}

// differ returns the first difference between two lists of names, or nil.
func differ(what string, got, want Schema, a, b []string) error {
	for i := range max(len(a), len(b)) {
		var x, y string
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if i >= len(a) || i >= len(b) || x != y {
			return &MismatchError{Dataset: got.Dataset, Trained: want.Dataset, What: what, At: i, Got: x, Want: y}
		}
	}
	return nil
}

// isNumbered reports whether each class is named by its index.
func isNumbered(classes []string) bool { return slices.Equal(classes, numberedClasses(len(classes))) }

// Columns returns the names of the features in order, which [CSV] takes from the first line of
// its file; nil if they are unnamed.
func (s *Dataset) Columns() []string { return slices.Clone(s.columns) }

// Like returns the data set with its classes, columns and targets in the order of another data
// set's, matched by name, as needed for a model trained with the other one. It fails if a name
// is missing in either data set, except that the other one may have more classes. Transforms
// keep their order from [Dataset.Map] and see the columns in the new order.
func (s *Dataset) Like(other *Dataset) (*Dataset, error) {
	want := other.Schema()
	if a, b := s.Schema().kind(), want.kind(); a != b {
		return nil, &MismatchError{Dataset: s.name, Trained: want.Dataset, What: "labels", Got: a, Want: b}
	}
	if want.SequenceLength > 0 && isNumbered(want.Classes) {
		return s, want.Check(s) // tokens have no names
	}
	o := &ordered{view: view{*s}}
	t := *s
	var err error
	if s.columns != nil && want.Columns != nil {
		if o.columns, err = positions(s, "column", want.Columns, s.columns); err != nil {
			return nil, err
		}
		t.columns = want.Columns
	}
	if s.targetNames != nil && want.Targets != nil {
		if o.wanted, err = positions(s, "target", want.Targets, s.targetNames); err != nil {
			return nil, err
		}
		t.targetNames = want.Targets
	}
	if s.classes != nil {
		o.classes = make([]int, len(s.classes))
		places := indices(want.Classes)
		for i, c := range s.classes {
			var ok bool
			if o.classes[i], ok = places[c]; !ok {
				return nil, fmt.Errorf("data: %s has no class %q, which %s has; its classes are %s", want.Dataset, c, s.name, strings.Join(want.Classes, ", "))
			}
		}
		t.classes = want.Classes
	}
	t.source, t.index, t.resident = o, nil, nil
	return &t, nil
}

// positions returns the indices of the names of one list in another list, which must have the
// same names.
func positions(s *Dataset, what string, want, have []string) ([]int, error) {
	wanted, found := indices(want), indices(have)
	for _, list := range [][]string{want, have} {
		count := map[string]int{}
		for _, name := range list {
			if count[name]++; count[name] > 1 {
				return nil, fmt.Errorf("data: %s %q occurs more than once, so its position is ambiguous", what, name)
			}
		}
	}
	at := make([]int, len(want))
	for i, name := range want {
		var ok bool
		if at[i], ok = found[name]; !ok {
			return nil, fmt.Errorf("data: %s has no %s %q; it has %s", s.name, what, name, strings.Join(have, ", "))
		}
	}
	for _, name := range have {
		if _, ok := wanted[name]; !ok {
			return nil, fmt.Errorf("data: %s has an additional %s %q", s.name, what, name)
		}
	}
	return at, nil
}

// indices returns the first index of each name.
func indices(names []string) map[string]int {
	at := make(map[string]int, len(names))
	for i, name := range names {
		if _, ok := at[name]; !ok {
			at[name] = i
		}
	}
	return at
}

// ordered is a data set whose classes, columns and targets are reordered.
type ordered struct {
	view
	columns []int // index of each column in the view; nil: unchanged
	wanted  []int // index of each target in the view
	classes []int // new index of each class of the view
}

func (o *ordered) read(i int, v values) error {
	from := v
	if v.x != nil && o.columns != nil {
		from.x = make([]float32, len(v.x))
	}
	if v.targets != nil && o.wanted != nil {
		from.targets = make([]float32, len(v.targets))
	}
	if err := o.view.read(i, from); err != nil {
		return err
	}
	if v.x != nil {
		for k, at := range o.columns {
			v.x[k] = from.x[at]
		}
	}
	if v.targets != nil {
		for k, at := range o.wanted {
			v.targets[k] = from.targets[at]
		}
	}
	for k, c := range v.labels {
		if c >= 0 && c < len(o.classes) {
			v.labels[k] = o.classes[c]
		}
	}
	return nil
}
