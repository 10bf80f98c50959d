package tensor

import "github.com/quernlab/quern/accel/internal/trace"

// SetName sets the parameter's name in profiles, such as "up.weight"; optimizers name the
// parameters of their model. It does nothing if no profile is running or t is not a parameter.
func (t *Tensor) SetName(name string) {
	if c := trace.Active(); c != nil && t.leaf != nil {
		c.SetName(t.leaf, name)
	}
}
