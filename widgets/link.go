package widgets

import "fmt"

// Link is a connection between the values of two widgets.
type Link struct{ *model }

// JSLink keeps the values of two widgets equal in the front end, also in a page without a kernel: a
// [Play] moves a slider, a slider fills a progress bar. The values must have the same type. JSLink
// returns a [*LinkError] for a widget without a value or for different types.
func JSLink(source, target Widget) (*Link, error) {
	types := make([]string, 2)
	for i, w := range []Widget{source, target} {
		m, ok := w.(interface{ field(key string) any })
		if !ok || m.field("value") == nil {
			return nil, &LinkError{fmt.Sprintf("%T has no value that a front end can link", w)}
		}
		types[i] = fmt.Sprintf("%T", m.field("value"))
	}
	if types[0] != types[1] {
		return nil, &LinkError{fmt.Sprintf("the values of %T and %T have the types %s and %s", source, target, types[0], types[1])}
	}
	m := newModel("Link", controlsModule, moduleVersion, viewed(nil, map[string]any{
		"source": []string{reference + source.ID(), "value"}, "target": []string{reference + target.ID(), "value"},
	}))
	m.open()
	return &Link{m}, nil
}

// LinkError is returned for widgets that cannot be linked.
type LinkError struct {
	Problem string // names the widgets and the reason
}

// Error returns the problem.
func (e *LinkError) Error() string { return "widgets: link: " + e.Problem }

// field returns a field of the state; nil if there is none.
func (m *model) field(key string) any {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state[key]
}
