package widgets

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Box is an arrangement of widgets.
type Box struct{ *model }

// NewVBox arranges widgets in a column.
func NewVBox(children ...Widget) *Box { return newBox("VBox", children, nil, nil) }

// NewHBox arranges widgets in a row.
func NewHBox(children ...Widget) *Box { return newBox("HBox", children, nil, nil) }

// NewGridBox arranges widgets in rows of this many columns, at least one.
func NewGridBox(columns int, children ...Widget) *Box {
	return newBox("GridBox", children, nil, []Option{func(_, layout map[string]any) {
		layout["grid_template_columns"] = fmt.Sprintf("repeat(%d, max-content)", max(columns, 1))
	}})
}

// newBox returns a box with titles of the children, if its model has them.
func newBox(name string, children []Widget, titles []string, options []Option) *Box {
	references := make([]string, len(children))
	for i, c := range children {
		references[i] = reference + c.ID()
	}
	state := map[string]any{"children": references, "box_style": ""}
	if titles != nil {
		state["titles"] = titles
	}
	m := newModel(name, controlsModule, moduleVersion, state)
	m.text = func() string {
		lines := make([]string, 0, len(children))
		for i, c := range children {
			if titles != nil && titles[i] != "" {
				lines = append(lines, titles[i]+":")
			}
			text, _ := c.MIMEBundle()["text/plain"].(string)
			lines = append(lines, text)
		}
		separator := "\n"
		if name == "HBox" {
			separator = "  "
		}
		return strings.Join(lines, separator)
	}
	m.finish("", options)
	return &Box{m}
}

// pages is a box that shows one of its children.
type pages struct {
	*Box
	children int
}

// newPages returns a box that shows a child, or none if the index is -1. Missing titles are empty.
func newPages(name string, titles []string, children []Widget, index int) pages {
	all := make([]string, len(children))
	copy(all, titles)
	p := pages{children: len(children)}
	selected := func(state, _ map[string]any) { state["selected_index"] = p.wire(index) }
	p.Box = newBox(name, children, all, []Option{selected})
	p.accepts["selected_index"] = func(text json.RawMessage) (any, error) {
		var i *int
		if err := json.Unmarshal(text, &i); err != nil || i == nil {
			return nil, err
		}
		if *i < 0 || *i >= p.children {
			return nil, fmt.Errorf("index %d is out of range: there are %d children", *i, p.children)
		}
		return *i, nil
	}
	return p
}

// wire returns an index as the model has it: nil for none.
func (p pages) wire(index int) any {
	if index < 0 || index >= p.children {
		return nil
	}
	return index
}

// SelectedIndex returns the index of the child that is shown, or -1 if there is none.
func (p pages) SelectedIndex() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i, ok := p.state["selected_index"].(int); ok {
		return i
	}
	return -1
}

// SetSelectedIndex shows a child, or none if there is no child with this index.
func (p pages) SetSelectedIndex(index int) { p.set("selected_index", p.wire(index)) }

// OnChange calls f with the index of the child that a user has selected, or -1.
func (p pages) OnChange(f func(index int)) { p.onChange(func() { f(p.SelectedIndex()) }) }

// Tab is a box of pages with a tab for each child.
type Tab struct{ pages }

// NewTab returns pages of which the first is shown.
func NewTab(titles []string, children ...Widget) *Tab {
	return &Tab{newPages("Tab", titles, children, 0)}
}

// Accordion is a column of titles; a click shows or hides the child below a title.
type Accordion struct{ pages }

// NewAccordion returns a column of titles whose children are hidden.
func NewAccordion(titles []string, children ...Widget) *Accordion {
	return &Accordion{newPages("Accordion", titles, children, -1)}
}

// Stack is a box that shows the child that the program selects.
type Stack struct{ pages }

// NewStack returns a box that shows its first child.
func NewStack(children ...Widget) *Stack { return &Stack{newPages("Stack", nil, children, 0)} }
