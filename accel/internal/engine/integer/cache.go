package integer

import (
	"sync"
	"sync/atomic"
)

// cache holds the data that devices have derived from a description, for as long as the
// description exists.
type cache struct {
	once sync.Once
	id   int

	mu   sync.Mutex
	made map[string]any
}

var ids atomic.Int64

// ID returns a number that identifies the description.
func (c *cache) ID() int {
	c.once.Do(func() { c.id = int(ids.Add(1)) })
	return c.id
}

// Made returns the value with a name, which make creates once.
func (c *cache) Made(name string, make func() any) any {
	c.mu.Lock()
	defer c.mu.Unlock()
	if x, ok := c.made[name]; ok {
		return x
	}
	if c.made == nil {
		c.made = map[string]any{}
	}
	x := make()
	c.made[name] = x
	return x
}
