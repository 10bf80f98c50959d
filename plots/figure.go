package plots

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/quernlab/quern/display"
)

// Figure is a picture of data. It shows itself as the last expression of a
// cell and can be given to display.Show. The methods that set something return
// the figure, so that they can be chained.
//
// A figure holds its own copy of the data. It may be shown from several
// goroutines at once, but not while it is being set.
type Figure struct {
	look     look
	kind     kind // nil in the zero value, which shows that it has no data
	progress *display.Progress
}

// look is what a caller may set.
type look struct {
	title, subtitle string
	labelX, labelY  string
	logX, logY      bool
	width, height   float64 // in CSS pixels; 0 leaves it to the kind
	rangeX          limits  // that the axis of x shows at least
	stepped         bool
	format          Format
}

// kind is what a figure shows. Its sections are made anew for each drawing.
type kind interface {
	sections(look) []section
	size() (width, height float64) // in CSS pixels, when the caller sets none
}

// Size that a figure has unless its kind or its caller say otherwise, in CSS
// pixels.
const (
	defaultWidth  = 640
	defaultHeight = 320
)

func newFigure(title string, k kind) *Figure {
	return &Figure{look: look{title: title}, kind: k}
}

// Title sets the words on top.
func (f *Figure) Title(words string) *Figure { f.look.title = words; return f }

// Subtitle sets the line below the title, which otherwise states what was
// found in the data.
func (f *Figure) Subtitle(words string) *Figure { f.look.subtitle = words; return f }

// XLabel names the x axis, if there is one.
func (f *Figure) XLabel(words string) *Figure { f.look.labelX = words; return f }

// YLabel names the y axis, if there is one.
func (f *Figure) YLabel(words string) *Figure { f.look.labelY = words; return f }

// LogX makes the x axis of a line or scatter figure logarithmic. Values that
// are not positive are then counted as not drawn.
func (f *Figure) LogX() *Figure { f.look.logX = true; return f }

// LogY makes the y axis of a line, scatter or training figure logarithmic, as
// LogX does for x.
func (f *Figure) LogY() *Figure { f.look.logY = true; return f }

// RangeX has the x axis of a line figure reach from one number to another at least, so
// that it does not move while data come in.
func (f *Figure) RangeX(from, to float64) *Figure {
	f.look.rangeX = limits{}
	if drawable(from, false) && drawable(to, false) && from < to {
		f.look.rangeX = limits{from, to, true}
	}
	return f
}

// Stepped draws the lines of a line or band figure as steps: each value holds until the
// next one, as the best value so far does.
func (f *Figure) Stepped() *Figure { f.look.stepped = true; return f }

// Size sets width and height in CSS pixels, each from 40 to 4000; 0 stands for
// the size that the kind of figure has by itself.
func (f *Figure) Size(width, height float64) *Figure {
	f.look.width, f.look.height = width, height
	return f
}

// As sets which pictures the notebook gets, whatever the environment says.
func (f *Figure) As(format Format) *Figure { f.look.format = format; return f }

// String is the figure in one line: its title and what was found.
func (f *Figure) String() string {
	var lines []string
	for _, s := range f.sections() {
		if line := s.summary(); line != "" {
			lines = append(lines, line)
		}
	}
	if f.progress != nil {
		lines = append(lines, f.progress.String())
	}
	if len(lines) == 0 {
		return "figure"
	}
	return strings.Join(lines, "; ")
}

// MIMEBundle is what a notebook shows: "text/html" (see [Figure.HTML]), "image/svg+xml" (a
// string), "image/png" (bytes, two pixels for each CSS pixel) and "text/plain", one line.
func (f *Figure) MIMEBundle() map[string]any {
	bundle := map[string]any{"text/plain": f.String()}
	format := f.look.format.orEnvironment()
	if format == Both {
		bundle["text/html"] = f.HTML()
	}
	if format != PNG {
		bundle["image/svg+xml"] = f.SVG()
	}
	if format != SVG {
		bundle["image/png"] = f.PNG()
	}
	return bundle
}

// MIMEMetadata gives the size in CSS pixels at which to show the PNG, and the text for
// readers that do not see the pictures.
func (f *Figure) MIMEMetadata() map[string]any {
	metadata, alt := map[string]any{}, f.String()
	format := f.look.format.orEnvironment()
	if format != PNG {
		metadata["image/svg+xml"] = map[string]any{"alt": alt}
	}
	if format != SVG {
		width, height := f.points()
		metadata["image/png"] = map[string]any{"width": pixels(width), "height": pixels(height), "alt": alt}
	}
	return metadata
}

