package plots

import (
	"fmt"
	"image"
	"slices"
	"strconv"

	"golang.org/x/image/draw"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
)

// maxImages is the largest number of images in one figure.
const maxImages = 100

// Images draws images in a grid, ten in a row, with captions below them. Small images keep
// their square pixels. If there are more than 100 images, only the first 100 are drawn, and the
// subtitle says so. Captions without an image are counted in the legend.
func Images(images []image.Image, captions ...string) *Figure {
	k := gallery{total: len(images), surplus: flagged(max(len(captions)-len(images), 0), "caption", "without an image")}
	for i, m := range images[:min(len(images), maxImages)] {
		t := tile{image: downscaled(m)}
		if i < len(captions) {
			t.caption = captions[i]
		}
		k.tiles = append(k.tiles, t)
	}
	return newFigure("", k)
}

// Predictions draws images with the predictions of a model. predicted and actual are indices
// into classes; a class without a name is shown as its number. A wrong prediction has a red
// frame and a caption of the form "actual → predicted". Predictions and actual classes without an image are counted in
// the legend.
func Predictions(title string, images []image.Image, predicted, actual []int, classes []string) *Figure {
	k := gallery{total: len(images), judged: true}
	k.surplus = slices.Concat(
		flagged(max(len(predicted)-len(images), 0), "prediction", "without an image"),
		flagged(max(len(actual)-len(images), 0), "label", "without an image"),
	)
	style := captionStyle()
	name := func(class int) string {
		if class >= 0 && class < len(classes) {
			return classes[class]
		}
		return strconv.Itoa(class)
	}
	for i, m := range images {
		var t tile
		switch {
		case i >= len(predicted):
			t.caption = "no prediction"
		case i >= len(actual):
			t.caption = name(predicted[i])
		case predicted[i] == actual[i]:
			t.caption = name(actual[i])
			k.right++
			k.compared++
		default:
			t.caption, t.taken = name(actual[i]), "→ "+name(predicted[i])
			t.wrong = true
			k.compared++
		}
		if i < maxImages {
			t.image = downscaled(m)
			if one := t.caption + " " + t.taken; t.wrong && style.Width(one) > captionWidth {
				k.second = true
			}
			k.tiles = append(k.tiles, t)
		}
	}
	return newFigure(title, k)
}

// gallery is a grid of images.
type gallery struct {
	tiles           []tile
	second          bool // captions have two lines
	total           int  // number of images passed
	judged          bool
	right, compared int // number of correct predictions, and of those with a known class
	surplus         []entry
}

type tile struct {
	image   image.Image // nil if there is none to draw
	caption string
	taken   string // the predicted class after an arrow, if wrong
	wrong   bool
}

// captions returns the caption lines of a tile.
func (k gallery) captions(t tile) []string {
	switch {
	case t.taken == "":
		return []string{t.caption}
	case k.second:
		return []string{t.caption, t.taken}
	}
	return []string{t.caption + " " + t.taken}
}

// captionStyle returns the text style of captions.
func captionStyle() text.Style {
	style := textStyle(sizeSmall, ink(.8))
	style.XAlign, style.YAlign = vgdraw.XCenter, vgdraw.YTop
	return style
}

// Sizes in points.
const (
	tileSide      = 46
	tileGap       = 6
	captionHeight = 12
	captionLine   = 9 // height of a second line
	captionWidth  = tileSide + tileGap - 1
	tileRow       = 10 // tiles in a row
)

// maxSide is the side length above which a stored image is downscaled. It is drawn at a tenth
// of that or less.
const maxSide = 256

