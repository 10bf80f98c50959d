package widgets

// Option changes how a new widget looks or behaves.
type Option func(state, layout map[string]any)

// change sets a field of those widgets that have it. The models of the front end
// have none besides those of their class, and a saved notebook keeps the states.
func change(state map[string]any, key string, value any) {
	if _, has := state[key]; has {
		state[key] = value
	}
}

// Description is the label beside a widget.
func Description(text string) Option {
	return func(state, _ map[string]any) { state["description"] = text }
}

// Tooltip is shown while the mouse rests on a widget.
func Tooltip(text string) Option {
	return func(state, _ map[string]any) { state["tooltip"] = text }
}

// Disabled makes a widget that cannot be changed by hand.
func Disabled() Option {
	return func(state, _ map[string]any) { change(state, "disabled", true) }
}

// OnRelease has a slider or a text tell its value when the mouse or the Enter
// key is released, and not while it changes.
func OnRelease() Option {
	return func(state, _ map[string]any) { change(state, "continuous_update", false) }
}

// Step is the distance between the values of a slider; 1 for an IntSlider, a
// hundredth of the range for a FloatSlider if it is not given. It is more than 0.
func Step(step float64) Option {
	return func(state, _ map[string]any) {
		if _, whole := state["step"].(int); whole {
			state["step"] = max(int(step), 1)
		} else {
			change(state, "step", step)
		}
	}
}

// Width is the width of a widget as CSS writes it: "400px", "50%".
func Width(css string) Option {
	return func(_, layout map[string]any) { layout["width"] = css }
}
