package plots

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// sane draws f in every format and checks what every figure must satisfy.
func sane(t testing.TB, f *Figure) {
	t.Helper()
	saneSVG(t, f)
	m, err := png.Decode(bytes.NewReader(f.PNG()))
	if err != nil {
		t.Fatalf("the PNG cannot be read: %v", err)
	}
	width, height := f.points()
	size := m.Bounds().Size()
	if math.Abs(float64(size.X-pngScale*pixels(width))) > 1 || math.Abs(float64(size.Y-pngScale*pixels(height))) > 1 {
		t.Errorf("the PNG has %v pixels, want twice %d×%d", size, pixels(width), pixels(height))
	}
	if r, g, b, a := m.At(0, 0).RGBA(); r&g&b&a != 0xffff && size.X > 200 {
		t.Error("the PNG has no white border")
	}
}

// saneSVG checks the SVG and the text of a figure.
func saneSVG(t testing.TB, f *Figure) {
	t.Helper()
	svg := f.SVG()
	if again := f.SVG(); svg != again {
		t.Error("two drawings of one figure differ")
	}
	if strings.Contains(svg, "NaN") && !strings.Contains(svg, ">NaN<") || strings.Contains(svg, `="NaN`) {
		t.Error("the SVG has a position that is not a number")
	}
	for _, forbidden := range []string{" style=", " id=", "<clipPath", "<use", "<script"} {
		if strings.Contains(svg, forbidden) {
			t.Errorf("the SVG has %q, which sanitisers drop", forbidden)
		}
	}
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the SVG is not XML: %v", err)
		}
	}
	if line := f.String(); line == "" || strings.Contains(line, "\n") {
		t.Errorf("the text is more than one line: %q", line)
	}
}

func TestFormats(t *testing.T) {
	tests := []struct {
		name, environment string
		format            Format
		svg, png          bool
	}{
		{"default", "", Both, true, true},
		{"environment png", "png", Both, false, true},
		{"environment svg", "svg", Both, true, false},
		{"environment unknown", "jpeg", Both, true, true},
		{"figure over environment", "png", SVG, true, false},
		{"figure", "", PNG, false, true},
		{"unknown", "", Format("gif"), true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv(formatEnv, tt.environment)
			f := Line("line", []float64{1, 2}).As(tt.format)
			bundle := f.MIMEBundle()
			svg, isString := bundle["image/svg+xml"].(string)
			png, isBytes := bundle["image/png"].([]byte)
			if isString != tt.svg || isBytes != tt.png {
				t.Errorf("SVG %v, PNG %v, want %v, %v", isString, isBytes, tt.svg, tt.png)
			}
			if isString && !strings.HasPrefix(svg, "<!-- line: 2 points from 1 to 2 -->\n<svg ") || isBytes && !bytes.HasPrefix(png, []byte("\x89PNG")) {
				t.Error("an image does not have its format")
			}
			if bundle["text/plain"] != "line: 2 points from 1 to 2" {
				t.Errorf("text %q", bundle["text/plain"])
			}
			size, _ := f.MIMEMetadata()["image/png"].(map[string]any)
			if tt.png && (size["width"] != 640 || size["height"] != 320) {
				t.Errorf("metadata %v", size)
			}
		})
	}
}

func TestSave(t *testing.T) {
	f := Line("line", []float64{1, 2})
	for _, name := range []string{"a.svg", "a.PNG"} {
		path := filepath.Join(t.TempDir(), name)
		if err := f.Save(path); err != nil {
			t.Error(err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() < 1000 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if err := f.Save("a.jpg"); err == nil || !strings.Contains(err.Error(), ".png") {
		t.Errorf("an unknown name: %v", err)
	}
	if err := f.Save(filepath.Join(t.TempDir(), "no", "a.svg")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing folder: %v", err)
	}
}

func TestFigureKeepsItsOwnData(t *testing.T) {
	y := []float64{1, 2, 3}
	f := Line("line", y)
	before := f.SVG()
	y[1] = 100
	if f.SVG() != before {
		t.Error("the figure changed with the caller's slice")
	}
}

func TestConcurrentDrawing(t *testing.T) {
	f := Training(TrainingData{Loss: Series{Y: noise(500, 1)}}).Size(200, 120)
	want := f.SVG()
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			if f.SVG() != want || len(f.PNG()) == 0 {
				t.Error("a concurrent drawing differs")
			}
		})
	}
	wait.Wait()
}

