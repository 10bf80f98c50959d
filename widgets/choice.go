package widgets

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// choice is a widget that selects one entry of a list.
type choice struct {
	valued[string]
	entries []string
}

// picked is the value of a widget that selects from a list of entries, and what the state has for it: an index, those of a range, or nil for none.
type picked[T any] struct {
	entry T
	index any
}

func (p picked[T]) MarshalJSON() ([]byte, error) { return json.Marshal(p.index) }

func (p picked[T]) value() T { return p.entry }

// newChoice returns a widget with its first entry selected.
func newChoice(name, style string, entries []string, state map[string]any, options []Option) choice {
	entries = append([]string{}, entries...)
	state["_options_labels"] = entries
	fit := func(value string) any {
		if i := slices.Index(entries, value); i >= 0 {
			return picked[string]{value, i}
		}
		return nil
	}
	read := func(text json.RawMessage) (any, error) {
		var i *int
		if err := json.Unmarshal(text, &i); err != nil || i == nil {
			return picked[string]{}, err
		}
		if err := checkIndices(entries, *i); err != nil {
			return nil, err
		}
		return picked[string]{entries[*i], *i}, nil
	}
	first := ""
	if len(entries) > 0 {
		first = entries[0]
	}
	k := kind[string]{name: name, style: style, key: "index", fit: fit, read: read, state: state}
	c := choice{newValued(k, first, options), entries}
	c.model.text = func() string { return fmt.Sprintf("%s(%q of %q)", name, c.now(), entries) }
	return c
}

// checkIndices returns an error if an index is not one of a list.
func checkIndices(entries []string, indices ...int) error {
	for k, i := range indices {
		if i < 0 || i >= len(entries) {
			return fmt.Errorf("index %d is out of range: the list has %d entries", i, len(entries))
		}
		if slices.Contains(indices[:k], i) {
			return fmt.Errorf("index %d occurs twice", i)
		}
	}
	return nil
}

// Value returns the selected entry, or "" if there is none.
func (c choice) Value() string { return c.now() }

// SetValue selects an entry. It does nothing if the list does not have it.
func (c choice) SetValue(value string) { c.put(value) }

// OnChange calls f when a user has selected an entry. While f runs, further changes are joined: the next
// call has the newest value.
func (c choice) OnChange(f func(value string)) { c.listen(f) }

// Index returns the index of the selected entry, or -1 if there is none.
func (c choice) Index() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok := c.state["index"].(picked[string]); ok && v.index != nil {
		return v.index.(int)
	}
	return -1
}

// Dropdown is a list of which one entry is selected.
type Dropdown struct{ choice }

// NewDropdown returns a list with its first entry selected. An empty list has no selection:
// Value is "" and Index is -1.
func NewDropdown(entries []string, options ...Option) *Dropdown {
	return &Dropdown{newChoice("Dropdown", "DescriptionStyle", entries, map[string]any{}, options)}
}

// RadioButtons is a column of buttons of which one is selected.
type RadioButtons struct{ choice }

// NewRadioButtons returns buttons of which the first is selected. Without entries Value is "" and
// Index is -1.
func NewRadioButtons(entries []string, options ...Option) *RadioButtons {
	state := map[string]any{"orientation": "vertical"}
	return &RadioButtons{newChoice("RadioButtons", "DescriptionStyle", entries, state, options)}
}

// Select is a list that shows several entries, of which one is selected.
type Select struct{ choice }

// NewSelect returns a list with its first entry selected. An empty list has no selection: Value is ""
// and Index is -1.
func NewSelect(entries []string, options ...Option) *Select {
	return &Select{newChoice("Select", "DescriptionStyle", entries, map[string]any{"rows": 5}, options)}
}

// ToggleButtons is a row of buttons of which one is pressed.
type ToggleButtons struct{ choice }

// NewToggleButtons returns buttons of which the first is pressed. Without entries Value is "" and
// Index is -1.
func NewToggleButtons(entries []string, options ...Option) *ToggleButtons {
	return &ToggleButtons{newChoice("ToggleButtons", "ToggleButtonsStyle", entries,
		map[string]any{"button_style": "", "icons": []string{}, "tooltips": []string{}}, options)}
}

// SelectionSlider is a slider whose positions are the entries of a list.
type SelectionSlider struct{ choice }

// NewSelectionSlider returns a slider at its first entry. A slider needs a position: an empty list gets
// the entry "".
func NewSelectionSlider(entries []string, options ...Option) *SelectionSlider {
	if len(entries) == 0 {
		entries = []string{""}
	}
	return &SelectionSlider{newChoice("SelectionSlider", sliderStyle, entries, sliderOfEntries(), options)}
}

