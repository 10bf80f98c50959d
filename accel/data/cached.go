package data

import (
	"fmt"
	"sync"
)

// Cached returns the data set with a cache of its examples in memory, for sources that are slow to
// read, such as files of images. The examples are kept as they are after the transforms of
// [Dataset.Map] so far, which run only once for each; those that are mapped afterwards run in each
// epoch. Examples that do not fit into the given number of bytes are read each time: since an epoch
// uses each example once, none is replaced by another.
//
// Transforms that draw random numbers would be the same in each epoch, so Cached fails for those of
// this package: map them after Cached.
func (s *Dataset) Cached(bytes int) (*Dataset, error) {
	if bytes < 0 {
		return nil, fmt.Errorf("data: Cached(%d): the number of bytes must not be negative", bytes)
	}
	for _, t := range s.transforms {
		if t.random {
			return nil, fmt.Errorf("data: Cached of %s: %v must differ in each epoch: map it after Cached", s.name, t)
		}
	}
	if drawsRandom(s.source) {
		return nil, fmt.Errorf("data: Cached of %s: its examples draw random numbers and must differ in each epoch: call Cached before Derive", s.name)
	}
	if s.resident != nil {
		return nil, fmt.Errorf("data: Cached: the examples of %s are already in memory, on the device", s.name)
	}
	c := &cached{view: view{*s}, limit: bytes, examples: map[int]*cachedExample{}}
	if b, ok := s.source.(byteSource); ok && len(s.transforms) == 0 {
		c.bytes = b
	}
	t := *s
	t.source, t.index, t.transforms, t.shape = c, nil, nil, s.Shape()
	return &t, nil
}

// cached is a data set with its transforms as a source with a cache.
type cached struct {
	view
	bytes byteSource // if the examples are kept as bytes
	limit int

	mu       sync.Mutex
	used     int
	examples map[int]*cachedExample
}

// cachedExample is an example as floats or as bytes, with its labels or targets.
type cachedExample struct {
	values
	bytes []byte
}

func (c *cached) read(i int, v values) error {
	c.mu.Lock()
	e := c.examples[i]
	c.mu.Unlock()
	if e == nil && v.x == nil {
		return c.view.read(i, v) // only the labels
	}
	if e == nil {
		form := c.form()
		e = &cachedExample{values: values{labels: make([]int, form.labels()), targets: make([]float32, form.targets)}}
		if form.packed {
			e.positions = make([]int, form.sequence)
		}
		if err := c.fill(i, e, len(v.x)); err != nil {
			return err
		}
		c.keep(i, e)
	}
	copy(v.labels, e.labels)
	copy(v.targets, e.targets)
	copy(v.positions, e.positions)
	if v.x != nil && e.bytes != nil {
		divide(v.x, e.bytes, c.bytes.highest())
	} else {
		copy(v.x, e.x)
	}
	return nil
}

// fill reads example i from the data set.
func (c *cached) fill(i int, e *cachedExample, size int) error {
	if c.bytes == nil {
		e.x = make([]float32, size)
		return c.set.readTransformed(i, e.values, &loader{})
	}
	e.bytes = make([]byte, size)
	if err := c.bytes.bytes(c.set.at(i), e.bytes); err != nil {
		return err
	}
	return c.view.read(i, e.values)
}

// keep stores an example if it fits.
func (c *cached) keep(i int, e *cachedExample) {
	c.mu.Lock()
	defer c.mu.Unlock()
	size := len(e.bytes) + 4*len(e.x)
	if _, known := c.examples[i]; !known && c.used+size <= c.limit {
		c.examples[i] = e
		c.used += size
	}
}
