package loop

import (
	"errors"

	"github.com/quernlab/quern/accel/internal/interrupt"
)

// JoinErrors joins two errors, either of which may be nil.
func JoinErrors(a, b error) error {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case interrupt.Is(a) && interrupt.Is(b):
		return a
	}
	return errors.Join(a, b)
}
