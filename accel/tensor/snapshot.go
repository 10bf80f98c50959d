package tensor

import (
	"bytes"

	"github.com/quernlab/quern/accel/internal/ir"
)

// Snapshot is what a tensor was at a moment. It takes memory of its own once the
// tensor is given other numbers.
type Snapshot struct{ v *ir.Value }

// Snapshot keeps what the tensor is now.
func (t *Tensor) Snapshot() *Snapshot {
	var s Snapshot
	locked(func(*ir.Recorder) { s.v = t.value("Snapshot").Hold() })
	return &s
}

// Same reports whether a tensor has the numbers of the snapshot. It costs next to
// nothing unless the tensor was given others since, which are then compared.
func (s *Snapshot) Same(t *Tensor) (same bool) {
	locked(func(r *ir.Recorder) {
		v := t.value("Same")
		if same = v == s.v; same {
			return
		}
		same = v.DType() == s.v.DType() && v.Len() == s.v.Len() && bytes.Equal(r.Download("Same", v), r.Download("Same", s.v))
		if same { // and will be found so quickly from now on
			old := s.v
			s.v = v.Hold()
			r.Release(old)
		}
	})
	return same
}
