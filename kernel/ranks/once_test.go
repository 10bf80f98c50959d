package ranks

import (
	"context"
	"errors"
	"testing"

	"github.com/quernlab/quern/kernel/link"
)

// If rank 0 ends a cell before a step, the other ranks do not wait for it; if the cell has
// failed there, they wait for their interrupt, so that the error is that of rank 0.
func TestStepThatRank0DoesNotReach(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		failed bool
		want   error
	}{
		{"succeeded", false, errNotDone},
		{"failed", true, context.Canceled},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			o := newOnce()
			o.begin(1)
			if !row.failed {
				o.end()
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := o.wait(ctx, link.OnceRequest{Cell: 1, Step: 2}); !errors.Is(err, row.want) {
				t.Errorf("got %v, want %v", err, row.want)
			}
		})
	}
}
