package active

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/display"
)

// Question is a question of [Ask] about one example.
type Question struct {
	Index   int       // index in the pool's data set
	Path    string    // its file; "" if the data set has no files
	Example []float32 // its values, as returned by data.Dataset.Example
	Classes []string  // the possible answers; nil for targets
	Targets []string  // names of the targets, such as "target 0"; nil for classes
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
	// unlabeled, [ErrUndo] asks the previous question again, [ErrStop] ends the questions, and any
	// other error is returned by the function Ask. Ask should return when ctx is done.
	Ask(ctx context.Context, q *Question) (class int, err error)
}

// TargetAsker is an [Asker] that answers with numbers, for data sets with targets. [Prompt], [Oracle] and
// widgets/labeling return one.
type TargetAsker interface {
	Asker
	// AskTargets returns one number for each of q.Targets. Its errors are those of Ask.
	AskTargets(ctx context.Context, q *Question) ([]float32, error)
}

// Answers of an [Asker] other than a class.
var (
	ErrSkip = errors.New("active: the question was skipped")
	ErrStop = errors.New("active: no more questions")
	ErrUndo = errors.New("active: the previous answer is undone")
)

// Ask asks for the label of each example and adds it to the pool before the next question, so
// an interrupt, an error or a kill loses no label; with a pool of [Resume] they are also in a
// file. For a data set with targets it asks for these; the asker must then be a [TargetAsker]. Examples that already have a label are skipped, so the same call continues where it
// stopped. Ask returns nil when the asker stops ([ErrStop]). [ErrUndo] removes the answer to the previous
// question of this call and asks it again; at the first question it is an error.
func Ask(ctx context.Context, pool *Pool, pick []int, asker Asker) error {
	if err := interrupt.RequireContext(ctx, "active: Ask"); err != nil {
		return err
	}
	if err := pool.Err(); err != nil {
		return err
	}
	if asker == nil {
		return errors.New("active: Ask: the asker is nil; Oracle answers with the labels of the data set")
	}
	if _, ok := asker.(TargetAsker); pool.targets != nil && !ok {
		return fmt.Errorf("active: Ask: the examples of %s have targets, not classes, but a %T cannot ask for numbers: use Prompt, or store answers with LabelTargets", pool.set.Name(), asker)
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
	var asked []int // the questions before this one, as indices of open
	for k := 0; k < len(open); k++ {
		i := open[k]
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if pool.labels[i] != none { // it is in pick twice
			continue
		}
		err := pool.ask(ctx, asker, pool.question(i, k+1, len(open)))
		if errors.Is(err, ErrUndo) && len(asked) > 0 {
			last := asked[len(asked)-1]
			asked = asked[:len(asked)-1]
			if err := pool.unlabel(open[last]); err != nil {
				return err
			}
			k = last - 1
			continue
		}
		asked = append(asked, k)
		var wrong *LabelError
		switch {
		case errors.Is(err, ErrSkip):
			continue
		case errors.Is(err, ErrStop):
			return nil
		case errors.Is(err, ErrUndo):
			return fmt.Errorf("active: Ask: example %d: this is the first question of the call, so there is no answer to undo: %w", i, err)
		case errors.As(err, &wrong):
			return err
		case err != nil:
			return fmt.Errorf("active: Ask: example %d, question %d of %d: %w", i, k+1, len(open), err)
		}
	}
	return nil
}

// ask asks one question and stores the answer.
func (p *Pool) ask(ctx context.Context, asker Asker, q *Question) error {
	if p.targets == nil {
		class, err := asker.Ask(ctx, q)
		if err != nil {
			return err
		}
		return p.Label([]int{q.Index}, class)
	}
	targets, err := asker.(TargetAsker).AskTargets(ctx, q)
	if err != nil {
		return err
	}
	return p.LabelTargets([]int{q.Index}, targets)
}

func (p *Pool) question(i, number, total int) *Question {
	q := &Question{Index: i, Classes: p.set.Classes(), Number: number, Total: total, pool: p}
	q.Example, q.Path = p.set.Example(i), p.set.Path(i)
	names := p.set.Schema().Targets
	for k := range p.set.Targets() {
		if k < len(names) {
			q.Targets = append(q.Targets, names[k])
		} else {
			q.Targets = append(q.Targets, fmt.Sprintf("target %d", k))
		}
	}
	shape := p.set.Shape()
	if p.show != nil && i < p.own {
		q.show = p.show(i)
	} else if n := len(shape); n == 2 || n == 3 && (shape[0] == 1 || shape[0] == 3) {
		q.show = imageExample{number, total, p.set.Image(i)}
	} else {
		q.show = vectorExample(number, total, q.Example)
	}
	return q
}

// Oracle answers with known labels: those of the function or, if it is nil, those of the pool's
// data set, which may be targets. It replaces a person in tests.
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

func (o oracle) AskTargets(_ context.Context, q *Question) ([]float32, error) {
	switch {
	case o.label != nil:
		return nil, errors.New("the function of Oracle returns classes, but the examples have targets: pass nil, or store them with LabelTargets")
	case q.Index >= q.pool.own:
		return nil, errors.New("the example was made by Synthesize, so its targets are unknown")
	}
	return q.pool.set.Target(q.Index), nil
}

// Prompt asks a person at a terminal: it shows each example and reads the name or the number of
// its class from a line, or its targets, with spaces or commas between them. An empty line skips the
// example, and "q" stops unless it is the name of a class. In a cell, pass
// bufio.NewReader(os.Stdin).
func Prompt(r io.Reader) Asker { return &prompt{lines: bufio.NewReader(r)} }

type prompt struct{ lines *bufio.Reader }

func (p *prompt) Ask(ctx context.Context, q *Question) (class int, err error) {
	err = p.ask(ctx, q, choices(q.Classes), func(answer string) (err error) {
		class, err = parse(answer, q.Classes)
		return err
	})
	return class, err
}

func (p *prompt) AskTargets(ctx context.Context, q *Question) (targets []float32, err error) {
	text := "Which numbers? " + strings.Join(q.Targets, ", ") + " (empty: skip, q: end)"
	if len(q.Targets) == 1 {
		text = "Which number? " + q.Targets[0] + " (empty: skip, q: end)"
	}
	err = p.ask(ctx, q, text, func(answer string) (err error) {
		targets, err = parseNumbers(answer, len(q.Targets))
		return err
	})
	return targets, err
}

// ask shows a question and reads lines until parse accepts one.
func (p *prompt) ask(ctx context.Context, q *Question, text string, parse func(answer string) error) error {
	display.Show(q.Show())
	for {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		display.Show(display.Text(text))
		line, err := p.lines.ReadString('\n')
		if err != nil && (!errors.Is(err, io.EOF) || line == "") {
			if errors.Is(err, io.EOF) {
				err = fmt.Errorf("standard input cannot be read here; use Oracle: %w", io.ErrUnexpectedEOF)
			}
			return err
		}
		err = parse(strings.TrimSpace(line))
		if err == nil || errors.Is(err, ErrSkip) || errors.Is(err, ErrStop) {
			return err
		}
		display.Show(display.Text(err.Error()))
	}
}

// parseNumbers returns the numbers of an answer.
func parseNumbers(answer string, n int) ([]float32, error) {
	switch answer {
	case "":
		return nil, ErrSkip
	case "q":
		return nil, ErrStop
	}
	words := strings.FieldsFunc(answer, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	if len(words) != n {
		return nil, fmt.Errorf("%q has %d numbers, but %d are needed", answer, len(words), n)
	}
	var numbers []float32
	for _, word := range words {
		v, err := strconv.ParseFloat(word, 32)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%q is not a number", word)
		}
		numbers = append(numbers, float32(v))
	}
	return numbers, nil
}

// choices describes the possible answers.
func choices(classes []string) string {
	names := make([]string, len(classes))
	for k, name := range classes {
		names[k] = name
		if name != strconv.Itoa(k) {
			names[k] = fmt.Sprintf("%d %s", k, name)
		}
	}
	return "Which class? " + strings.Join(names, ", ") + " (empty: skip, q: end)"
}

// parse returns the class of an answer.
func parse(answer string, classes []string) (int, error) {
	if k := slices.Index(classes, answer); k >= 0 && answer != "" {
		return k, nil
	}
	switch answer {
	case "":
		return 0, ErrSkip
	case "q":
		return 0, ErrStop
	}
	if k := slices.IndexFunc(classes, func(name string) bool { return strings.EqualFold(answer, name) }); k >= 0 {
		return k, nil
	}
	if k, err := strconv.Atoi(answer); err == nil && k >= 0 && k < len(classes) {
		return k, nil
	}
	return 0, fmt.Errorf("%q is not a class", answer)
}

// imageExample is an example that is an image.
type imageExample struct {
	number, total int
	image         image.Image
}

// minSide is the size in pixels up to which an image is enlarged, and mostSide the maximum of
// the enlarged size: a long sequence shown as an image has one short side.
const (
	minSide = 160
	maxSide = 1600
)

// String describes the question.
func (p imageExample) String() string {
	size := p.image.Bounds().Size()
	return fmt.Sprintf("question %d of %d: an image of %d × %d", p.number, p.total, size.X, size.Y)
}

// MIMEBundle returns the image, enlarged if it is small.
func (p imageExample) MIMEBundle() map[string]any {
	bundle := map[string]any{"text/plain": p.String()}
	var b bytes.Buffer
	if err := png.Encode(&b, enlarged(p.image)); err == nil { // otherwise only the text
		bundle["image/png"] = b.Bytes()
	}
	return bundle
}

// enlarged returns an image in which each pixel is a square of several.
func enlarged(m image.Image) image.Image {
	from := m.Bounds()
	times := min(minSide/max(1, min(from.Dx(), from.Dy())), maxSide/max(1, from.Dx(), from.Dy()))
	if times < 2 {
		return m
	}
	to := image.NewRGBA(image.Rect(0, 0, from.Dx()*times, from.Dy()*times))
	for y := range to.Rect.Dy() {
		for x := range to.Rect.Dx() {
			to.Set(x, y, m.At(from.Min.X+x/times, from.Min.Y+y/times))
		}
	}
	return to
}

// maxValues is the number of values of a row that are shown.
const maxValues = 40

// vectorExample returns an example that is not an image as text.
func vectorExample(number, total int, values []float32) display.Content {
	var b strings.Builder
	fmt.Fprintf(&b, "question %d of %d:", number, total)
	for k, v := range values {
		if k == maxValues {
			fmt.Fprintf(&b, " … (%d values)", len(values))
			break
		}
		fmt.Fprintf(&b, " %.4g", v)
	}
	return display.Text(b.String())
}
