package integer

import (
	"sync"
	"sync/atomic"
)

// cache holds what devices have made of a description. It goes with it.
type cache struct {
	once sync.Once
	id   int

	mu   sync.Mutex
	made map[string]any
}

var ids atomic.Int64

// ID tells descriptions apart.
func (c *cache) ID() int {
	c.once.Do(func() { c.id = int(ids.Add(1)) })
	return c.id
}

// Made is what was made under a name, once.
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
