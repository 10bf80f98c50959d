package data

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
)

// Derive returns a data set whose examples and targets are computed from those of s when they are put into a batch,
// by the workers: inputs and targets are the numbers of values of each. It is for models that learn from the
// examples themselves, such as one that removes noise:
//
//	noisy, err := images.Derive("noisy", 64, 64, func(input, target []float32, e data.Example, random *rand.Rand) {
//		copy(target, e.X)
//		for i, v := range e.X {
//			input[i] = v + 0.1*float32(random.NormFloat64())
//		}
//	})
//
// The function gets the example after the transforms of [Dataset.Map], with its class, 0 if that is unknown, or its
// targets, and writes to input and target, which begin with zeros. Several goroutines call it at once; it must draw
// random numbers only from random. These depend on the seed and the epoch of the batches ([Shuffle], [Epoch])
// and on the example, so they differ in each epoch, do not depend on the number of workers, and are the same
// in a training that is resumed. [Dataset.Example] and [Dataset.Target] draw the same numbers each time.
//
// The shape of the examples is [inputs] until [Dataset.Reshape] sets another one. Sequences are rejected.
func (s *Dataset) Derive(name string, inputs, targets int, derive func(input, target []float32, e Example, random *rand.Rand)) (*Dataset, error) {
	switch {
	case derive == nil:
		return nil, errors.New("data: Derive: the function is nil")
	case inputs < 1 || targets < 1 || inputs > maxDerived || targets > maxDerived:
		return nil, fmt.Errorf("data: Derive of %s: %d inputs and %d targets must both be from 1 to %d", s.name, inputs, targets, maxDerived)
	case s.SequenceLength() > 0 || s.positions() > 0:
		return nil, fmt.Errorf("data: Derive of %s: its examples are sequences: make a data set of other examples with FromSource", s.name)
	case s.resident != nil:
		return nil, fmt.Errorf("data: Derive: the examples of %s are on the device: call Derive without OnDevice", s.name)
	}
	d := &derived{set: *s, inputs: inputs, targets: targets, derive: derive}
	d.width, _ = volume(s.Shape())
	return &Dataset{name: s.name + ", " + name, shape: []int{inputs}, source: d}, nil
}

// maxDerived limits an example, whose values are 1 GiB then: a larger one is a mistake that would end the process.
const maxDerived = 1 << 28

// derived is a source of examples that are computed from those of a data set.
type derived struct {
	set             Dataset
	width           int // values of an example of set
	inputs, targets int
	derive          func(input, target []float32, e Example, random *rand.Rand)
}

func (d *derived) len() int          { return d.set.Len() }
func (d *derived) path(i int) string { return d.set.Path(i) }

func (d *derived) form() form {
	return form{targets: d.targets, memory: d.set.InMemory(), random: true}
}

func (d *derived) read(i int, v values) error {
	if v.x == nil && v.targets == nil {
		return nil
	}
	own := v.loader.other(1)
	form := d.set.source.form()
	from := values{x: make([]float32, d.width), labels: make([]int, form.labels()), targets: make([]float32, form.targets)}
	if err := d.set.readTransformed(i, from, own.other(1)); err != nil {
		return err
	}
	e := Example{X: from.x, Targets: from.targets}
	if len(from.labels) > 0 {
		e.Class = from.labels[0]
	}
	input, target := make([]float32, d.inputs), make([]float32, d.targets)
	d.derive(input, target, e, own.randomFor(i))
	copy(v.x, input)
	copy(v.targets, target)
	return nil
}

// other returns a loader with other random numbers for each n above 0, and with equal ones for 0.
func (l *loader) other(n int) *loader {
	o := loader{}
	if l != nil {
		o = *l
	}
	for range n {
		o.seed = o.seed*6364136223846793005 + 1442695040888963407 // a linear congruential generator
	}
	return &o
}

