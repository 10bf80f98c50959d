package display

import (
	"fmt"
	"image"
	"reflect"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// Result displays values like the last expression of a cell, as [RenderResult] says. Of a Displayer and a
// nil error only the Displayer is displayed. In a plain program Result prints the text.
func Result(values ...any) {
	if len(values) == 2 && values[1] == nil && showsItself(values[0]) {
		values = values[:1]
	}
	data, metadata := RenderResult(values...)
	send(Message{Kind: KindDisplay, ID: uuid.NewString(), Data: data, Metadata: metadata})
}

// RenderResult returns the MIME bundle of the values of the last expression of a cell: strings are quoted as in Go
// source, functions and channels are shown as their type, everything else is as of [Render], and several
// values are one text, separated by ", ".
func RenderResult(values ...any) (data, metadata map[string]any) {
	if len(values) == 1 {
		return renderResult(values[0])
	}
	texts := make([]string, len(values))
	for i, v := range values {
		data, _ := renderResult(v)
		texts[i], _ = data["text/plain"].(string)
	}
	return map[string]any{"text/plain": strings.Join(texts, ", ")}, nil
}

func renderResult(v any) (data, metadata map[string]any) {
	if text, ok := resultText(withoutMonotonic(v)); ok {
		return map[string]any{"text/plain": shorten(text)}, nil
	}
	return Render(v)
}

// resultText returns the text of a value whose result has no other form; ok is false for other values.
func resultText(v any) (text string, ok bool) {
	if rich(v) {
		return "", false
	}
	switch v.(type) {
	case error, fmt.Stringer:
		return fmt.Sprint(v), true
	}
	switch value := reflect.ValueOf(v); value.Kind() {
	case reflect.String:
		return strconv.Quote(value.String()), true
	case reflect.Func, reflect.Chan:
		return fmt.Sprintf("%T", v), true
	}
	return "", false
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
