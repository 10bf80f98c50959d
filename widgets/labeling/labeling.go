// Package labeling asks a user of the notebook for labels, with a button for each class.
//
//	err := active.Ask(ctx, pool, pick, labeling.Buttons())
//
// It needs a person at a front end that supports widgets. Where nobody can click, as with quern run
// or nbconvert, Ask fails: active.Prompt reads typed answers, and active.Oracle answers from known
// labels.
package labeling

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/quernlab/quern/accel/active"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/widgets"
	"github.com/quernlab/quern/widgets/comm"
)

// Panel shows an image with a button for each class below it, and buttons to skip it and to
// stop. It implements active.Asker. A Panel is for one call of active.Ask.
type Panel struct {
	now func() time.Time

	image   *widgets.Output
	text    *widgets.HTML
	classes []*widgets.Button
	skip    *widgets.Button
	end     *widgets.Button
	box     *widgets.Box

	mu     sync.Mutex
	asked  time.Time
	open   bool // a question is open
	answer chan answer
}

// answer is the meaning of a click.
type answer struct {
	class int
	err   error
}

var _ active.Asker = (*Panel)(nil)

// Buttons returns a panel, which is displayed with its first question.
func Buttons() *Panel { return &Panel{now: time.Now, answer: make(chan answer, 1)} }

const (
	// buttonsPerRow is the number of buttons side by side.
	buttonsPerRow = 10
	// doubleClickTime is how long clicks are ignored after a new question: the second click of
	// a double click was meant for the previous image.
	doubleClickTime = 250 * time.Millisecond
)

// ErrNobody is returned where no person can click a button.
var ErrNobody = errors.New("labeling: nobody can click a button here, since the cell runs without a person at a notebook: read typed answers with active.Prompt, or use known labels with active.Oracle")

// Ask shows a question and waits for a click or until ctx is done. The error is [ErrNobody] where no
// person can click, as with quern run.
func (p *Panel) Ask(ctx context.Context, q *active.Question) (class int, err error) {
	if !comm.Interactive() {
		return 0, ErrNobody
	}
	if p.box == nil {
		p.build(q.Classes)
		p.image.Set(q.Show())
		display.Show(p.box)
	} else {
		p.image.Set(q.Show())
	}
	p.text.SetValue(fmt.Sprintf("Question %d of %d: which class is this?", q.Number, q.Total))
	p.mu.Lock()
	p.asked, p.open = p.now(), true
	p.mu.Unlock()
	select {
	case a := <-p.answer:
		class, err = a.class, a.err
	case <-ctx.Done():
		p.close("interrupted; what was labeled is kept")
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

// build creates the widgets.
func (p *Panel) build(classes []string) {
	p.image, p.text = widgets.NewOutput(), widgets.NewHTML("")
	column := []widgets.Widget{p.text, p.image}
	var row []widgets.Widget
	for k, name := range classes {
		b := widgets.NewButton(name, widgets.Width("auto"))
		b.OnClick(func() { p.clicked(answer{class: k}) })
		p.classes = append(p.classes, b)
		if row = append(row, b); len(row) == buttonsPerRow {
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

// clicked accepts the first click of a question, unless it comes too early.
func (p *Panel) clicked(a answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.open || p.now().Sub(p.asked) < doubleClickTime {
		return
	}
	p.open = false
	p.answer <- a // does not block: there is one answer per question
}

// close replaces the image by a text that says how the questions ended.
func (p *Panel) close(text string) {
	p.mu.Lock()
	p.open = false
	p.mu.Unlock()
	p.image.Clear()
	p.text.SetValue(widgets.Escape(text))
}