// The text of a figure can contain anything and must break neither the SVG nor
// the layout.
func TestWords(t *testing.T) {
	for _, label := range []string{"", "<b>&\"'", "line\nbreak", "\x00\x1b[31m", "\xff\xfe", "猫 вид ∇", strings.Repeat("long ", 2000), "a\u202e"} {
		f := Lines(label, Series{Name: label, Y: []float64{1, 2}}).Subtitle(label).XLabel(label).YLabel(label).Size(200, 120)
		sane(t, f)
		saneSVG(t, Confusion(label, []string{label, label}, [][]int{{1, 2}, {3, 4}}))
		saneSVG(t, Bar(label, []string{label}, []float64{1}))
		saneSVG(t, Images([]image.Image{image.NewGray(image.Rect(0, 0, 2, 2))}, label))
	}
}

// The PNG has a box for a character that its font lacks.
func TestPNGOfForeignLetters(t *testing.T) {
	known, box, space := Line("A", nil).PNG(), Line("□", nil).PNG(), Line(" ", nil).PNG()
	foreign := Line("猫", nil).PNG()
	if !bytes.Equal(foreign, box) || bytes.Equal(box, space) || bytes.Equal(known, box) {
		t.Error("a letter that the font lacks is not drawn as a box")
	}
}

func TestSizes(t *testing.T) {
	for _, f := range oneOfEach() {
		for _, size := range [...][2]float64{{1, 1}, {90, 50}, {300, 40}, {40, 300}} {
			sane(t, f.Size(size[0], size[1]))
		}
		saneSVG(t, f.Size(math.NaN(), -5))
		f.Size(math.Inf(1), 1e9).SVG()
		if width, height := f.points(); width != 3000 || height != 3000 {
			t.Errorf("the largest size is %v×%v", width, height)
		}
	}
}

// oneOfEach returns a figure of each kind.
func oneOfEach() []*Figure {
	y := noise(300, 2)
	square := image.NewGray(image.Rect(0, 0, 8, 8))
	square.SetGray(3, 3, color.Gray{Y: 255})
	return []*Figure{
		Line("line", y),
		Scatter("scatter", y, noise(300, 3)),
		Hist("histogram", y),
		Bar("bars", []string{"one", "two", "three"}, []float64{1, -2, 3}),
		Confusion("confusion", []string{"cat", "dog"}, [][]int{{9, 1}, {2, 8}}),
		HeatMap("heat", [][]float64{{1, -1}, {0, .5}}, nil, []string{"a", "b"}),
		Predictions("predictions", []image.Image{square, square}, []int{0, 1}, []int{0, 0}, []string{"cat", "dog"}),
		LRFinder([]float64{1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 2, 3, 4}, []float64{2, 2, 1.9, 1.5, 1, .8, 2, 5, 9}, 1e-2),
		Training(TrainingData{Loss: Series{Y: y}, ValidationLoss: Series{X: []float64{100, 200}, Y: []float64{1, .5}}, Accuracy: Series{Y: y}}),
		DeviceUse(DeviceData{Seconds: []float64{0, 1, 2}, Busy: []float64{10, 90, 50}, Memory: []float64{1e9, 2e9, 2e9}, MemoryTotal: 4e9, Watts: []float64{100, 300, 200}, WattsLimit: 350}),
		Stack(Line("one", y), Line("two", y)),
	}
}

// noise returns n numbers between 0 and 1 that are the same everywhere.
func noise(n int, seed uint64) []float64 {
	out := make([]float64, n)
	for i := range out {
		seed = seed*6364136223846793005 + 1442695040888963407
		out[i] = float64(seed>>11) / (1 << 53)
	}
	return out
}

// TestNotes requires that long notes are wrapped below a figure, which grows by their lines, and that they
// are part of the alternative text.
func TestNotes(t *testing.T) {
	note := "the predictions are probabilities, but the loss takes logits and computes the softmax itself, as CrossEntropy does: remove the Softmax at the end of the model"
	plain, noted := Line("Loss", []float64{3, 2, 1}), Line("Loss", []float64{3, 2, 1}).Notes(note, "second")
	_, low := plain.points()
	_, high := noted.points()
	if lines := math.Round(float64(high-low-4) / float64(noteLine)); lines != 3 {
		t.Errorf("the figure grows by %v lines, want 3", lines)
	}
	if svg := noted.SVG(); !strings.Contains(svg, "the predictions are") || !strings.Contains(svg, "second") || strings.Contains(svg, "…") {
		t.Error("the notes are not in the figure")
	}
	if !strings.Contains(noted.String(), note) {
		t.Errorf("the notes are not in %q", noted)
	}
	sane(t, noted)
}
