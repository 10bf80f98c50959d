// Package labeling asks a user of the notebook for labels, with a button for each class, or a field for
// each number if the examples have targets.
//
//	err := active.Ask(ctx, pool, pick, labeling.Buttons())
//
// While the cursor is in the field below the buttons, keys answer too: 1 to 9 are the first nine classes,
// or the classes themselves if their names are digits; s skips, and u asks the previous question again. A
// page has no other way to send keys to a program without a front end extension.
//
// The buttons are inactive after the last answer. A page that is reloaded shows the open question again.
//
// It needs a person at a front end that supports widgets. Where nobody can click, as with quern run
// or nbconvert, Ask fails: active.Prompt reads typed answers, and active.Oracle answers from known
// labels.
package labeling

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/quernlab/quern/accel/active"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/widgets"
	"github.com/quernlab/quern/widgets/comm"
)

// Panel shows an image with a button for each class below it, or a field for each target and a button
// to store them, and buttons to skip it, to undo the previous answer and to stop. It implements active.Asker and
// active.TargetAsker. A Panel is for one call of active.Ask.
type Panel struct {
	now func() time.Time

	image   *widgets.Output
	text    *widgets.HTML
	classes []*widgets.Button
	numbers []*widgets.Text // of the targets
	store   *widgets.Button
	skip    *widgets.Button
	undo    *widgets.Button
	end     *widgets.Button
	keys    *widgets.Text // acts on each character; nil for targets
	box     *widgets.Box

	disabled bool // the controls are

	mu       sync.Mutex
	asked    time.Time
	open     bool // a question is open
	first    bool // it is the first
	question string
	answer   chan answer
}

// answer is the meaning of a click.
type answer struct {
	class   int
	targets []float32
	err     error
}

var _ active.TargetAsker = (*Panel)(nil)

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
	given, err := p.ask(ctx, q, "which class is this?")
	return given.class, err
}

// AskTargets is Ask for the numbers of an example with targets. A field whose text is no number is an
// error that the panel shows; the question stays open.
func (p *Panel) AskTargets(ctx context.Context, q *active.Question) ([]float32, error) {
	given, err := p.ask(ctx, q, "which numbers has this?")
	return given.targets, err
}

func (p *Panel) ask(ctx context.Context, q *active.Question, text string) (given answer, err error) {
	if !comm.Interactive() {
		return answer{}, ErrNobody
	}
	if p.box == nil {
		p.build(q)
		p.image.Set(q.Show())
		display.Show(p.box)
	} else {
		p.image.Set(q.Show())
	}
	for _, n := range p.numbers {
		n.SetValue("")
	}
	p.disable(false)
	p.undo.SetDisabled(q.Number == 1)
	text = fmt.Sprintf("Question %d of %d: %s", q.Number, q.Total, text)
	p.text.SetValue(text)
	p.mu.Lock()
	p.asked, p.open, p.first, p.question = p.now(), true, q.Number == 1, text
	p.mu.Unlock()
	select {
	case given = <-p.answer:
	case <-ctx.Done():
		p.close("interrupted; what was labeled is kept")
		return answer{}, ctx.Err()
	}
	switch {
	case given.err == active.ErrStop: //nolint:errorlint // our own, never wrapped
		p.close(fmt.Sprintf("ended at question %d of %d", q.Number, q.Total))
	case given.err == active.ErrUndo: //nolint:errorlint // our own, never wrapped
	case q.Number == q.Total:
		p.close(fmt.Sprintf("%d questions answered", q.Total))
	}
	return given, given.err
}

// build creates the widgets.
func (p *Panel) build(q *active.Question) {
	p.image, p.text = widgets.NewOutput(), widgets.NewHTML("")
	column := []widgets.Widget{p.text, p.image}
	var row []widgets.Widget
	keys := keysOf(q.Classes)
	for k, name := range q.Classes {
		if k < len(keys) && keys[k] != name {
			name = keys[k] + ": " + name
		}
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
	column = append(column, p.buildNumbers(q.Targets)...)
	button := func(name string, err error) *widgets.Button {
		b := widgets.NewButton(name, widgets.Width("auto"))
		b.OnClick(func() { p.clicked(answer{err: err}) })
		return b
	}
	p.skip, p.undo, p.end = button("skip", active.ErrSkip), button("undo", active.ErrUndo), button("end", active.ErrStop)
	buttons := []widgets.Widget{p.skip, p.undo, p.end}
	if p.store != nil {
		buttons = append([]widgets.Widget{p.store}, buttons...) // in a row, since a column would stretch it
	}
	column = append(column, widgets.NewHBox(buttons...))
	if len(keys) > 0 {
		p.keys = widgets.NewText("", widgets.Placeholder("keys: "+strings.Join(keys, " ")+", s: skip, u: undo"))
		p.keys.OnChange(func(text string) { p.typed(text, keys) })
		column = append(column, p.keys)
	}
	p.box = widgets.NewVBox(column...)
}

// disable makes all controls inactive, or active.
func (p *Panel) disable(disabled bool) {
	if p.disabled == disabled {
		return
	}
	p.disabled = disabled
	for _, b := range append([]*widgets.Button{p.skip, p.undo, p.end}, p.classes...) {
		b.SetDisabled(disabled)
	}
	for _, n := range p.numbers {
		n.SetDisabled(disabled)
	}
	if p.store != nil {
		p.store.SetDisabled(disabled)
	}
	if p.keys != nil {
		p.keys.SetDisabled(disabled)
	}
}

// clicked accepts the first click of a question, unless it comes too early, or undoes nothing.
func (p *Panel) clicked(a answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	undo := a.err == active.ErrUndo //nolint:errorlint // our own, never wrapped
	if !p.open || p.now().Sub(p.asked) < doubleClickTime || undo && p.first {
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
	p.disable(true)
	p.image.Clear()
	p.text.SetValue(widgets.Escape(text))
}
