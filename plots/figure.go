package plots

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/picture"
)

// Figure is a drawing of data. The notebook displays it if it is the last expression of a cell;
// [display.Show] displays it from anywhere. Methods that set something return the figure, so
// that calls can be chained.
//
// A figure holds its own copy of the data. Several goroutines may display it at once, but not
// while another one sets something.
type Figure struct {
	settings settings
	kind     kind // nil in the zero value, which is drawn as a figure without data
	progress *display.Progress
	notes    []string
}

// settings holds what the caller sets.
type settings struct {
	title, subtitle string
	labelX, labelY  string
	logX, logY      bool
	width, height   float64 // in CSS pixels; 0: the size of the kind
	rangeX          limits  // the x axis shows at least this
	stepped         bool
	format          Format
}

// kind is the content of a figure. It makes new sections for each drawing.
type kind interface {
	sections(settings) []section
	size() (width, height float64) // in CSS pixels, if the caller sets none
}

// Default size of a figure in CSS pixels.
const (
	defaultWidth  = 640
	defaultHeight = 320
)

func newFigure(title string, k kind) *Figure {
	return &Figure{settings: settings{title: title}, kind: k}
}

// Title sets the title.
func (f *Figure) Title(title string) *Figure { f.settings.title = title; return f }

// Subtitle replaces the line below the title, which is a summary of the data by default.
func (f *Figure) Subtitle(subtitle string) *Figure { f.settings.subtitle = subtitle; return f }

// XLabel sets the label of the x axis, if there is one.
func (f *Figure) XLabel(label string) *Figure { f.settings.labelX = label; return f }

// YLabel sets the label of the y axis, if there is one.
func (f *Figure) YLabel(label string) *Figure { f.settings.labelY = label; return f }

// LogX makes the x axis of a line or scatter figure logarithmic. Values that are not positive
// are then left out and counted.
func (f *Figure) LogX() *Figure { f.settings.logX = true; return f }

// LogY makes the y axis of a line, scatter or training figure logarithmic, as
// LogX does for x.
func (f *Figure) LogY() *Figure { f.settings.logY = true; return f }

// RangeX makes the x axis of a line, band or learning-rate figure cover at least the values from "from" to "to", so
// that it does not move while data arrive.
func (f *Figure) RangeX(from, to float64) *Figure {
	f.settings.rangeX = limits{}
	if drawable(from, false) && drawable(to, false) && from < to {
		f.settings.rangeX = limits{from, to, true}
	}
	return f
}

// Stepped draws the lines of a line or band figure as steps: each value holds until the next
// one. Use it for a "best so far", for instance.
func (f *Figure) Stepped() *Figure { f.settings.stepped = true; return f }

// Size sets width and height in CSS pixels, each from 40 to 4000; 0 means the default of the
// kind of figure.
func (f *Figure) Size(width, height float64) *Figure {
	f.settings.width, f.settings.height = width, height
	return f
}

// As sets the image format of this figure. It takes precedence over the environment variable.
func (f *Figure) As(format Format) *Figure { f.settings.format = format; return f }

// Notes puts sentences below the figure, wrapped to its width, and replaces those of an earlier call.
func (f *Figure) Notes(sentences ...string) *Figure {
	if f != nil {
		f.notes = slices.Clone(sentences)
	}
	return f
}

// String returns the title and the summary of the figure in one line.
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
	for _, n := range f.sentences() {
		lines = append(lines, oneLine(n))
	}
	if len(lines) == 0 {
		return "figure"
	}
	return strings.Join(lines, "; ")
}

// MIMEBundle returns the representations for a notebook: "text/html" (see [Figure.HTML]),
// "image/svg+xml" (a string), "image/png" (bytes, two pixels per CSS pixel) and "text/plain"
// (one line).
func (f *Figure) MIMEBundle() map[string]any {
	bundle := map[string]any{"text/plain": f.String()}
	format := f.settings.format.resolve()
	if format == Both {
		bundle["text/html"] = f.heading() + f.HTML()
	}
	if format != PNG {
		bundle["image/svg+xml"] = f.heading() + f.SVG()
	}
	if format != SVG {
		bundle["image/png"] = f.PNG()
	}
	return bundle
}

// heading is a comment with the text of the figure: in place of an output that is collapsed, JupyterLab shows the
// first line of its source.
func (f *Figure) heading() string {
	return "<!-- " + strings.ReplaceAll(f.String(), "--", "–") + " -->\n"
}

// MIMEMetadata returns the size in CSS pixels at which to display the PNG, and the alternative
// text for readers that do not see the images.
func (f *Figure) MIMEMetadata() map[string]any {
	metadata, alt := map[string]any{}, f.String()
	format := f.settings.format.resolve()
	if format != PNG {
		metadata["image/svg+xml"] = map[string]any{"alt": alt}
	}
	if format != SVG {
		width, height := f.points()
		metadata["image/png"] = map[string]any{"width": pixels(width), "height": pixels(height), "alt": alt}
	}
	return metadata
}

