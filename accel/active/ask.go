package active

import (
	"context"
	"errors"
	"fmt"
)

// Question is a question of [Ask] about one example.
type Question struct {
	Index   int       // index in the pool's data set
	Path    string    // its file; "" if the data set has no files
	Example []float32 // its values, as returned by data.Dataset.Example
	Classes []string  // the possible answers
	Number  int       // number of the question, from 1
	Total   int       // number of questions in this call of Ask

	show any
	pool *Pool
}

// Show returns the example for display in a notebook: what [Pool.ShowAs] returns, its image, or its
// values.
func (q *Question) Show() any { return q.show }

// Asker answers questions.
type Asker interface {
	// Ask returns the class of an example, an index of q.Classes. [ErrSkip] leaves the example
	// unlabeled, [ErrStop] ends the questions, and any other error is returned by the function
	// Ask. Ask should return when ctx is done.
	Ask(ctx context.Context, q *Question) (class int, err error)
}

// Answers of an [Asker] other than a class.
var (
	ErrSkip = errors.New("active: the question was skipped")
	ErrStop = errors.New("active: no more questions")
)

// Ask asks for the label of each example and adds it to the pool before the next question, so
// an interrupt, an error or a kill loses no label; with a pool of [Resume] they are also in a
// file. Examples that already have a label are skipped, so the same call continues where it
// stopped. Ask returns nil when the asker stops ([ErrStop]).
func Ask(ctx context.Context, pool *Pool, pick []int, asker Asker) error {
	if err := pool.Err(); err != nil {
		return err
	}
	if pool.targets != nil {
		return fmt.Errorf("active: Ask: the examples of %s have targets, not classes: store answers with LabelTargets", pool.set.Name())
	}
	if asker == nil {
		return errors.New("active: Ask: the asker is nil; Oracle answers with the labels of the data set")
	}
	var open []int
	for _, i := range pick {
		if i < 0 || i >= len(pool.labels) {
			return &LabelError{Example: i, Problem: fmt.Sprintf("the index is out of range: the data set has %d examples", len(pool.labels))}
		}
		if pool.labels[i] == none {
			open = append(open, i)
		}
	}
	for k, i := range open {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if _, known := pool.Known(i); known { // it is in pick twice
			continue
		}
		class, err := asker.Ask(ctx, pool.question(i, k+1, len(open)))
		switch {
		case errors.Is(err, ErrSkip):
			continue
		case errors.Is(err, ErrStop):
			return nil
		case err != nil:
			return fmt.Errorf("active: Ask: example %d, question %d of %d: %w", i, k+1, len(open), err)
		}
		if err := pool.Label([]int{i}, class); err != nil {
			return err
		}
	}
	return nil
}

func (p *Pool) question(i, number, total int) *Question {
	q := &Question{Index: i, Classes: p.set.Classes(), Number: number, Total: total, pool: p}
	q.Example, q.Path = p.set.Example(i), p.set.Path(i)
	shape := p.set.Shape()
	if p.show != nil && i < p.own {
		q.show = p.show(i)
	} else if n := len(shape); n == 2 || n == 3 && (shape[0] == 1 || shape[0] == 3) {
		q.show = imageExample{number, total, p.set.Image(i)}
	} else {
		q.show = vectorExample{number, total, q.Example}
	}
	return q
}

// Oracle answers with known labels: those of the function or, if it is nil, those of the pool's
// data set. It replaces a person in tests.
func Oracle(label func(index int) int) Asker { return oracle{label} }

type oracle struct{ label func(int) int }

func (o oracle) Ask(_ context.Context, q *Question) (int, error) {
	switch {
	case o.label != nil:
		return o.label(q.Index), nil
	case q.pool.set.Unlabeled():
		return 0, errors.New("the data set has no labels: pass a function to Oracle")
	case q.Index >= q.pool.own:
		return 0, errors.New("the example was made by Synthesize, so its label is unknown")
	}
	return q.pool.set.Label(q.Index), nil
}
