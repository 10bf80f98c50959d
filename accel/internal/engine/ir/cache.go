package ir

import "container/list"

// The maximum number of cached plans, and of the ops that they compute. A notebook whose shapes
// keep changing would add plans without end.
const (
	maxPlans      = 256
	maxPlannedOps = 1 << 20
)

// planCache caches plans by structure and evicts the least recently used one. It compares
// whole keys, so two structures never share a plan.
type planCache struct {
	byKey map[string]*list.Element
	used  list.List // of *cached, the last used first
	ops   int       // of all plans
}

type cached struct {
	key  string
	plan *plan
	ops  int
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

func (c *planCache) put(key []byte, p *plan, ops int) {
	c.ops += ops
	for c.used.Len() >= maxPlans || c.ops > maxPlannedOps && c.used.Len() > 0 {
		last := c.used.Remove(c.used.Back()).(*cached)
		delete(c.byKey, last.key)
		c.ops -= last.ops
	}
	k := string(key)
	c.byKey[k] = c.used.PushFront(&cached{k, p, ops})
}
