package tensor

// State returns where the generator stands: its seed, and how many blocks were
// drawn. nil means the default generator.
func (g *Generator) State() (seed, drawn uint64) {
	return g.orDefault().take(0)
}

// SetState goes on from where another generator stood. nil means the default
// generator.
func (g *Generator) SetState(seed, drawn uint64) {
	g = g.orDefault()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.key, g.counter = seed, drawn
}
