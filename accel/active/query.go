package active

import (
	"context"
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/nn"
)

// Strategy chooses what to ask. A type of one's own is one too.
type Strategy interface {
	// Select gives n different candidates, by their number in c from 0, the one to
	// ask about first in front. Query sees to it that there are as many.
	Select(ctx context.Context, c *Candidates, n int) ([]int, error)
	// String is the strategy's name.
	String() string
}

// Query chooses n unlabelled examples by a strategy, nil for [Margin], and gives
// their indices in [Pool.Set], the one to ask about first in front. Of examples
// with the same numbers it chooses one, and none that equals a labelled one, as
// long as there are others.
//
// The model gives logits [N, C] for the classes of the set, in evaluation mode, and
// is in the mode that it was in after that. It may be nil for [Random], [TypiClust] and
// [CoreSet], which then look at the numbers of the examples. Other errors than
// those of this package are as those of accel.Fit.
func Query(ctx context.Context, model nn.Module, pool *Pool, strategy Strategy, n int) (pick []int, err error) {
	defer nn.Catch(&err)
	if err := pool.Err(); err != nil {
		return nil, err
	}
	switch {
	case n < 1:
		return nil, fmt.Errorf("active: Query: %d examples", n)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	if strategy == nil {
		strategy = Margin()
	}
	if s, ok := strategy.(maker); ok {
		return s.make(ctx, model, pool, n)
	}
	if n > pool.Left() {
		return nil, &TooFewError{Asked: n, Left: pool.Left()}
	}
	fresh, repeated := pool.candidates()
	random := pool.random()
	if len(fresh) > 0 {
		c := &Candidates{pool: pool, model: model, index: fresh, random: random}
		if pick, err = c.selected(ctx, strategy, min(n, len(fresh))); err != nil {
			return nil, err
		}
	}
	for _, k := range random.Perm(len(repeated)) {
		if len(pick) == n {
			break
		}
		pick = append(pick, repeated[k])
	}
	return pick, nil
}

// maker is a strategy that does not choose among what there is.
type maker interface {
	make(ctx context.Context, model nn.Module, pool *Pool, n int) ([]int, error)
}

// selected has a strategy choose, and looks at what it chose.
func (c *Candidates) selected(ctx context.Context, strategy Strategy, n int) ([]int, error) {
	chosen, err := strategy.Select(ctx, c, n)
	if err != nil {
		return nil, err
	}
	if len(chosen) != n {
		return nil, fmt.Errorf("active: %v chose %d examples, not %d", strategy, len(chosen), n)
	}
	pick, seen := make([]int, n), make(map[int]bool, n)
	for k, at := range chosen {
		if at < 0 || at >= len(c.index) || seen[at] {
			return nil, fmt.Errorf("active: %v chose candidate %d of %d, or twice", strategy, at, len(c.index))
		}
		seen[at] = true
		pick[k] = c.index[at]
	}
	return pick, nil
}

// errNoModel says that a strategy cannot choose without a model.
var errNoModel = errors.New("active: there is no model; Random, TypiClust and CoreSet need none")
