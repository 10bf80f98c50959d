package active

import (
	"context"
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/nn"
)

// Strategy selects examples to label. Custom types can implement it.
type Strategy interface {
	// Select returns n different candidates, as indices in c from 0, the most important first.
	// Query ensures that there are at least n.
	Select(ctx context.Context, c *Candidates, n int) ([]int, error)
	// String returns the name of the strategy.
	String() string
}

// Query selects n unlabeled examples with a strategy (nil means [Margin]) and returns their
// indices in [Pool.Dataset], the most important first. Of several examples with the same values
// it selects one, and none that equals a labeled one, as long as there are others.
//
// The model must return logits [N, C] for the classes of the data set. Query uses it in
// evaluation mode and restores its mode. It may be nil for [Random], [TypiClust] and [CoreSet],
// which then use the values of the examples. Other errors than those of this package are those
// of accel.Fit.
func Query(ctx context.Context, model nn.Module, pool *Pool, strategy Strategy, n int) (pick []int, err error) {
	defer nn.Catch(&err)
	if err := pool.Err(); err != nil {
		return nil, err
	}
	switch {
	case n < 1:
		return nil, fmt.Errorf("active: Query: the number of examples is %d, but must be at least 1", n)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	if strategy == nil {
		strategy = Margin()
	}
	if s, ok := strategy.(synthesizer); ok {
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

// synthesizer is a strategy that makes new examples instead of selecting existing ones.
type synthesizer interface {
	make(ctx context.Context, model nn.Module, pool *Pool, n int) ([]int, error)
}

// selected calls a strategy and checks its selection.
func (c *Candidates) selected(ctx context.Context, strategy Strategy, n int) ([]int, error) {
	chosen, err := strategy.Select(ctx, c, n)
	if err != nil {
		return nil, err
	}
	if len(chosen) != n {
		return nil, fmt.Errorf("active: %v selected %d examples, want %d", strategy, len(chosen), n)
	}
	pick, seen := make([]int, n), make(map[int]bool, n)
	for k, at := range chosen {
		if at < 0 || at >= len(c.index) || seen[at] {
			return nil, fmt.Errorf("active: %v selected candidate %d of %d twice or out of range", strategy, at, len(c.index))
		}
		seen[at] = true
		pick[k] = c.index[at]
	}
	return pick, nil
}

// errNoModel is returned if a strategy needs a model.
var errNoModel = errors.New("active: the model is nil; only Random, TypiClust and CoreSet work without one")
