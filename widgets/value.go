package widgets

import (
	"encoding/json"
	"errors"
	"math"
)

// shown is a widget with a value that only programs set.
type shown[T any] struct {
	*model
	key string // of the state
	// fit returns what the state has for a value: limited to the range of the widget, or in the format
	// of the front end, as a type with the method value. It returns nil for a value to ignore.
	fit func(T) any
}

// kind describes the model of a widget with a value of type T.
type kind[T any] struct {
	name, style string
	key         string                             // of the value; "value" if empty
	fit         func(T) any                        // see shown; nil for any value
	read        func(json.RawMessage) (any, error) // decodes what fit returns; nil for decode and fit
	state       map[string]any                     // other fields
}

func newShown[T any](k kind[T], value T, options []Option) shown[T] {
	if k.key == "" {
		k.key = "value"
	}
	if k.fit == nil {
		k.fit = func(v T) any { return v }
	}
	k.state[k.key] = k.fit(value)
	return shown[T]{newControl(k.name, k.style, k.state, options), k.key, k.fit}
}

// now returns the value of the widget.
func (s shown[T]) now() T {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch v := s.state[s.key].(type) {
	case T:
		return v
	case interface{ value() T }:
		return v.value()
	}
	var none T
	return none
}

// put sets the value, limited to the range of the widget. It ignores what the widget cannot have: NaN,
// or an entry that is not in its list.
func (s shown[T]) put(value T) {
	if v := s.fit(value); v != nil {
		s.set(s.key, v)
	}
}

// valued is a widget with a value that users change.
type valued[T any] struct{ shown[T] }

func newValued[T any](k kind[T], value T, options []Option) valued[T] {
	k.state["disabled"] = false
	w := valued[T]{newShown(k, value, options)}
	w.accepts[w.key] = k.read
	if k.read == nil {
		w.accepts[w.key] = func(text json.RawMessage) (any, error) {
			v, err := decode[T](text)
			if err != nil {
				return nil, err
			}
			if fitted := w.fit(v); fitted != nil {
				return fitted, nil
			}
			return nil, errRange
		}
	}
	return w
}

// listen calls f when a user has changed the value.
func (w valued[T]) listen(f func(value T)) { w.onChange(func() { f(w.now()) }) }

func (w valued[T]) current() any { return w.now() }

var (
	errNull  = errors.New("null")
	errRange = errors.New("the widget cannot have this value")
)

// decode decodes a value; it rejects null.
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

// exact limits the integers of models, because front ends compute with float64.
const exact = 1 << 53

// readInt decodes an integer, which some front ends write with a decimal point.
func readInt(fit func(int) any) func(json.RawMessage) (any, error) {
	return func(text json.RawMessage) (any, error) {
		v, err := decode[float64](text)
		return fit(int(clamp(v, -exact, exact))), err
	}
}

func clamp[T int | float64](v, low, high T) T { return max(low, min(v, high)) }

// within returns a function that limits numbers to a range, and that returns nil for NaN.
func within[T int | float64](low, high T) func(T) any {
	if i, ok := any(low).(int); ok {
		low, high = T(clamp(i, -exact, exact)), T(clamp(int(high), -exact, exact))
	}
	return func(v T) any {
		if math.IsNaN(float64(v)) {
			return nil
		}
		return clamp(v, low, high)
	}
}

// order returns the limits of a range, the lower one first.
func order[T int | float64](low, high T) (T, T) { return min(low, high), max(low, high) }

// orElse returns value, or other if value is NaN.
func orElse(value, other float64) float64 {
	if math.IsNaN(value) {
		return other
	}
	return value
}
