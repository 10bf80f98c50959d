package active

import (
	"context"
	"errors"
	"image"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/display"
)

// askerFunc is a function that implements Asker.
type askerFunc func(q *Question) (int, error)

func (f askerFunc) Ask(_ context.Context, q *Question) (int, error) { return f(q) }

func TestAsk(t *testing.T) {
	p := NewPool(five(t), 0, 1)
	if err := Ask(t.Context(), p, []int{4, 0}, Oracle(nil)); err != nil {
		t.Fatal(err)
	}
	if err := Ask(t.Context(), p, []int{4, 3, 3}, Oracle(func(i int) int { return i - 1 })); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(p.order, []int{4, 0, 3}) || p.labels[4] != 1 || p.labels[3] != 2 {
		t.Errorf("%v, %v", p.order, p.labels)
	}
	var wrong *LabelError
	if err := Ask(t.Context(), p, []int{1}, Oracle(func(int) int { return 3 })); !errors.As(err, &wrong) {
		t.Errorf("a class that there is not: %v", err)
	}
	if err := Ask(t.Context(), p, []int{9}, Oracle(nil)); !errors.As(err, &wrong) {
		t.Errorf("an example that there is not: %v", err)
	}
	if err := Ask(t.Context(), p, []int{1}, nil); err == nil {
		t.Error("nobody to ask, and no error")
	}
	if err := Ask(t.Context(), nil, []int{1}, Oracle(nil)); !errors.Is(err, ErrNoPool) {
		t.Errorf("no pool: %v", err)
	}
}

// TestUndo answers, skips and undoes. The file of the session has the same labels.
func TestUndo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "labels.jsonl")
	p := resumed(t, path, five(t), 0, 1)
	undo := -1
	steps := []struct {
		example, answer int
		err             error
	}{
		{3, 0, nil}, {1, 0, ErrSkip}, {4, 0, nil}, {0, undo, ErrUndo}, {4, 0, ErrUndo}, {1, 1, nil}, {4, 2, nil},
		{0, undo, ErrUndo}, {4, 1, nil}, {0, 0, ErrSkip},
	}
	if err := Ask(t.Context(), p, []int{3, 1, 4, 0}, askerFunc(func(q *Question) (int, error) {
		step := steps[0]
		if steps = steps[1:]; q.Index != step.example {
			t.Errorf("%d steps before the end: asked about %d, want %d", len(steps), q.Index, step.example)
		}
		return step.answer, step.err
	})); err != nil {
		t.Fatal(err)
	}
	for _, pool := range []*Pool{p, resumed(t, path, five(t), 0, 1)} {
		if !slices.Equal(pool.order, []int{3, 1, 4}) || pool.labels[3] != 0 || pool.labels[1] != 1 || pool.labels[4] != 1 || pool.labels[0] != none {
			t.Errorf("order %v, labels %v", pool.order, pool.labels)
		}
	}
	if err := Ask(t.Context(), p, []int{0}, askerFunc(func(*Question) (int, error) { return 0, ErrUndo })); !errors.Is(err, ErrUndo) {
		t.Errorf("undo at the first question: %v", err)
	}
}