// downscaled returns a copy of an image, downscaled to at most maxSide, or nil for an image without
// pixels.
func downscaled(m image.Image) image.Image {
	if m == nil || m.Bounds().Empty() {
		return nil
	}
	from := m.Bounds()
	step := max(1, (max(from.Dx(), from.Dy())+maxSide-1)/maxSide)
	c := image.NewNRGBA(image.Rect(0, 0, (from.Dx()+step-1)/step, (from.Dy()+step-1)/step))
	if step == 1 {
		draw.Draw(c, c.Rect, m, from.Min, draw.Src)
	} else {
		draw.BiLinear.Scale(c, c.Rect, m, from, draw.Src, nil)
	}
	return c
}

// step returns the height of one row of tiles in points.
func (k gallery) step() float64 {
	for _, t := range k.tiles {
		if t.caption == "" {
			continue
		}
		room := tileSide + tileGap + captionHeight
		if k.second {
			room += captionLine
		}
		return float64(room)
	}
	return tileSide + tileGap
}

func (k gallery) size() (width, height float64) {
	columns := min(max(len(k.tiles), 4), tileRow)
	rows := max(1, (len(k.tiles)+tileRow-1)/tileRow)
	const points = 4. / 3
	return points * float64(columns*(tileSide+tileGap)+6), points*(float64(rows)*k.step()+44) + legendHeight(k.surplus)
}

func (k gallery) sections(l settings) []section {
	subtitle := counted(k.total, "image")
	switch {
	case k.total == 0:
		subtitle = "no images"
	case k.judged && k.compared > 0:
		subtitle = fmt.Sprintf("%d of %d right", k.right, k.compared)
	}
	if k.total > len(k.tiles) {
		subtitle += fmt.Sprintf(", the first %d shown", len(k.tiles))
	}
	if k.right < k.compared {
		subtitle += "; in red: actual → guess"
	}
	return []section{{title: l.title, subtitle: subtitle, legend: k.surplus, height: 1, body: k.draw}}
}

func (k gallery) draw(c vgdraw.Canvas) {
	c.Max.Y -= 3
	step := k.step()
	columns := max(1, int(float64(c.Max.X-c.Min.X+tileGap+.01)/(tileSide+tileGap)))
	style := captionStyle()
	for i, t := range k.tiles {
		x := c.Min.X + vg.Length(i%columns)*(tileSide+tileGap)
		y := c.Max.Y - vg.Length(float64(i/columns)*step) - tileSide
		if y < c.Min.Y-tileSide {
			return // the size set by the caller holds fewer tiles
		}
		box := vg.Rectangle{Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + tileSide, Y: y + tileSide}}
		if t.image == nil {
			c.FillPolygon(inkBand, rectangle(x, y, tileSide, tileSide))
		} else {
			inner := fitImage(box, t.image.Bounds().Size())
			c.DrawImage(inner, t.image)
			// An edge, since an image may have the color of the background.
			edge := rectangle(inner.Min.X, inner.Min.Y, inner.Size().X, inner.Size().Y)
			c.StrokeLines(vgdraw.LineStyle{Color: inkAxis, Width: widthGrid}, append(edge, edge[0]))
		}
		style.Color = ink(.8)
		if t.wrong {
			style.Color = wrong
			frame := rectangle(x, y, tileSide, tileSide)
			c.StrokeLines(vgdraw.LineStyle{Color: wrong, Width: 1.5}, append(frame, frame[0]))
		}
		for line, label := range k.captions(t) {
			below := vg.Length(2 + line*captionLine)
			c.FillText(style, vg.Point{X: x + tileSide/2, Y: y - below}, fitted(style, label, captionWidth))
		}
	}
}

// fitImage returns the part of a box that an image of this size fills without distortion.
func fitImage(box vg.Rectangle, size image.Point) vg.Rectangle {
	width, height := box.Size().X, box.Size().Y
	if size.X > size.Y {
		height *= vg.Length(size.Y) / vg.Length(size.X)
	} else {
		width *= vg.Length(size.X) / vg.Length(size.Y)
	}
	x, y := (box.Min.X+box.Max.X-width)/2, (box.Min.Y+box.Max.Y-height)/2
	return vg.Rectangle{Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + width, Y: y + height}}
}
