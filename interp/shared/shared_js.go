package shared

// Pointer is a pointer that any goroutine may load and store.
type Pointer[T any] struct{ value *T }

// Load returns the pointer.
func (p *Pointer[T]) Load() *T { return p.value }

// Store sets the pointer.
func (p *Pointer[T]) Store(value *T) { p.value = value }

// CompareAndSwap sets the pointer if it is old, and reports whether it was.
func (p *Pointer[T]) CompareAndSwap(old, value *T) bool {
	same := p.value == old
	if same {
		p.value = value
	}
	return same
}

// Uint64 is a number that any goroutine may load and change.
type Uint64 struct{ value uint64 }

// Load returns the number.
func (n *Uint64) Load() uint64 { return n.value }

// Add adds to the number and returns the sum.
func (n *Uint64) Add(delta uint64) uint64 {
	n.value += delta
	return n.value
}
