package display

import (
	"fmt"
	"image"
	"reflect"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// Result displays values like the last expression of a cell: strings are quoted as in Go
// source, functions and channels are shown as their type, and several values as one line. Of a
// Displayer and a nil error only the Displayer is displayed. In a plain program Result prints
// the text.
func Result(values ...any) {
	if len(values) == 2 && values[1] == nil && showsItself(values[0]) {
		values = values[:1]
	}
	m := Message{Kind: KindDisplay, ID: uuid.NewString()}
	if len(values) == 1 && !isPlain(values[0]) {
		m.Data, m.Metadata = Render(values[0])
	} else {
		texts := make([]string, len(values))
		for i, v := range values {
			texts[i] = resultText(v)
		}
		m.Data = map[string]any{"text/plain": strings.Join(texts, ", ")}
	}
	send(m)
}

// showsItself reports whether a value has more than a text form.
func showsItself(v any) bool {
	_, ok := v.(image.Image)
	return ok || rich(v)
}

// rich reports whether a value has a representation of its own.
func rich(v any) bool {
	switch v.(type) {
	case Displayer, Reporter:
		return true
	}
	return false
}

// isPlain reports whether the result form of a value is its own text.
func isPlain(v any) bool {
	if rich(v) {
		return false
	}
	switch v.(type) {
	case error, fmt.Stringer:
		return true
	}
	switch reflect.ValueOf(v).Kind() {
	case reflect.String, reflect.Func, reflect.Chan:
		return true
	}
	return false
}

// resultText returns the text of one value.
func resultText(v any) string {
	v = withoutMonotonic(v)
	if !isPlain(v) {
		data, _ := Render(v)
		text, _ := data["text/plain"].(string)
		return text
	}
	switch v.(type) {
	case error, fmt.Stringer:
		return shorten(fmt.Sprint(v))
	}
	if r := reflect.ValueOf(v); r.Kind() == reflect.String {
		return shorten(strconv.Quote(r.String()))
	}
	return fmt.Sprintf("%T", v)
}
