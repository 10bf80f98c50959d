package ir

import "container/list"

// maxPlans is the maximum number of cached plans. A notebook whose shapes keep changing
// would add plans without end.
const maxPlans = 256

// planCache caches plans by structure and evicts the least recently used one. It compares
// whole keys, so two structures never share a plan.
type planCache struct {
	byKey map[string]*list.Element
	used  list.List // of *cached, the last used first
}

type cached struct {
	key  string
	plan *plan
}

func newPlanCache() *planCache {
	return &planCache{byKey: map[string]*list.Element{}}
}

func (c *planCache) get(key []byte) *plan {
	e := c.byKey[string(key)]
	if e == nil {
		return nil
	}
	c.used.MoveToFront(e)
	return e.Value.(*cached).plan
}

func (c *planCache) put(key []byte, p *plan) {
	if c.used.Len() >= maxPlans {
		last := c.used.Back()
		delete(c.byKey, last.Value.(*cached).key)
		c.used.Remove(last)
	}
	k := string(key)
	c.byKey[k] = c.used.PushFront(&cached{k, p})
}
