package explain

import (
	"fmt"
	"image"
	"image/color"
	"math"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/plots"
)

// Heatmaps says how much each pixel of some images matters to the score of a class; [Saliency] and
// [GradCAM] return it. It displays itself as the images with the pixels that matter in color.
type Heatmaps struct {
	Dataset string    // name of the data set
	Maps    []Heatmap // one for each example, in the order of the call

	title   string
	images  []image.Image
	classes []string
}

// Heatmap is that of one image.
type Heatmap struct {
	Example   int       // index in the data set
	Class     int       // whose score is explained: the predicted class
	Label     int       // class of the example
	Height    int       // in pixels
	Width     int       // in pixels
	Relevance []float64 // [Height × Width], row-major, from 0 to 1, the most relevant pixel
}

// newHeatmaps returns the heat maps of examples. relevance has the maps one after the other, not
// negative; each is scaled by its largest value.
func newHeatmaps(title string, set *data.Dataset, indices, classes []int, height, width int, relevance []float64) *Heatmaps {
	h := &Heatmaps{Dataset: set.Name(), title: title, classes: set.Classes()}
	for i, example := range indices {
		values := relevance[i*height*width : (i+1)*height*width]
		largest := 0.0
		for _, v := range values {
			largest = max(largest, v)
		}
		m := Heatmap{Example: example, Class: classes[i], Label: set.Label(example), Height: height, Width: width, Relevance: make([]float64, len(values))}
		for k, v := range values {
			if largest > 0 {
				m.Relevance[k] = v / largest
			}
		}
		h.Maps = append(h.Maps, m)
		h.images = append(h.images, set.Image(example))
	}
	return h
}

// Figure draws each image, and beside it the same image with the relevance in color.
func (h *Heatmaps) Figure() *plots.Figure {
	var images []image.Image
	var captions []string
	for i, m := range h.Maps {
		images = append(images, h.images[i], m.over(h.images[i]))
		captions = append(captions, h.class(m.Label), "as "+h.class(m.Class))
	}
	return plots.Images(images, captions...).Title(h.title).Subtitle(h.Dataset)
}

func (h *Heatmaps) class(i int) string {
	if i >= 0 && i < len(h.classes) {
		return h.classes[i]
	}
	return fmt.Sprint(i)
}

// over draws an image in gray, with the relevance from dark red to yellow above it.
func (m Heatmap) over(picture image.Image) image.Image {
	bounds := picture.Bounds()
	out := image.NewRGBA(image.Rect(0, 0, bounds.Dx(), bounds.Dy()))
	for y := range bounds.Dy() {
		for x := range bounds.Dx() {
			gray := float64(color.GrayModel.Convert(picture.At(bounds.Min.X+x, bounds.Min.Y+y)).(color.Gray).Y) / 255
			r := m.Relevance[(y*m.Height/bounds.Dy())*m.Width+x*m.Width/bounds.Dx()]
			mix := func(hot float64) uint8 { return uint8(math.Round(255 * ((1-r)*gray + r*hot))) }
			out.SetRGBA(x, y, color.RGBA{mix(0.6 + 0.4*r), mix(r * r), mix(0), 255})
		}
	}
	return out
}

// String describes the heat maps in one line.
func (h *Heatmaps) String() string {
	return fmt.Sprintf("%s of %d examples of %s", h.title, len(h.Maps), h.Dataset)
}

// Report returns the figure and the text.
func (h *Heatmaps) Report() *display.Report {
	return new(display.Report).Figure(h.Figure()).Alt(h.String())
}

// checkImages checks a model and a data set of images with classes, and returns channels, height and width.
func checkImages(call string, model nn.Module, set *data.Dataset) (channels, height, width int, err error) {
	if err := check(call, model, set); err != nil {
		return 0, 0, 0, err
	}
	if set.Targets() > 0 {
		return 0, 0, 0, fmt.Errorf("explain: %s: %w", call, errNoClasses)
	}
	return imageShape(call, set)
}

// imageShape returns channels, height and width of the images of a data set.
func imageShape(call string, set *data.Dataset) (channels, height, width int, err error) {
	switch s := set.Shape(); {
	case len(s) == 2:
		return 1, s[0], s[1], nil
	case len(s) == 3 && (s[0] == 1 || s[0] == 3):
		return s[0], s[1], s[2], nil
	default:
		return 0, 0, 0, fmt.Errorf("explain: %s: the examples of %s have shape %v, but images have [1 height width], [3 height width] or [height width]; PermutationImportance explains tables", call, set.Name(), s)
	}
}