func sliderOfEntries() map[string]any {
	return map[string]any{"orientation": "horizontal", "readout": true, "continuous_update": true, "behavior": "drag-tap"}
}

// several are indices of a list of entries, as the state has them.
type several struct {
	entries []string
	indices []int
}

func (s several) MarshalJSON() ([]byte, error) { return json.Marshal(s.indices) }

func (s several) value() []string {
	values := make([]string, len(s.indices))
	for k, i := range s.indices {
		values[k] = s.entries[i]
	}
	return values
}

// SelectMultiple is a list of which any number of entries is selected.
type SelectMultiple struct{ valued[[]string] }

// NewSelectMultiple returns a list without a selection.
func NewSelectMultiple(entries []string, options ...Option) *SelectMultiple {
	entries = append([]string{}, entries...)
	fit := func(values []string) any {
		indices := make([]int, len(values))
		for k, v := range values {
			indices[k] = slices.Index(entries, v)
		}
		if checkIndices(entries, indices...) != nil {
			return nil
		}
		return several{entries, indices}
	}
	read := func(text json.RawMessage) (any, error) {
		indices, err := decode[[]int](text)
		if err == nil {
			err = checkIndices(entries, indices...)
		}
		return several{entries, indices}, err
	}
	s := &SelectMultiple{newValued(kind[[]string]{
		name: "SelectMultiple", style: "DescriptionStyle", key: "index", fit: fit, read: read,
		state: map[string]any{"_options_labels": entries, "rows": 5},
	}, nil, options)}
	s.text = func() string { return fmt.Sprintf("SelectMultiple(%q of %q)", s.now(), entries) }
	return s
}

// Value returns the selected entries.
func (s *SelectMultiple) Value() []string { return s.now() }

// SetValue selects entries. It does nothing if the list does not have all of them, or if one occurs twice.
func (s *SelectMultiple) SetValue(values []string) { s.put(values) }

// OnChange calls f when a user has changed the selection. While f runs, further changes are joined: the
// next call has the newest selection.
func (s *SelectMultiple) OnChange(f func(values []string)) { s.listen(f) }

// Index returns the indices of the selected entries.
func (s *SelectMultiple) Index() []int { return slices.Clone(get[several](s.model, "index").indices) }

// SelectionRangeSlider is a slider that selects a range of a list of entries.
type SelectionRangeSlider struct{ valued[[2]string] }

// Value returns the first and the last entry of the range.
func (s *SelectionRangeSlider) Value() [2]string { return s.now() }

// SetValue selects a range, given its ends. It does nothing if the list does not have them.
func (s *SelectionRangeSlider) SetValue(ends [2]string) { s.put(ends) }

// OnChange calls f when a user has changed the range. While f runs, further changes are joined: the next
// call has the newest range.
func (s *SelectionRangeSlider) OnChange(f func(ends [2]string)) { s.listen(f) }

// NewSelectionRangeSlider returns a slider at its first entry. A slider needs a position: an empty list
// gets the entry "".
func NewSelectionRangeSlider(entries []string, options ...Option) *SelectionRangeSlider {
	entries = append([]string{}, entries...)
	if len(entries) == 0 {
		entries = []string{""}
	}
	span := func(i, j int) any { return picked[[2]string]{[2]string{entries[i], entries[j]}, [2]int{i, j}} }
	fit := func(v [2]string) any {
		i, j := slices.Index(entries, v[0]), slices.Index(entries, v[1])
		if i < 0 || j < 0 {
			return nil
		}
		return span(min(i, j), max(i, j))
	}
	read := func(text json.RawMessage) (any, error) {
		v, err := decode[[]int](text)
		if err == nil && (len(v) != 2 || v[0] > v[1] || v[0] < 0 || v[1] >= len(entries)) {
			err = errEnds
		}
		if err != nil {
			return nil, err
		}
		return span(v[0], v[1]), nil
	}
	state := sliderOfEntries()
	state["_options_labels"] = entries
	s := &SelectionRangeSlider{newValued(kind[[2]string]{
		name: "SelectionRangeSlider", style: sliderStyle, key: "index", fit: fit, read: read, state: state,
	}, [2]string{entries[0], entries[0]}, options)}
	s.text = func() string { return fmt.Sprintf("SelectionRangeSlider(%q of %q)", s.now(), entries) }
	return s
}

// errEnds is returned for a value of the front end that is not a range.
var errEnds = errors.New("the value is not a range of the slider")
