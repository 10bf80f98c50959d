package widgets

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/quernlab/quern/widgets/comm"
)

// Checkbox is a checkbox.
type Checkbox struct{ *model }

// NewCheckbox returns a checkbox.
func NewCheckbox(value bool, options ...Option) *Checkbox {
	// In a form the checkbox is below other fields. Without a label it must not be indented by
	// the width of one.
	indent := func(state, _ map[string]any) { state["indent"] = state["description"] != "" }
	c := &Checkbox{newControl("Checkbox", "CheckboxStyle", map[string]any{"value": value, "disabled": false},
		append(slices.Clone(options), indent))}
	c.accepts["value"] = read[bool]
	return c
}

// read decodes a value; it rejects null.
func read[T any](text json.RawMessage) (any, error) { return decode[T](text) }

func decode[T any](text json.RawMessage) (v T, err error) {
	var p *T
	if err = json.Unmarshal(text, &p); err == nil && p == nil {
		err = errNull
	}
	if err != nil {
		return v, err
	}
	return *p, nil
}

var errNull = errors.New("null")

// Value reports whether the box is checked.
func (c *Checkbox) Value() bool { return get[bool](c.model, "value") }

// SetValue checks or unchecks the box.
func (c *Checkbox) SetValue(value bool) { c.set("value", value) }

// OnChange calls f when a user has clicked the box.
func (c *Checkbox) OnChange(f func(value bool)) { c.onChange(func() { f(c.Value()) }) }

func (c *Checkbox) current() any { return c.Value() }

// Text is a text field of one line.
type Text struct{ *model }

// NewText returns a text field with an initial value.
func NewText(value string, options ...Option) *Text {
	t := &Text{newControl("Text", "TextStyle", map[string]any{"value": value, "placeholder": "", "disabled": false, "continuous_update": true}, options)}
	t.accepts["value"] = read[string]
	return t
}

// Value returns the text of the field.
func (t *Text) Value() string { return get[string](t.model, "value") }

// SetValue replaces the text of the field.
func (t *Text) SetValue(value string) { t.set("value", value) }

// OnChange calls f when a user has changed the text.
func (t *Text) OnChange(f func(value string)) { t.onChange(func() { f(t.Value()) }) }

func (t *Text) current() any { return t.Value() }

// Dropdown is a list of which one entry is selected.
type Dropdown struct {
	*model
	entries []string
}

// NewDropdown returns a list with its first entry selected. An empty list has no selection:
// Value is "" and Index is -1.
func NewDropdown(entries []string, options ...Option) *Dropdown {
	entries = slices.Clone(entries)
	index := 0
	if len(entries) == 0 {
		index, entries = -1, []string{}
	}
	d := &Dropdown{newModel("Dropdown", controlsModule, moduleVersion, map[string]any{"_options_labels": entries, "disabled": false}), entries}
	d.state["index"] = wireIndex(index)
	d.accepts["index"] = func(text json.RawMessage) (any, error) {
		var i *int
		if err := json.Unmarshal(text, &i); err != nil {
			return nil, err
		}
		if i == nil {
			return nil, nil
		}
		if *i < 0 || *i >= len(entries) {
			return nil, fmt.Errorf("index %d is out of range: the list has %d entries", *i, len(entries))
		}
		return *i, nil
	}
	d.finish("DescriptionStyle", options)
	return d
}

// wireIndex returns the index as the model represents it: nil if nothing is selected.
func wireIndex(i int) any {
	if i < 0 {
		return nil
	}
	return i
}

// Index returns the index of the selected entry, or -1 if there is none.
func (d *Dropdown) Index() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if i, ok := d.state["index"].(int); ok {
		return i
	}
	return -1
}

// Value returns the selected entry, or "" if there is none.
func (d *Dropdown) Value() string {
	if i := d.Index(); i >= 0 {
		return d.entries[i]
	}
	return ""
}

// SetValue selects an entry. It does nothing if the list does not have it.
func (d *Dropdown) SetValue(value string) {
	if i := slices.Index(d.entries, value); i >= 0 {
		d.set("index", i)
	}
}

// OnChange calls f when a user has selected an entry.
func (d *Dropdown) OnChange(f func(value string)) { d.onChange(func() { f(d.Value()) }) }

func (d *Dropdown) current() any { return d.Value() }

// String returns the list as a line of text.
func (d *Dropdown) String() string { return fmt.Sprintf("Dropdown(%q of %q)", d.Value(), d.entries) }

// MIMEBundle returns the view of the list and its text.
func (d *Dropdown) MIMEBundle() map[string]any { return withText(d.model, d.String()) }

func withText(m *model, text string) map[string]any {
	bundle := m.MIMEBundle()
	bundle["text/plain"] = text
	return bundle
}

const buttonStyle = "ButtonStyle"

// Button is a button.
type Button struct{ *model }

// NewButton returns a button with a label.
func NewButton(label string, options ...Option) *Button {
	return &Button{newControl("Button", buttonStyle, map[string]any{"button_style": "", "icon": "", "disabled": false},
		append([]Option{Description(label)}, options...))}
}

// OnClick calls f when a user has clicked the button. A second call replaces the first.
func (b *Button) OnClick(f func()) {
	f = comm.Guard(f)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.custom = func(content json.RawMessage) {
		var in struct {
			Event string `json:"event"`
		}
		if json.Unmarshal(content, &in) == nil && in.Event == "click" {
			f()
		}
	}
}
