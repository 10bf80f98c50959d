package active

import (
	"errors"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/data"
)

func five(t *testing.T) *data.Dataset {
	t.Helper()
	return set(t, [][]float32{{0}, {1}, {2}, {3}, {4}}, []int{0, 1, 2, 0, 1})
}

func TestPool(t *testing.T) {
	p := NewPool(five(t), 2, 42)
	if p.Err() != nil || p.Len() != 2 || p.Left() != 3 || len(p.Unlabeled()) != 3 || p.Labeled().Len() != 2 {
		t.Fatalf("%v: %d labeled, %d left", p, p.Len(), p.Left())
	}
	if again := NewPool(five(t), 2, 42); !slices.Equal(again.Unlabeled(), p.Unlabeled()) {
		t.Error("one seed reveals different labels")
	}
	pick := p.Unlabeled()[:1]
	if err := p.Label(pick, 2); err != nil {
		t.Fatal(err)
	}
	labeled := p.Labeled()
	if label, ok := p.Known(pick[0]); !ok || label != 2 || labeled.Label(2) != 2 || labeled.Example(2)[0] != float32(pick[0]) {
		t.Errorf("the label given is %d, %v; in the set %d", label, ok, labeled.Label(2))
	}
	if err := p.Label(p.Unlabeled()); err != nil || p.Left() != 0 {
		t.Errorf("%v; %v", err, p)
	}
	if _, ok := p.Known(99); ok {
		t.Error("an example that there is not is known")
	}
}

func TestLabelRefuses(t *testing.T) {
	p := NewPool(five(t), 0, 1)
	if err := p.Label([]int{4}); err != nil {
		t.Fatal(err)
	}
	var wrong *LabelError
	for _, row := range []struct {
		name   string
		pick   []int
		labels []int
		typed  bool
	}{
		{"fewer labels than examples", []int{0, 1}, []int{0}, false},
		{"more labels than examples", []int{0}, []int{0, 1}, false},
		{"labels that got lost", []int{0}, []int{}, false},
		{"labels of nothing", nil, []int{0}, false},
		{"class too high", []int{0, 1}, []int{0, 3}, true},
		{"class below 0", []int{0, 1}, []int{0, -1}, true},
		{"labeled already", []int{0, 4}, nil, true},
		{"twice", []int{0, 1, 0}, nil, true},
		{"beyond the end", []int{0, 5}, nil, true},
		{"below 0", []int{-1}, nil, true},
	} {
		err := p.Label(row.pick, row.labels...)
		if err == nil || errors.As(err, &wrong) != row.typed {
			t.Errorf("%s: %v", row.name, err)
		}
		if p.Len() != 1 {
			t.Fatalf("%s: some labels were taken", row.name)
		}
		t.Logf("%s: %v", row.name, err)
	}
	if err := p.Label(nil); err != nil {
		t.Errorf("nothing at all: %v", err)
	}
}

func TestPoolRefuses(t *testing.T) {
	sequences, err := data.Windows([]int{0, 1, 0}, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]*Pool{
		"no set": NewPool(nil, 1, 1), "empty": NewPool(five(t).First(0), 0, 1), "sequences": NewPool(sequences, 0, 1),
		"too many": NewPool(five(t), 6, 1), "below 0": NewPool(five(t), -1, 1), "no pool": nil,
	} {
		if !errors.Is(p.Err(), ErrNoPool) || !errors.Is(p.Label([]int{0}), ErrNoPool) {
			t.Errorf("%s: %v", name, p.Err())
		}
		if p.Len() != 0 || p.Left() != 0 || p.Dataset() != nil || p.Labeled() != nil || p.Unlabeled() != nil || p.Close() != nil || p.String() == "" {
			t.Errorf("%s: there is something in it", name)
		}
		t.Logf("%s: %v", name, p)
	}
}
