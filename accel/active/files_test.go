package active_test

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/active"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
)

// photos writes dark and bright images without labels to a folder.
func photos(t *testing.T) (folder string, set *data.Dataset) {
	t.Helper()
	folder = t.TempDir()
	for i := range 8 {
		one := image.NewGray(image.Rect(0, 0, 2, 2))
		for p := range 4 {
			one.Set(p/2, p%2, color.Gray{Y: uint8(i%2*200 + 5*i + p)})
		}
		file, err := os.Create(filepath.Join(folder, fmt.Sprintf("photo-%d.png", i)))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if err := png.Encode(file, one); err != nil {
			t.Fatal(err)
		}
	}
	set, err := data.OpenUnlabeledImages(folder, 2, 2, "dark", "bright")
	if err != nil {
		t.Fatal(err)
	}
	return folder, set
}

// byName answers with the class that the name of a file says.
type byName struct{ asked []string }

func (a *byName) Ask(_ context.Context, q *active.Question) (int, error) {
	a.asked = append(a.asked, filepath.Base(q.Path))
	var n int
	_, err := fmt.Sscanf(filepath.Base(q.Path), "photo-%d.png", &n)
	return n % 2, err
}

// TestUnlabeledFiles labels files of a folder with their names, and continues after an interruption.
func TestUnlabeledFiles(t *testing.T) {
	folder, set := photos(t)
	if err := active.NewPool(set, 2, 1).Err(); err == nil || !strings.Contains(err.Error(), "no labels to begin with") {
		t.Errorf("initial labels: %v", err)
	}
	path := filepath.Join(t.TempDir(), "labels.jsonl")
	pool, err := active.Resume(path, set, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := pool.Label([]int{0}); err == nil || !strings.Contains(err.Error(), "have no labels") {
		t.Errorf("Label without labels: %v", err)
	}
	if err := active.Ask(t.Context(), pool, []int{0}, active.Oracle(nil)); err == nil || !strings.Contains(err.Error(), "pass a function to Oracle") {
		t.Errorf("Oracle: %v", err)
	}
	first, err := active.Query(t.Context(), nil, pool, active.TypiClust(), 4)
	if err != nil {
		t.Fatal(err)
	}
	asker := new(byName)
	if err := active.Ask(t.Context(), pool, first, asker); err != nil || len(asker.asked) != 4 {
		t.Fatalf("asked about %v: %v", asker.asked, err)
	}
	model := nn.Sequential(nn.Flatten(), nn.Dense(2))
	if _, err := accel.Fit(t.Context(), model, pool.Labeled(), accel.Epochs(1), accel.Quiet()); err != nil {
		t.Fatal(err)
	}
	if _, err := active.Query(t.Context(), model, pool, active.Margin(), 2); err != nil {
		t.Fatal(err)
	}
	if err := pool.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := active.Resume(path, set, 0, 1)
	if err != nil || again.Len() != 4 {
		t.Fatalf("resumed: %v, %v", again, err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(path); err != nil || !strings.Contains(string(raw), asker.asked[0]) {
		t.Errorf("the file of labels does not name %s: %s, %v", asker.asked[0], raw, err)
	}
	if _, err := accel.Fit(t.Context(), model, set, accel.Quiet()); err == nil || !strings.Contains(err.Error(), "have no labels") {
		t.Errorf("Fit without labels: %v", err)
	}
	if y, err := accel.PredictDataset(t.Context(), model, set); err != nil || y.Size(0) != 8 {
		t.Errorf("PredictDataset: %v", err)
	}

	// A renamed file is not the one that was labeled, although its name has the same place.
	old := filepath.Join(folder, asker.asked[0])
	if err := os.Rename(old, strings.TrimSuffix(old, ".png")+"b.png"); err != nil {
		t.Fatal(err)
	}
	renamed, err := data.OpenUnlabeledImages(folder, 2, 2, "dark", "bright")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := active.Resume(path, renamed, 0, 1); err == nil || !strings.Contains(err.Error(), "added or renamed") {
		t.Errorf("after renaming: %v", err)
	}
}

// TestShowAs shows the text of an example instead of its tokens.
func TestShowAs(t *testing.T) {
	texts := []string{"good", "bad", "fine"}
	set, err := data.Sequences([][]int{{1}, {2, 3}, {4}}, []int{1, 0, 1}, 0)
	if err != nil {
		t.Fatal(err)
	}
	pool := active.NewPool(set, 0, 1).ShowAs(func(i int) any { return texts[i] })
	var shown []any
	asker := askerFunc(func(q *active.Question) int { shown = append(shown, q.Show()); return set.Label(q.Index) })
	if err := active.Ask(t.Context(), pool, []int{2, 1}, asker); err != nil || fmt.Sprint(shown) != "[fine bad]" {
		t.Errorf("shown %v, %v", shown, err)
	}
}

type askerFunc func(q *active.Question) int

func (f askerFunc) Ask(_ context.Context, q *active.Question) (int, error) { return f(q), nil }