// WithLabels returns the data set with other labels, one for each example, for instance after a
// person has labeled it. The labels are indices of its classes. The examples must have one
// class each.
func (s *Dataset) WithLabels(labels []int) (*Dataset, error) {
	if err := s.oneClassEach("WithLabels"); err != nil {
		return nil, err
	}
	if len(labels) != s.Len() {
		return nil, fmt.Errorf("data: %d labels for the %d examples of %s", len(labels), s.Len(), s.name)
	}
	for i, c := range labels {
		if c < 0 || c >= len(s.classes) {
			return nil, fmt.Errorf("data: label %d of example %d: the classes of %s are 0 to %d", c, i, s.name, len(s.classes)-1)
		}
	}
	t := *s
	t.source, t.index = &relabeled{view{*s}, slices.Clone(labels)}, nil
	return &t, nil
}

// WithTargetValues returns the data set with other targets, a vector for each example, for instance
// after a person has measured them. They have the length of its targets. The examples must have
// targets.
func (s *Dataset) WithTargetValues(targets [][]float32) (*Dataset, error) {
	if s.Targets() == 0 {
		return nil, fmt.Errorf("data: WithTargetValues: the examples of %s have no targets", s.name)
	}
	if len(targets) != s.Len() {
		return nil, fmt.Errorf("data: %d vectors of targets for the %d examples of %s", len(targets), s.Len(), s.name)
	}
	given := make([][]float32, len(targets))
	for i, v := range targets {
		if len(v) != s.Targets() {
			return nil, fmt.Errorf("data: example %d has %d targets, but the examples of %s have %d", i, len(v), s.name, s.Targets())
		}
		given[i] = slices.Clone(v)
	}
	t := *s
	t.source, t.index = &retargeted{view{*s}, given}, nil
	return &t, nil
}

// retargeted is a data set with other targets.
type retargeted struct {
	view
	given [][]float32
}

func (r *retargeted) read(i int, v values) error {
	copy(v.targets, r.given[i])
	if v.targets = nil; v.x == nil {
		return nil
	}
	return r.view.read(i, v)
}

// Append returns the data set with additional examples at the end, in the format of
// [Dataset.Example], with a class index for each. The transforms of [Dataset.Map] also apply to
// them. The examples must have one class each.
func (s *Dataset) Append(examples [][]float32, labels []int) (*Dataset, error) {
	if err := s.oneClassEach("Append"); err != nil {
		return nil, err
	}
	if s.positions() > 0 {
		return nil, fmt.Errorf("data: Append to %s: the lengths of the sequences are unknown: make a data set of all with Sequences", s.name)
	}
	if len(examples) != len(labels) {
		return nil, fmt.Errorf("data: %d examples, but %d labels", len(examples), len(labels))
	}
	more := &floats{answers: answers{labels: slices.Clone(labels)}, width: s.size()}
	for i, x := range examples {
		if len(x) != more.width {
			return nil, fmt.Errorf("data: example %d has %d values, but examples of %s have %d", i, len(x), s.name, more.width)
		}
		if c := labels[i]; c < 0 || c >= len(s.classes) {
			return nil, fmt.Errorf("data: label %d of example %d: the classes of %s are 0 to %d", c, i, s.name, len(s.classes)-1)
		}
		more.data = append(more.data, x...)
	}
	t := *s
	t.source, t.index = &extended{view{*s}, more}, nil
	return &t, nil
}

// oneClassEach returns an error if the examples do not have one class each, known or not.
func (s *Dataset) oneClassEach(name string) error {
	if s.Targets() > 0 || s.SequenceLength() > 0 {
		return fmt.Errorf("data: %s: the examples of %s do not have one class each", name, s.name)
	}
	return nil
}

// relabeled is a data set with other labels.
type relabeled struct {
	view
	given []int
}

func (r *relabeled) form() form {
	f := r.view.form()
	f.unlabeled = false
	return f
}

func (r *relabeled) read(i int, v values) error {
	if v.labels != nil {
		v.labels[0], v.labels = r.given[i], nil
	}
	if v.x == nil {
		return nil
	}
	return r.view.read(i, v)
}

// extended is a data set followed by additional examples.
type extended struct {
	view
	more *floats
}

func (e *extended) len() int { return e.view.len() + e.more.len() }

func (e *extended) read(i int, v values) error {
	if n := e.view.len(); i >= n {
		return e.more.read(i-n, v)
	}
	return e.view.read(i, v)
}

func (e *extended) path(i int) string {
	if i >= e.view.len() {
		return ""
	}
	return e.view.path(i)
}

