package active

import "context"

// Random selects at random. It is the baseline for other strategies.
func Random() Strategy { return random{} }

type random struct{}

func (random) Select(_ context.Context, c *Candidates, n int) ([]int, error) {
	return c.Random().Perm(c.Len())[:n], nil
}

func (random) String() string { return "random" }
