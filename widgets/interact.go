package widgets

import (
	"fmt"
	"reflect"

	"github.com/quernlab/quern/display"
)

// control is a widget with a value.
type control interface {
	Widget
	current() any
	onChange(func())
	// label sets the description, if there is none.
	label(text string)
}

// parameterNames returns a function and, if a cell passed it, the names of its parameters.
func parameterNames(f any) (function any, names []string) {
	if named, ok := f.(interface {
		Function() any
		ParameterNames() []string
	}); ok {
		return named.Function(), named.ParameterNames()
	}
	return f, nil
}

// Interact displays a control for each parameter of the function f, calls f with their values,
// and displays the results below them. It calls f again whenever a control changes. Each
// parameter is described by one of
//
//   - a widget that has a value, for instance NewIntSlider(1, 10, 5);
//   - an integer n: a slider from -n to 3n (from 0 to 10 for 0);
//   - any other number: a slider over the same range;
//   - true or false: a checkbox; a string: a text field;
//   - a []string: a dropdown list.
//
// The results are displayed like the last expression of a cell; an error or a panic is
// displayed in their place. Interact returns an error if the number of descriptions differs
// from the number of parameters, or if one does not fit.
//
// In a cell, each control is labeled with the name of its parameter, unless it is a widget
// with a Description. Compiled programs do not know parameter names.
func Interact(f any, parameters ...any) (*Box, error) {
	f, names := parameterNames(f)
	call := reflect.ValueOf(f)
	if call.Kind() != reflect.Func {
		return nil, fmt.Errorf("widgets: the first argument of Interact must be a function, got %T", f)
	}
	t := call.Type()
	if t.IsVariadic() || t.NumIn() != len(parameters) {
		return nil, fmt.Errorf("widgets: Interact got %d controls for the parameters of %v: pass one for each parameter", len(parameters), t)
	}
	controls := make([]control, len(parameters))
	children := make([]Widget, 0, len(parameters)+1)
	for i, p := range parameters {
		c, err := newParameter(p)
		if err != nil {
			return nil, fmt.Errorf("widgets: parameter %d: %w", i+1, err)
		}
		if value := reflect.TypeOf(c.current()); !fits(value, t.In(i)) {
			return nil, fmt.Errorf("widgets: parameter %d has type %v, but its control has values of type %v", i+1, t.In(i), value)
		}
		if i < len(names) {
			c.label(names[i])
		}
		controls[i] = c
		children = append(children, c)
	}
	output := NewOutput()
	run := func() { output.Set(results(call, controls)...) }
	for _, c := range controls {
		c.onChange(run)
	}
	run()
	return NewVBox(append(children, output)...), nil
}

// fits reports whether every value of a control can be converted to the parameter without
// change.
func fits(value, parameter reflect.Type) bool {
	return value.AssignableTo(parameter) || value.ConvertibleTo(parameter) && value.Kind() == parameter.Kind()
}

// results calls the function. A nil error among its results is omitted.
func results(call reflect.Value, controls []control) (shown []any) {
	defer func() {
		if p := recover(); p != nil {
			shown = []any{display.Text(fmt.Sprintf("panic: %v", p))}
		}
	}()
	arguments := make([]reflect.Value, len(controls))
	for i, c := range controls {
		arguments[i] = reflect.ValueOf(c.current()).Convert(call.Type().In(i))
	}
	for _, out := range call.Call(arguments) {
		v := out.Interface()
		if err, ok := v.(error); ok {
			return []any{display.Text("error: " + err.Error())}
		}
		if v != nil {
			shown = append(shown, v)
		}
	}
	return shown
}

// newParameter returns the control for a description.
func newParameter(p any) (control, error) {
	switch p := p.(type) {
	case control:
		return p, nil
	case int:
		low, high := intRange(p)
		return NewIntSlider(low, high, p), nil
	case float64:
		low, high := min(-p, 3*p), max(-p, 3*p)
		if p == 0 {
			low, high = 0, 1
		}
		return NewFloatSlider(low, high, p), nil
	case bool:
		return NewCheckbox(p), nil
	case string:
		return NewText(p), nil
	case []string:
		return NewDropdown(p), nil
	}
	return nil, fmt.Errorf("no control for type %T: want an int, float64, bool, string, []string or a widget with a value", p)
}

func intRange(n int) (low, high int) {
	if n == 0 {
		return 0, 10
	}
	return min(-n, 3*n), max(-n, 3*n)
}
