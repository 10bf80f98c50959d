package tensor

import (
	"bytes"

	"github.com/quernlab/quern/accel/internal/ir"
)

// Snapshot holds the elements that a tensor had when it was taken. It takes memory only after the
// tensor gets other elements.
type Snapshot struct{ v *ir.Value }

// Snapshot takes a snapshot of the tensor.
func (t *Tensor) Snapshot() *Snapshot {
	var s Snapshot
	locked(func(*ir.Recorder) { s.v = t.value("Snapshot").Hold() })
	return &s
}

// Same reports whether t has the elements of the snapshot. It costs next to nothing unless t got a
// new value since; then the elements are compared.
func (s *Snapshot) Same(t *Tensor) (same bool) {
	locked(func(r *ir.Recorder) {
		v := t.value("Same")
		if same = v == s.v; same {
			return
		}
		same = v.DType() == s.v.DType() && v.Len() == s.v.Len() && bytes.Equal(r.Download("Same", v), r.Download("Same", s.v))
		if same { // the next call need not compare
			old := s.v
			s.v = v.Hold()
			r.Release(old)
		}
	})
	return same
}