// However Ask ends, the pool and the file have the earlier answers, and the same call continues
// after them.
func TestAskIsInterrupted(t *testing.T) {
	broken := errors.New("broken")
	for _, row := range []struct {
		name string
		end  error
		want error
	}{
		{"stop", ErrStop, nil}, {"error", broken, broken}, {"interrupt", context.Canceled, context.Canceled},
	} {
		path := filepath.Join(t.TempDir(), "labels.jsonl")
		p := resumed(t, path, five(t), 0, 1)
		pick := []int{3, 1, 4, 0}
		err := Ask(t.Context(), p, pick, askerFunc(func(q *Question) (int, error) {
			if q.Number == 3 {
				return 0, row.end
			}
			return 2, nil
		}))
		if !errors.Is(err, row.want) {
			t.Errorf("%s: %v", row.name, err)
		}
		again := resumed(t, path, five(t), 0, 1) // as another process would
		var asked []int
		if err := Ask(t.Context(), again, pick, askerFunc(func(q *Question) (int, error) {
			asked = append(asked, q.Index)
			return 1, nil
		})); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(asked, []int{4, 0}) || !slices.Equal(again.order, pick) || again.labels[3] != 2 {
			t.Errorf("%s: asked again about %v; the labels are %v, %v", row.name, asked, again.order, again.labels)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	p := NewPool(five(t), 0, 1)
	err := Ask(ctx, p, []int{0, 1, 2}, askerFunc(func(*Question) (int, error) { cancel(); return 0, nil }))
	if !errors.Is(err, context.Canceled) || p.Len() != 1 {
		t.Errorf("%v, %v", err, p)
	}
}

// shown records the displayed content.
func shown(t *testing.T) *[]string {
	t.Helper()
	texts := new([]string)
	old := display.SetSink(display.SinkFunc(func(m display.Message) {
		text, _ := m.Data["text/plain"].(string)
		*texts = append(*texts, text)
	}))
	t.Cleanup(func() { display.SetSink(old) })
	return texts
}

func TestPrompt(t *testing.T) {
	s, err := five(t).WithClasses("cat", "dog", "owl")
	if err != nil {
		t.Fatal(err)
	}
	texts := shown(t)
	p := NewPool(s, 0, 1)
	if err := Ask(t.Context(), p, []int{0, 1, 2, 3, 4}, Prompt(strings.NewReader("cow\nOWL\n\n  1 \nq\n"))); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(p.labels, []int{2, none, 1, none, none}) {
		t.Errorf("the labels are %v", p.labels)
	}
	all := strings.Join(*texts, "\n")
	for _, want := range []string{"question 1 of 5", "0 cat, 1 dog, 2 owl", `"cow" is not a class`} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not shown:\n%s", want, all)
		}
	}
	if err := Ask(t.Context(), p, []int{1}, Prompt(strings.NewReader(""))); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("nobody answers: %v", err)
	}
	if err := Ask(t.Context(), p, []int{1}, Prompt(strings.NewReader("dog"))); err != nil { // a last line without an end
		t.Error(err)
	}
}

func TestParse(t *testing.T) {
	for _, row := range []struct {
		answer  string
		classes []string
		want    int
		err     error
	}{
		{"q", []string{"p", "q"}, 1, nil},
		{"1", []string{"1", "0"}, 0, nil}, // a class name takes precedence over a number
		{"q", []string{"a"}, 0, ErrStop},
		{"", []string{"", "a"}, 0, ErrSkip},
		{"1", []string{"", "a"}, 1, nil},
	} {
		got, err := parse(row.answer, row.classes)
		if got != row.want || !errors.Is(err, row.err) {
			t.Errorf("%q of %q: %d, %v", row.answer, row.classes, got, err)
		}
	}
	for _, answer := range []string{"-1", "2", "1.0", "x"} {
		if _, err := parse(answer, []string{"a", "b"}); err == nil {
			t.Errorf("%q is a class", answer)
		}
	}
}

func TestQuestionOfAPicture(t *testing.T) {
	train, _, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	p := NewPool(train, 0, 1)
	q := p.question(3, 1, 2)
	bundle, _ := display.Render(q.Show())
	if bundle["image/png"] == nil || !strings.Contains(bundle["text/plain"].(string), "question 1 of 2") || len(q.Example) != 64 {
		t.Errorf("shown is %v", bundle["text/plain"])
	}
}

// TestLongPictures checks that images with one short side stay small.
func TestLongPictures(t *testing.T) {
	for size, want := range map[image.Point]image.Point{
		{8, 8}: {160, 160}, {28, 28}: {140, 140}, {1, 5000}: {1, 5000}, {300, 2}: {1500, 10}, {400, 300}: {400, 300},
	} {
		if got := enlarged(image.NewGray(image.Rectangle{Max: size})).Bounds().Size(); got != want {
			t.Errorf("%v becomes %v, want %v", size, got, want)
		}
	}
}
