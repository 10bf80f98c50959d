package tensor

// State returns the generator's seed and the number of blocks drawn. nil means the default
// generator.
func (g *Generator) State() (seed, drawn uint64) {
	return g.orDefault().take(0)
}

// SetState restores a state that State returned. nil means the default generator.
func (g *Generator) SetState(seed, drawn uint64) {
	g = g.orDefault()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.key, g.counter = seed, drawn
}
