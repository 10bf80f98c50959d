package interp

import (
	"context"
	"go/types"
	"regexp"
	"time"
)

const (
	// liveLimit bounds how long a value is looked for while somebody waits for
	// a tooltip.
	liveLimit = 50 * time.Millisecond
	// liveLength is how much of a value is shown, in characters.
	liveLength = 200
)

// lineBreak is a line break with the indent behind it.
var lineBreak = regexp.MustCompile(`\n\s*`)

// liveValue is the value of a variable of the session as one line.
func (s *Session) liveValue(v *types.Var) (text string, ok bool) {
	if v == nil || len(s.executing) == 0 || !isData(v.Type(), map[types.Type]bool{}) {
		return "", false
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.live)
	defer cancel()
	result, err := s.Evaluate(ctx, v.Name())
	if err != nil {
		return "", false
	}
	if text, ok = result.Data["text/plain"].(string); !ok {
		return "", false
	}
	text = lineBreak.ReplaceAllString(text, " ")
	if r := []rune(text); len(r) > liveLength {
		text = string(r[:liveLength]) + "…"
	}
	return text, true
}

// isData says whether showing a value of type t runs no methods.
func isData(t types.Type, seen map[types.Type]bool) bool {
	if seen[t] {
		return true
	}
	seen[t] = true
	if types.NewMethodSet(t).Len() > 0 || types.NewMethodSet(types.NewPointer(t)).Len() > 0 {
		return false
	}
	switch t := t.Underlying().(type) {
	case *types.Basic:
		return t.Kind() != types.UnsafePointer
	case *types.Pointer:
		return isData(t.Elem(), seen)
	case *types.Slice:
		return isData(t.Elem(), seen)
	case *types.Array:
		return isData(t.Elem(), seen)
	case *types.Map:
		return isData(t.Key(), seen) && isData(t.Elem(), seen)
	case *types.Struct:
		for f := range t.Fields() {
			if !isData(f.Type(), seen) {
				return false
			}
		}
		return true
	}
	return false // an interface may hold anything
}
