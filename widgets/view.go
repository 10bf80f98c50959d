package widgets

import (
	"fmt"
	"html"
	"net/http"
	"strings"
)

// IntProgress is a progress bar.
type IntProgress struct{ shown[int] }

// NewIntProgress returns a bar from min to max.
func NewIntProgress(min, max, value int, options ...Option) *IntProgress {
	min, max = order(min, max)
	k := kind[int]{name: "IntProgress", style: "ProgressStyle", fit: within(min, max), state: bar(min, max)}
	return &IntProgress{newShown(k, value, options)}
}

// Value returns the position of the bar.
func (w *IntProgress) Value() int { return w.now() }

// SetValue sets the position of the bar; one outside of its range is clamped.
func (w *IntProgress) SetValue(value int) { w.put(value) }

// FloatProgress is a progress bar for floating-point numbers.
type FloatProgress struct{ shown[float64] }

// NewFloatProgress returns a bar from min to max, which must be finite. NaN becomes min.
func NewFloatProgress(min, max, value float64, options ...Option) *FloatProgress {
	min, max = order(min, max)
	k := kind[float64]{name: "FloatProgress", style: "ProgressStyle", fit: within(min, max), state: bar(min, max)}
	return &FloatProgress{newShown(k, orElse(value, min), options)}
}

// Value returns the position of the bar.
func (w *FloatProgress) Value() float64 { return w.now() }

// SetValue sets the position of the bar; one outside of its range is clamped, and NaN is ignored.
func (w *FloatProgress) SetValue(value float64) { w.put(value) }

func bar(low, high any) map[string]any {
	return viewed("ProgressView", map[string]any{"min": low, "max": high, "orientation": "horizontal", "bar_style": ""})
}

// caption is a text that users do not change.
type caption struct{ shown[string] }

// Value returns the text.
func (w caption) Value() string { return w.now() }

// SetValue sets the text.
func (w caption) SetValue(value string) { w.put(value) }

// HTML is a text in HTML.
type HTML struct{ caption }

// NewHTML returns a widget with an HTML text.
func NewHTML(text string, options ...Option) *HTML { return &HTML{newLabel("HTML", text, options)} }

func newLabel(name, text string, options []Option) caption {
	k := kind[string]{name: name, style: name + "Style", state: map[string]any{"placeholder": ""}}
	return caption{newShown(k, text, options)}
}

// HTMLMath is a text in HTML with formulas in LaTeX between dollar signs.
type HTMLMath struct{ caption }

// NewHTMLMath returns a widget with an HTML text that may have formulas.
func NewHTMLMath(text string, options ...Option) *HTMLMath {
	return &HTMLMath{newLabel("HTMLMath", text, options)}
}

// Label is a plain text, which may have formulas in LaTeX between dollar signs.
type Label struct{ caption }

// NewLabel returns a widget with a plain text.
func NewLabel(text string, options ...Option) *Label { return &Label{newLabel("Label", text, options)} }

// Escape escapes plain text for HTML.
func Escape(text string) string { return html.EscapeString(text) }

// Valid is a check mark or a cross.
type Valid struct{ shown[bool] }

// NewValid returns a check mark, or a cross if value is false.
func NewValid(value bool, options ...Option) *Valid {
	k := kind[bool]{name: "Valid", style: "DescriptionStyle", state: map[string]any{"readout": "Invalid", "disabled": false}}
	return &Valid{newShown(k, value, options)}
}

// Value returns whether the check mark is shown.
func (w *Valid) Value() bool { return w.now() }

// SetValue sets whether the check mark is shown.
func (w *Valid) SetValue(value bool) { w.put(value) }

// Image is an image that programs replace. display.PNG and its relatives display one that does not
// change.
type Image struct{ *model }

// NewImage returns a widget with an image file: PNG, JPEG, GIF, WebP, BMP or SVG.
func NewImage(file []byte, options ...Option) *Image {
	i := &Image{newControl("Image", "", map[string]any{"value": notNil(file), "format": imageFormat(file), "width": "", "height": ""}, options)}
	i.text = func() string { return fmt.Sprintf("Image(%d bytes)", len(i.Value())) }
	return i
}

func notNil(file []byte) []byte { return append([]byte{}, file...) }

// imageFormat returns the part of the MIME type behind "image/"; the front end needs no exact one for
// images that are not vector graphics.
func imageFormat(file []byte) string {
	mime := http.DetectContentType(file)
	if format, ok := strings.CutPrefix(mime, "image/"); ok {
		return format
	}
	if strings.HasPrefix(mime, "text/") {
		return "svg+xml"
	}
	return "png"
}

// Value returns the image file.
func (i *Image) Value() []byte { return get[[]byte](i.model, "value") }

// SetValue replaces the image file.
func (i *Image) SetValue(file []byte) {
	i.set("format", imageFormat(file))
	i.set("value", notNil(file))
}