// Concat returns a data set with the examples of several, one data set after the other, like PyTorch's
// ConcatDataset. They must have examples of one shape, and classes, columns and targets of the same names in the same
// order; see [Dataset.Like]. Sequences need the same padding, and are padded to the longest of all. The transforms
// of each stay with its examples, so [Dataset.Example] of the result applies them too.
func Concat(first *Dataset, more ...*Dataset) (*Dataset, error) {
	c := &chained{}
	var t Dataset
	for k, s := range append([]*Dataset{first}, more...) {
		switch {
		case s == nil:
			return nil, fmt.Errorf("data: Concat: data set %d is nil: check the error returned where it was created", k)
		case s.resident != nil:
			return nil, fmt.Errorf("data: Concat: %s is on the device: call OnDevice for the result", s.name)
		case k == 0:
			t = *s
		case s.cutsPadding() && first.cutsPadding(): // to the longest one
		case !slices.Equal(s.Shape(), first.Shape()):
			return nil, fmt.Errorf("data: Concat: the examples of %s have shape %v, but those of %s have %v", s.name, s.Shape(), first.name, first.Shape())
		case s.SequenceLength() != first.SequenceLength() || s.positions() != first.positions():
			return nil, fmt.Errorf("data: Concat: the sequences of %s and %s are padded to different lengths", s.name, first.name)
		}
		switch f, before := s.source.form(), first.source.form(); {
		case f.pads() && before.pads() && f.padding != before.padding:
			return nil, fmt.Errorf("data: Concat: the sequences of data set %d (%s) are padded with %d, but those of data set 0 with %d: make them with the same padding", k, s.name, f.padding, before.padding)
		case f.packed != before.packed:
			return nil, fmt.Errorf("data: Concat: only one of %s and %s has packed sequences: join them before PackSequences", first.name, s.name)
		case s.Unlabeled() != first.Unlabeled():
			return nil, fmt.Errorf("data: Concat: only one of %s and %s has labels: add labels with WithLabels", first.name, s.name)
		}
		if err := t.Schema().Check(s); err != nil {
			if differs, ok := errors.AsType[*MismatchError](err); ok {
				differs.concat = true
			}
			return nil, err
		}
		if len(s.classes) > len(t.classes) {
			t.classes = s.classes
		}
		if t.columns == nil {
			t.columns = s.columns
		}
		if t.targetNames == nil {
			t.targetNames = s.targetNames
		}
		c.longest = max(c.longest, s.positions())
		c.parts, c.ends = append(c.parts, *s), append(c.ends, c.len()+s.Len())
	}
	t.source, t.index, t.transforms, t.shape = c, nil, nil, first.Shape()
	if first.cutsPadding() {
		t.shape = []int{c.longest}
	}
	return &t, nil
}

// chained is a source of the examples of several data sets.
type chained struct {
	parts []Dataset
	ends  []int // for each part, the number of examples up to its end

	longest int // positions to which sequences are padded; 0 for other examples
}

func (c *chained) len() int {
	if len(c.ends) == 0 {
		return 0
	}
	return c.ends[len(c.ends)-1]
}

func (c *chained) form() form {
	f := c.parts[0].source.form()
	f.highest, f.positions = 0, c.longest
	for i := range c.parts {
		part := c.parts[i].source.form()
		f.ignores, f.memory = f.ignores || part.ignores, f.memory && part.memory
		f.sequence = max(f.sequence, part.sequence)
		f.random = f.random || part.random || slices.ContainsFunc(c.parts[i].transforms, func(t Transform) bool { return t.random })
	}
	return f
}

// part returns the data set of example i, and its number there.
func (c *chained) part(i int) (k, at int) {
	k = sort.SearchInts(c.ends, i+1)
	return k, i - c.ends[k] + c.parts[k].Len()
}

func (c *chained) read(i int, v values) error {
	k, at := c.part(i)
	s := &c.parts[k]
	if n := s.positions(); n < c.longest {
		if v.x != nil {
			fill(v.x[n:], float32(c.parts[0].source.form().padding))
			v.x = v.x[:n]
		}
		if s.SequenceLength() > 0 && len(v.labels) > n {
			fill(v.labels[n:], Ignored)
			v.labels = v.labels[:n]
		}
	}
	if v.x == nil {
		return s.source.read(s.at(at), v) // only the labels
	}
	return s.readTransformed(at, v, v.loader.other(k))
}

