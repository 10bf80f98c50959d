package active

import (
	"context"
	"errors"
	"fmt"
)

// Question is what [Ask] asks of one example.
type Question struct {
	Index   int       // in the pool's set
	Example []float32 // its numbers, as data.Dataset.Example gives them
	Classes []string  // to choose from
	Number  int       // of the question, from 1
	Total   int       // questions of this Ask

	show any
	pool *Pool
}

// Show is the example to look at: its picture, or its numbers. It shows itself in a
// notebook.
func (q *Question) Show() any { return q.show }

// Asker answers questions.
type Asker interface {
	// Ask gives the class of an example, an index of q.Classes. [ErrSkip] leaves
	// the example unlabelled, [ErrStop] ends the questions; with any other error
	// Ask fails. It ends with ctx as far as it can.
	Ask(ctx context.Context, q *Question) (class int, err error)
}

// Answers of an [Asker] that are no class.
var (
	ErrSkip = errors.New("active: the question was skipped")
	ErrStop = errors.New("active: no more questions")
)

// Ask asks for the label of each example and enters it into the pool before the
// next question: an interrupt, an error or a kill loses none that was given, and
// with a pool of [Resume] they outlive the program. Examples that are labelled
// already are not asked about, so that the same call goes on where it was left.
// It returns nil when the asker has no more to say ([ErrStop]).
func Ask(ctx context.Context, pool *Pool, pick []int, asker Asker) error {
	if err := pool.Err(); err != nil {
		return err
	}
	if asker == nil {
		return errors.New("active: Ask: there is nobody to ask; Oracle answers with the labels of the set")
	}
	var open []int
	for _, i := range pick {
		if i < 0 || i >= len(pool.labels) {
			return &LabelError{Example: i, Problem: fmt.Sprintf("there is no such example; the set has %d", len(pool.labels))}
		}
		if pool.labels[i] == none {
			open = append(open, i)
		}
	}
	for k, i := range open {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if _, known := pool.Known(i); known { // it comes twice
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
	q.Example = p.set.Example(i)
	shape := p.set.Shape()
	if n := len(shape); n == 2 || n == 3 && (shape[0] == 1 || shape[0] == 3) {
		q.show = picture{number, total, p.set.Image(i)}
	} else {
		q.show = row{number, total, q.Example}
	}
	return q
}

// Oracle answers with labels that are known: by the function, or with nil by those
// that the pool's set hides. It takes the place of a person in tests.
func Oracle(label func(index int) int) Asker { return oracle{label} }

type oracle struct{ label func(int) int }

func (o oracle) Ask(_ context.Context, q *Question) (int, error) {
	switch {
	case o.label != nil:
		return o.label(q.Index), nil
	case q.Index >= q.pool.own:
		return 0, errors.New("the example was made by Synthesize and the set does not know its label")
	}
	return q.pool.set.Label(q.Index), nil
}