// SVG is the figure as an SVG document, which follows the reader's light or
// dark theme.
func (f *Figure) SVG() string {
	c := newSVGCanvas(f.points())
	f.draw(draw.New(c))
	return c.document(f.String())
}

// PNG is the figure as a PNG file on white, two pixels for each CSS pixel.
func (f *Figure) PNG() []byte {
	c := newPNGCanvas(f.points())
	f.draw(draw.New(c))
	return c.encoded()
}

// Save writes the figure to a file, whose name ends in .svg or .png.
func (f *Figure) Save(path string) error {
	var data []byte
	switch extension := strings.ToLower(filepath.Ext(path)); extension {
	case ".svg":
		data = []byte(f.SVG())
	case ".png":
		data = f.PNG()
	default:
		return fmt.Errorf("save figure as %q: the name must end in .svg or .png", path)
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		return fmt.Errorf("save figure: %w", err)
	}
	return nil
}

// content is the kind, or that of a figure without data.
func (f *Figure) content() kind {
	if f.kind == nil {
		return lines{}
	}
	return f.kind
}

// sections are those of the kind with what the caller has set.
func (f *Figure) sections() []section {
	sections := f.content().sections(f.look)
	if f.look.subtitle != "" && len(sections) > 0 {
		sections[0].subtitle = f.look.subtitle
	}
	return sections
}

// Progress sets how far that has come whose partial results the figure shows: a bar above
// it with the time that is left, and nothing of what has ended.
func (f *Figure) Progress(p display.Progress) *Figure {
	if f == nil {
		return nil
	}
	f.progress = &p
	if p.Ended {
		f.progress = nil
	}
	return f
}

// progressHeight is that of the bar, with the space below it.
const progressHeight = vg.Length(16)

// drawProgress draws the bar and returns what is left below it.
func (f *Figure) drawProgress(c draw.Canvas) draw.Canvas {
	if f.progress == nil {
		return c
	}
	const length, thick = vg.Length(150), vg.Length(5)
	middle := c.Max.Y - 6
	from := c.Min.X
	style := textStyle(sizeText, inkSecond)
	style.YAlign = draw.YCenter
	if label := fitted(style, f.progress.Label, length); label != "" {
		c.FillText(style, vg.Point{X: from, Y: middle}, label)
		from += style.Width(label) + 6
	}
	if f.progress.Total > 0 {
		c.FillPolygon(inkGrid, rectangle(from, middle-thick/2, length, thick))
		if done := length * vg.Length(f.progress.Share()); done > 0 {
			c.FillPolygon(hue(0), rectangle(from, middle-thick/2, done, thick))
		}
		from += length + 8
	}
	c.FillText(style, vg.Point{X: from, Y: middle}, fitted(style, f.progress.Numbers(), c.Max.X-from))
	c.Max.Y -= progressHeight
	return c
}

// points is the size of the figure in points. A size that the caller has not set also has
// room for the words above the data: for title and subtitle up to the usual width, and for
// each row of a legend after the first.
func (f *Figure) points() (width, height vg.Length) {
	w, h := f.content().size()
	const least, most = 40, 4000
	_, stacked := f.kind.(stack) // has the sizes of its figures
	if !stacked && (f.look.width <= 0 || f.look.height <= 0) {
		for _, s := range f.sections() {
			if f.look.width <= 0 && w < defaultWidth {
				w = max(w, min(math.Ceil(float64(s.headerWidth()+2*margin+1)*4/3), defaultWidth))
			}
			if f.look.height <= 0 && len(s.legend) > 0 {
				inner := vg.Length(cmp.Or(max(f.look.width, 0), w)*3/4) - 2*margin
				if _, rows := placed(s.legend, inner); rows > 1 {
					h += float64(legendLine) * 4 / 3 * float64(rows-1)
				}
			}
		}
	}
	if f.look.width > 0 {
		w = f.look.width
	}
	if f.look.height > 0 {
		h = f.look.height
	}
	width, height = vg.Length(min(max(w, least), most)*3/4), vg.Length(min(max(h, least), most)*3/4)
	if f.progress != nil {
		height += progressHeight
	}
	return width, height
}

// draw puts the sections below each other, each as high as its share.
func (f *Figure) draw(c draw.Canvas) {
	sections := f.sections()
	c = f.drawProgress(draw.Crop(c, margin, -margin, margin, -margin))
	var total vg.Length
	for _, s := range sections {
		total += s.height
	}
	const space = 10 // between sections
	height := c.Max.Y - c.Min.Y - space*vg.Length(len(sections)-1)
	top := c.Max.Y
	for _, s := range sections {
		box := c
		box.Max.Y = top
		box.Min.Y = top - height*s.height/total
		top = box.Min.Y - space
		s.draw(box)
	}
}