func fill[T any](all []T, with T) {
	for i := range all {
		all[i] = with
	}
}

func (c *chained) path(i int) string {
	k, at := c.part(i)
	return c.parts[k].Path(at)
}

func (c *chained) length(i int) int {
	k, at := c.part(i)
	return c.parts[k].Length(at)
}

// Inputs returns a data set whose examples have several inputs, such as an image and a row of a
// table: example i has the values of example i of each data set, one after the other, and the
// labels of the first. Transforms that draw random numbers are not possible. Sequences of different
// lengths, which one of the data sets may have, are padded to the longest of all. A model divides its
// input again with nn.Unpack:
//
//	func (m *model) Forward(x *tensor.Tensor) *tensor.Tensor {
//		in := nn.Unpack(x, []int{1, 28, 28}, []int{5})
//		return m.head.Forward(tensor.Concat(1, m.image.Forward(in[0]), m.table.Forward(in[1])))
//	}
func Inputs(first *Dataset, more ...*Dataset) (*Dataset, error) {
	j := &joined{}
	named := true
	var columns []string
	for k, s := range append([]*Dataset{first}, more...) {
		switch {
		case s == nil:
			return nil, fmt.Errorf("data: Inputs: data set %d is nil: check the error returned where it was created", k)
		case s.Len() != first.Len():
			return nil, fmt.Errorf("data: Inputs: %s has %d examples, but %s has %d", s.name, s.Len(), first.name, first.Len())
		case s.resident != nil:
			return nil, fmt.Errorf("data: Inputs: %s is on the device: call OnDevice for the result", s.name)
		case slices.ContainsFunc(s.transforms, func(t Transform) bool { return t.random }):
			return nil, fmt.Errorf("data: Inputs: the transforms of %s draw random numbers", s.name)
		case s.source.form().random:
			return nil, fmt.Errorf("data: Inputs: the examples of %s draw random numbers: call Derive for the result", s.name)
		case s.positions() > 0 && j.text != nil:
			return nil, fmt.Errorf("data: Inputs: both %s and %s have sequences of different lengths, but a batch has one list of lengths", j.text.name, s.name)
		case s.positions() > 0:
			j.text = s
		case s.source.form().packed && k > 0:
			return nil, fmt.Errorf("data: Inputs: the rows of %s are packed sequences, which can only be the first input", s.name)
		}
		n, _ := volume(s.Shape())
		j.parts, j.sizes, j.width = append(j.parts, *s), append(j.sizes, n), j.width+n
		named = named && len(s.columns) == n
		columns = append(columns, s.columns...)
	}
	t := *first
	t.source, t.index, t.transforms, t.shape, t.columns = j, nil, nil, []int{j.width}, nil
	if named {
		t.columns = columns
	}
	return &t, nil
}

// joined is a source of the values of several data sets and the labels of the first.
type joined struct {
	parts []Dataset
	sizes []int // values of an example of each
	width int
	text  *Dataset // the part of padded sequences; nil for none
}

func (j *joined) len() int          { return j.parts[0].Len() }
func (j *joined) path(i int) string { return j.parts[0].Path(i) }

func (j *joined) form() form {
	f := j.parts[0].source.form()
	f.highest = 0
	for i := range j.parts {
		part := j.parts[i].source.form()
		f.memory = f.memory && part.memory
		if part.positions > 0 {
			f.positions, f.padding = part.positions, part.padding
		}
	}
	return f
}

func (j *joined) length(i int) int {
	if j.text == nil {
		return 0
	}
	return j.text.Length(i)
}

func (j *joined) read(i int, v values) error {
	for k := range j.parts {
		s := &j.parts[k]
		if v.x == nil {
			return s.source.read(s.at(i), v) // only the labels
		}
		part := values{x: v.x[:j.sizes[k]]}
		if k == 0 {
			part.labels, part.targets, part.positions = v.labels, v.targets, v.positions
		}
		if err := s.readTransformed(i, part, &loader{}); err != nil {
			return err
		}
		if v.x = v.x[j.sizes[k]:]; len(v.x) == 0 {
			break
		}
	}
	return nil
}