// SVG returns the figure as an SVG document that follows the reader's light or dark theme.
func (f *Figure) SVG() string {
	c := newSVGCanvas(f.points())
	f.draw(draw.New(c))
	return c.document(f.String())
}

// PNG returns the figure as a PNG file on a white background, two pixels per CSS pixel.
func (f *Figure) PNG() []byte {
	c := newPNGCanvas(f.points())
	f.draw(draw.New(c))
	return c.encoded()
}

// HTML returns the figure as an image for a web page. The image is never wider than the page,
// follows its theme, and has the text of [Figure.String] as its alternative text.
func (f *Figure) HTML() string {
	width, _ := f.points()
	return picture.HTML(f.SVG(), f.String(), pixels(width))
}

// Save writes the figure to a file. The name must end in .svg or .png.
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

// content returns the kind, or an empty figure if there is none.
func (f *Figure) content() kind {
	if f.kind == nil {
		return banded{}
	}
	return f.kind
}

// sections returns the sections of the kind, with the subtitle of the caller.
func (f *Figure) sections() []section {
	sections := f.content().sections(f.settings)
	if f.settings.subtitle != "" && len(sections) > 0 {
		sections[0].subtitle = f.settings.subtitle
	}
	return sections
}

// Progress puts a progress bar with the remaining time above the figure, for a computation
// whose partial results the figure shows. If p has ended, it removes the bar.
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

// progressHeight is the height of the bar and the space below it.
const progressHeight = vg.Length(16)

// drawProgress draws the bar and returns the canvas below it.
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

// noteLine is the height of a line of a note.
const noteLine = vg.Length(sizeText * 1.35)

// sentences returns the notes of the sections, and those of the caller.
func (f *Figure) sentences() (all []string) {
	for _, s := range f.sections() {
		all = append(all, s.notes...)
	}
	return append(all, f.notes...)
}

// wrappedNotes returns the notes in lines of a width.
func (f *Figure) wrappedNotes(width vg.Length) (lines []string) {
	style := textStyle(sizeText, inkSecond)
	for _, n := range f.sentences() {
		line := "•"
		for _, word := range strings.Fields(oneLine(n)) {
			if longer := line + " " + word; style.Width(longer) <= width {
				line = longer
				continue
			}
			lines, line = append(lines, line), word
		}
		lines = append(lines, line)
	}
	return lines
}

// drawNotes draws the notes and returns the canvas above them.
func (f *Figure) drawNotes(c draw.Canvas) draw.Canvas {
	lines := f.wrappedNotes(c.Max.X - c.Min.X)
	if len(lines) == 0 {
		return c
	}
	style := textStyle(sizeText, inkSecond)
	style.YAlign = draw.YBottom
	for i, line := range lines {
		at := vg.Point{X: c.Min.X, Y: c.Min.Y + noteLine*vg.Length(len(lines)-1-i)}
		c.FillText(style, at, fitted(style, line, c.Max.X-c.Min.X))
	}
	c.Min.Y += noteLine*vg.Length(len(lines)) + 4
	return c
}

// points returns the size of the figure in points, with its notes.
func (f *Figure) points() (width, height vg.Length) {
	width, height = f.withoutNotes()
	if lines := f.wrappedNotes(width - 2*margin); len(lines) > 0 {
		height += noteLine*vg.Length(len(lines)) + 4
	}
	return width, height
}

// withoutNotes returns the size of the figure in points. If the caller has not set the size, it also
// fits the text above the data: title and subtitle up to the default width, and each row of the
// legend after the first.
func (f *Figure) withoutNotes() (width, height vg.Length) {
	w, h := f.content().size()
	const least, most = 40, 4000
	_, stacked := f.kind.(stack) // its size is the sum of its figures
	if !stacked && (f.settings.width <= 0 || f.settings.height <= 0) {
		for _, s := range f.sections() {
			if f.settings.width <= 0 && w < defaultWidth {
				w = max(w, min(math.Ceil(float64(s.headerWidth()+2*margin+1)*4/3), defaultWidth))
			}
			if f.settings.height <= 0 && len(s.legend) > 0 {
				inner := vg.Length(cmp.Or(max(f.settings.width, 0), w)*3/4) - 2*margin
				if _, rows := layoutLegend(s.legend, inner); rows > 1 {
					h += float64(legendLine) * 4 / 3 * float64(rows-1)
				}
			}
		}
	}
	if f.settings.width > 0 {
		w = f.settings.width
	}
	if f.settings.height > 0 {
		h = f.settings.height
	}
	width, height = vg.Length(min(max(w, least), most)*3/4), vg.Length(min(max(h, least), most)*3/4)
	if f.progress != nil {
		height += progressHeight
	}
	return width, height
}

// draw draws the sections below each other and divides the height in proportion to theirs.
func (f *Figure) draw(c draw.Canvas) {
	sections := f.sections()
	c = f.drawNotes(f.drawProgress(draw.Crop(c, margin, -margin, margin, -margin)))
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
