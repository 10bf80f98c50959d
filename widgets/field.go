package widgets

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"
)

// Text is a text field of one line.
type Text struct{ stringValue }

// NewText returns a text field with an initial value.
func NewText(value string, options ...Option) *Text {
	return &Text{newText("Text", value, map[string]any{}, options)}
}

func newText(name, value string, state map[string]any, options []Option) stringValue {
	state["placeholder"], state["continuous_update"] = "", true
	return stringValue{newValued(kind[string]{name: name, style: "TextStyle", state: state}, value, options)}
}

// Textarea is a text field of several lines.
type Textarea struct{ stringValue }

// NewTextarea returns a text field of several lines with an initial value.
func NewTextarea(value string, options ...Option) *Textarea {
	return &Textarea{newText("Textarea", value, map[string]any{"rows": nil}, options)}
}

// Password is a text field that hides what a user types. Whoever reads the states of the widgets that
// are saved in a notebook can read it: clear the field ([Password.SetValue]) after use.
type Password struct{ stringValue }

// NewPassword returns an empty field.
func NewPassword(options ...Option) *Password {
	p := &Password{newText("Password", "", map[string]any{}, options)}
	p.text = func() string { return "Password(" + describe(get[string](p.model, "description"), "") + ")" }
	return p
}

// describe returns a description as part of a widget's text, with a separator behind it.
func describe(description, separator string) string {
	if description == "" {
		return ""
	}
	return fmt.Sprintf("description=%q%s", description, separator)
}

// Combobox is a text field that suggests texts. A user may type another one.
type Combobox struct{ stringValue }

// NewCombobox returns a text field with suggestions and an initial value.
func NewCombobox(suggestions []string, value string, options ...Option) *Combobox {
	state := map[string]any{"options": append([]string{}, suggestions...), "ensure_option": false}
	return &Combobox{newText("Combobox", value, state, options)}
}

// IntText is a field for an integer.
type IntText struct{ intValue }

// NewIntText returns a field for integers from -2^53 to 2^53, which front ends represent exactly.
func NewIntText(value int, options ...Option) *IntText {
	state := map[string]any{"step": 1, "continuous_update": false}
	return &IntText{newInt("IntText", -exact, exact, value, state, options)}
}

func newInt(name string, low, high, value int, state map[string]any, options []Option) intValue {
	fit := within(low, high)
	k := kind[int]{name: name, style: "DescriptionStyle", fit: fit, read: readInt(fit), state: state}
	return intValue{newValued(k, value, options)}
}

// BoundedIntText is a field for an integer in a range.
type BoundedIntText struct{ intValue }

// NewBoundedIntText returns a field for integers from low to high. A value outside is clamped.
func NewBoundedIntText(low, high, value int, options ...Option) *BoundedIntText {
	low, high = order(low, high)
	state := viewed("IntTextView", map[string]any{"min": low, "max": high, "step": 1, "continuous_update": false})
	return &BoundedIntText{newInt("BoundedIntText", low, high, value, state, options)}
}

// FloatText is a field for a floating-point number.
type FloatText struct{ floatValue }

// NewFloatText returns a field for a finite number. NaN becomes 0.
func NewFloatText(value float64, options ...Option) *FloatText {
	state := map[string]any{"step": nil, "continuous_update": false}
	return &FloatText{newFloat("FloatText", -math.MaxFloat64, math.MaxFloat64, orElse(value, 0), state, options)}
}

// BoundedFloatText is a field for a floating-point number in a range.
type BoundedFloatText struct{ floatValue }

// NewBoundedFloatText returns a field for numbers from low to high, which must be finite. A value
// outside is clamped; NaN becomes low.
func NewBoundedFloatText(low, high, value float64, options ...Option) *BoundedFloatText {
	low, high = order(low, high)
	state := viewed("FloatTextView", map[string]any{"min": low, "max": high, "step": nil, "continuous_update": false})
	return &BoundedFloatText{newFloat("BoundedFloatText", low, high, orElse(value, low), state, options)}
}

func newFloat(name string, low, high, value float64, state map[string]any, options []Option) floatValue {
	k := kind[float64]{name: name, style: "DescriptionStyle", fit: within(low, high), state: state}
	return floatValue{newValued(k, value, options)}
}

// Checkbox is a checkbox.
type Checkbox struct{ boolValue }

// NewCheckbox returns a checkbox.
func NewCheckbox(value bool, options ...Option) *Checkbox {
	// In a form the checkbox is below other fields. Without a label it must not be indented by
	// the width of one.
	indent := func(state, _ map[string]any) { state["indent"] = state["description"] != "" }
	k := kind[bool]{name: "Checkbox", style: "CheckboxStyle", state: map[string]any{}}
	return &Checkbox{boolValue{newValued(k, value, append(slices.Clone(options), indent))}}
}

// Play changes a number at regular intervals, with buttons to start and stop, for an animation. [JSLink]
// moves a slider with it.
type Play struct{ intValue }

// NewPlay returns a stopped animation from low to high that begins at value.
func NewPlay(low, high, value int, interval time.Duration, options ...Option) *Play {
	low, high = order(low, high)
	p := &Play{newInt("Play", low, high, value, map[string]any{
		"min": low, "max": high, "step": 1, "interval": max(1, interval.Milliseconds()),
		"playing": false, "repeat": false, "show_repeat": true,
	}, options)}
	for _, key := range []string{"playing", "repeat"} { // the buttons of the front end
		p.accepts[key] = func(text json.RawMessage) (any, error) { return decode[bool](text) }
		p.quiet = append(p.quiet, key)
	}
	return p
}

// Playing reports whether the animation runs.
func (p *Play) Playing() bool { return get[bool](p.model, "playing") }

// SetPlaying starts or stops the animation.
func (p *Play) SetPlaying(playing bool) { p.set("playing", playing) }
