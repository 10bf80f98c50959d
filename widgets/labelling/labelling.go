// Package labelling asks a person in a notebook for labels, with a button for each
// class.
//
//	err := active.Ask(ctx, pool, pick, labelling.Buttons())
//
// It needs a front end that shows widgets and a person before it. Elsewhere
// active.Prompt reads what is typed, and active.Oracle answers by itself.
package labelling

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/quernlab/quern/accel/active"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/widgets"
)

// Panel is a picture, and below it a button for each class, one to skip it and one
// to end. It is an active.Asker. A Panel is for one call of active.Ask.
type Panel struct {
	now func() time.Time

	picture *widgets.Output
	text    *widgets.HTML
	classes []*widgets.Button
	skip    *widgets.Button
	end     *widgets.Button
	box     *widgets.Box

	mu     sync.Mutex
	asked  time.Time
	waits  bool // for an answer
	answer chan answer
}

// answer is what a click says.
type answer struct {
	class int
	err   error
}

var _ active.Asker = (*Panel)(nil)

// Buttons makes a panel, which appears with its first question.
func Buttons() *Panel { return &Panel{now: time.Now, answer: make(chan answer, 1)} }

const (
	// rowOfButtons is the number of buttons side by side.
	rowOfButtons = 10
	// tooSoon is how long after a question clicks are not taken: the second click
	// of a double click is about the picture before.
	tooSoon = 250 * time.Millisecond
)

// Ask shows a question and waits for a click, or for the end of ctx.
func (p *Panel) Ask(ctx context.Context, q *active.Question) (class int, err error) {
	if p.box == nil {
		p.build(q.Classes)
		p.picture.Set(q.Show())
		display.Show(p.box)
	} else {
		p.picture.Set(q.Show())
	}
	p.text.SetValue(fmt.Sprintf("Question %d of %d: which class is this?", q.Number, q.Total))
	p.mu.Lock()
	p.asked, p.waits = p.now(), true
	p.mu.Unlock()
	select {
	case a := <-p.answer:
		class, err = a.class, a.err
	case <-ctx.Done():
		p.close("interrupted; what was labelled is kept")
		return 0, ctx.Err()
	}
	switch {
	case err == active.ErrStop: //nolint:errorlint // our own, never wrapped
		p.close(fmt.Sprintf("ended at question %d of %d", q.Number, q.Total))
	case q.Number == q.Total:
		p.close(fmt.Sprintf("%d questions answered", q.Total))
	}
	return class, err
}

// build makes the widgets.
func (p *Panel) build(classes []string) {
	p.picture, p.text = widgets.NewOutput(), widgets.NewHTML("")
	column := []widgets.Widget{p.text, p.picture}
	var row []widgets.Widget
	for k, name := range classes {
		b := widgets.NewButton(name, widgets.Width("auto"))
		b.OnClick(func() { p.clicked(answer{class: k}) })
		p.classes = append(p.classes, b)
		if row = append(row, b); len(row) == rowOfButtons {
			column, row = append(column, widgets.NewHBox(row...)), nil
		}
	}
	if len(row) > 0 {
		column = append(column, widgets.NewHBox(row...))
	}
	p.skip, p.end = widgets.NewButton("skip", widgets.Width("auto")), widgets.NewButton("end", widgets.Width("auto"))
	p.skip.OnClick(func() { p.clicked(answer{err: active.ErrSkip}) })
	p.end.OnClick(func() { p.clicked(answer{err: active.ErrStop}) })
	p.box = widgets.NewVBox(append(column, widgets.NewHBox(p.skip, p.end))...)
}

// clicked takes the first click of a question, unless it comes too soon.
func (p *Panel) clicked(a answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.waits || p.now().Sub(p.asked) < tooSoon {
		return
	}
	p.waits = false
	p.answer <- a // there is room: one question, one answer
}

// close says how the questions ended, in place of the picture.
func (p *Panel) close(text string) {
	p.mu.Lock()
	p.waits = false
	p.mu.Unlock()
	p.picture.Clear()
	p.text.SetValue(widgets.Escape(text))
}
