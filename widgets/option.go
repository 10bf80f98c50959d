package widgets

// Option sets the appearance or behavior of a new widget.
type Option func(state, layout map[string]any)

// change sets a field if the widget has it. The models of the front end accept only the fields
// of their class, and saved notebooks contain the states.
func change(state map[string]any, key string, value any) {
	if _, has := state[key]; has {
		state[key] = value
	}
}

// Description sets the label beside a widget.
func Description(text string) Option {
	return func(state, _ map[string]any) { state["description"] = text }
}

// Tooltip sets the text that is shown while the mouse is over a widget.
func Tooltip(text string) Option {
	return func(state, _ map[string]any) { state["tooltip"] = text }
}

// Disabled makes a widget that users cannot change.
func Disabled() Option {
	return func(state, _ map[string]any) { change(state, "disabled", true) }
}

// OnRelease makes a slider or text field report its value only when the mouse or the Enter key
// is released, not while it changes.
func OnRelease() Option {
	return func(state, _ map[string]any) { change(state, "continuous_update", false) }
}

// Placeholder sets the text that an empty text field shows.
func Placeholder(text string) Option {
	return func(state, _ map[string]any) { change(state, "placeholder", text) }
}

// Accept limits the files that a user can select for a FileUpload: ".csv,.txt", "image/*". Front ends
// let users select others nevertheless.
func Accept(types string) Option {
	return func(state, _ map[string]any) { change(state, "accept", types) }
}

// Multiple lets a user select several files for a FileUpload.
func Multiple() Option {
	return func(state, _ map[string]any) { change(state, "multiple", true) }
}

// Step sets the distance between the values of a slider or of a field for numbers, which must be
// positive. The default is 1 for integers, a hundredth of the range for a FloatSlider, and 0.1 for the
// exponents of a FloatLogSlider.
func Step(step float64) Option {
	return func(state, _ map[string]any) {
		if _, whole := state["step"].(int); whole {
			state["step"] = max(int(step), 1)
		} else {
			change(state, "step", step)
		}
	}
}

// Width sets the width of a widget in CSS units: "400px", "50%".
func Width(css string) Option {
	return func(_, layout map[string]any) { layout["width"] = css }
}
