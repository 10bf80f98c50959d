package data_test

import (
	"errors"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/data"
)

// TestUnlabeledImages requires that images without labels have names and batches, and never the
// class 0 by accident.
func TestUnlabeledImages(t *testing.T) {
	folder := t.TempDir()
	for i, name := range []string{"b.png", "new/a.png", ".hidden/c.png", "note.txt"} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		gray := image.NewGray(image.Rect(0, 0, 2, 2))
		gray.Set(0, 0, color.Gray{Y: uint8(255 * (i % 2))})
		if err := errors.Join(png.Encode(file, gray), file.Close()); err != nil {
			t.Fatal(err)
		}
	}
	set, err := data.OpenUnlabeledImages(folder, 2, 2, "cat", "dog")
	if err != nil {
		t.Fatal(err)
	}
	if set.Len() != 2 || !set.Unlabeled() || filepath.Base(set.Path(0)) != "b.png" || filepath.Base(set.Path(1)) != "a.png" {
		t.Fatalf("%v, the first file is %s", set, set.Path(0))
	}
	if set.Report().MIMEBundle() == nil || set.Counts()[0] != 0 {
		t.Errorf("counts %v", set.Counts())
	}
	all, err := set.Tensors()
	if err != nil || all.Y != nil || all.X.Size(0) != 2 || all.X.Data()[12] != 1 {
		t.Errorf("Tensors: %v, labels %v", err, all.Y)
	}
	cached, err := set.Cached(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	if all, err := cached.Tensors(); err != nil || all.Y != nil {
		t.Errorf("cached: %v, labels %v", err, all.Y)
	}
	labeled, err := set.WithLabels([]int{1, 0})
	if err != nil || labeled.Unlabeled() || labeled.Label(0) != 1 {
		t.Errorf("WithLabels: %v, %v", labeled, err)
	}
	if all, err := labeled.Tensors(); err != nil || all.Y.Ints()[0] != 1 {
		t.Errorf("labeled: %v", err)
	}
	if _, _, err := set.StratifiedSplit(0.5, 1); err == nil || !strings.Contains(err.Error(), "has no label") {
		t.Errorf("StratifiedSplit: %v", err)
	}
	if _, err := set.OnDevice(); err == nil || !strings.Contains(err.Error(), "no labels") {
		t.Errorf("OnDevice: %v", err)
	}
	func() {
		defer func() {
			var e *data.ExampleError
			if err, _ := recover().(error); !errors.As(err, &e) || e.Example != 1 {
				t.Errorf("Label panics with %v", err)
			}
		}()
		set.Label(1)
	}()
	for _, tt := range []struct {
		folder  string
		classes []string
		want    string
	}{
		{folder, nil, "name the classes"},
		{folder, []string{"cat", "cat"}, "named twice"},
		{t.TempDir(), []string{"cat", "dog"}, "PNG, JPEG, GIF, WebP, BMP or TIFF files"},
		{filepath.Join(folder, "none"), []string{"cat", "dog"}, "no such file"},
	} {
		if _, err := data.OpenUnlabeledImages(tt.folder, 2, 2, tt.classes...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want an error with %q", err, tt.want)
		}
	}
}
