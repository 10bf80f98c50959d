package tensor

import "github.com/quernlab/quern/accel/internal/trace"

// SetName is what profiles call a parameter from now on, such as "up.weight".
// Optimisers say it of the parameters of their model. Without a profile under
// way, and of a tensor that is no parameter, it does nothing.
func (t *Tensor) SetName(name string) {
	if c := trace.Active(); c != nil && t.leaf != nil {
		c.SetName(t.leaf, name)
	}
}
