package widgets

import (
	"html"
	"strings"
)

// IntProgress is a progress bar.
type IntProgress struct{ *model }

// NewIntProgress returns a bar from min to max.
func NewIntProgress(min, max, value int, options ...Option) *IntProgress {
	if max < min {
		min, max = max, min
	}
	m := newModel("IntProgress", controlsModule, moduleVersion, map[string]any{
		"_view_module": controlsModule, "_view_module_version": moduleVersion, "_view_name": "ProgressView",
		"value": clamp(value, min, max), "min": min, "max": max, "orientation": "horizontal", "bar_style": "",
	})
	m.finish("ProgressStyle", options)
	return &IntProgress{m}
}

// Value returns the current value of the bar.
func (p *IntProgress) Value() int { return get[int](p.model, "value") }

// SetValue sets the current value of the bar.
func (p *IntProgress) SetValue(value int) {
	p.set("value", clamp(value, get[int](p.model, "min"), get[int](p.model, "max")))
}

// HTML is a text in HTML.
type HTML struct{ *model }

// NewHTML returns a widget with an HTML text.
func NewHTML(text string, options ...Option) *HTML {
	return &HTML{newControl("HTML", "HTMLStyle", map[string]any{"value": text, "placeholder": ""}, options)}
}

// Value returns the text.
func (h *HTML) Value() string { return get[string](h.model, "value") }

// SetValue replaces the text.
func (h *HTML) SetValue(text string) { h.set("value", text) }

// Escape escapes plain text for HTML.
func Escape(text string) string { return html.EscapeString(text) }

// Box is a row or a column of widgets.
type Box struct {
	*model
	children []Widget
}

// NewVBox arranges widgets in a column.
func NewVBox(children ...Widget) *Box { return newBox("VBox", children) }

// NewHBox arranges widgets in a row.
func NewHBox(children ...Widget) *Box { return newBox("HBox", children) }

func newBox(name string, children []Widget) *Box {
	references := make([]string, len(children))
	for i, c := range children {
		references[i] = reference + c.ID()
	}
	m := newModel(name, controlsModule, moduleVersion, map[string]any{"children": references, "box_style": ""})
	m.finish("", nil)
	return &Box{m, children}
}

// String returns the box as text with one child per line.
func (b *Box) String() string {
	lines := make([]string, len(b.children))
	for i, c := range b.children {
		text, _ := c.MIMEBundle()["text/plain"].(string)
		lines[i] = text
	}
	separator := "\n"
	if b.name == "HBox" {
		separator = "  "
	}
	return strings.Join(lines, separator)
}

// MIMEBundle returns the view of the box and its text.
func (b *Box) MIMEBundle() map[string]any { return withText(b.model, b.String()) }
