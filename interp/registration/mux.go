package registration

import (
	"errors"
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"sync"
	"unsafe"
)

// A pattern with wildcards conflicts with other patterns that match the same requests:
// "/{x}" of one run of a cell with "/{y}" of the next. A mux has no method that removes a
// pattern, so its content is replaced by that of a mux that was made without the pattern.

// conflicting finds the registered pattern in the text with which a mux panics, and
// registeredAt the position of a registration, which is in this package.
var (
	conflicting  = regexp.MustCompile(`conflicts with pattern ("(?:[^"\\]|\\.)*")`)
	registeredAt = regexp.MustCompile(` \(registered at [^)]*\)`)
)

// handleNew is mux.Handle(pattern, handler) for a pattern that the mux does not have. It
// removes patterns of earlier runs that conflict with it.
func (h *handlers) handleNew(mux *http.ServeMux, pattern string, handler http.Handler) {
	for {
		err := tryHandle(mux, pattern, handler)
		if err == nil {
			return
		}
		text := err.Error()
		if found := conflicting.FindStringSubmatch(text); found != nil {
			other, unquoteErr := strconv.Unquote(found[1])
			if unquoteErr == nil && h.names.remove(within(h.names, "http", mux, other)) && removePattern(mux, other) {
				continue
			}
		}
		if short := registeredAt.ReplaceAllString(text, ""); short != text {
			err = errors.New(short)
		}
		panic(err)
	}
}

// tryHandle calls mux.Handle(pattern, handler) and returns the error that it panics with.
func tryHandle(mux *http.ServeMux, pattern string, handler http.Handler) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case error:
			err = r
		default:
			panic(r)
		}
	}()
	mux.Handle(pattern, handler)
	return nil
}

// removePattern removes a pattern from a mux. It returns false if a mux has other fields in
// this release of Go.
func removePattern(mux *http.ServeMux, pattern string) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	v, without := reflect.ValueOf(mux).Elem(), http.NewServeMux()
	mu := accessible(v, "mu").Addr().Interface().(*sync.RWMutex)
	mu.Lock()
	defer mu.Unlock()
	handlers := map[string]http.Handler{}
	collectHandlers(accessible(v, "tree"), handlers)
	if handlers[pattern] == nil {
		return false
	}
	delete(handlers, pattern)
	for p, h := range handlers {
		without.Handle(p, h)
	}
	for _, name := range []string{"tree", "index"} {
		accessible(v, name).Set(accessible(reflect.ValueOf(without).Elem(), name))
	}
	return true
}

// collectHandlers adds the patterns and handlers of a node of a mux's decision tree, and of
// the nodes below it.
func collectHandlers(node reflect.Value, handlers map[string]http.Handler) {
	if pattern := accessible(node, "pattern"); !pattern.IsNil() {
		handlers[accessible(pattern.Elem(), "str").String()] = accessible(node, "handler").Interface().(http.Handler)
	}
	for _, name := range []string{"multiChild", "emptyChild"} {
		if child := accessible(node, name); !child.IsNil() {
			collectHandlers(child.Elem(), handlers)
		}
	}
	children := accessible(node, "children")
	few, many := accessible(children, "s"), accessible(children, "m")
	for i := range few.Len() {
		collectHandlers(accessible(few.Index(i), "value").Elem(), handlers)
	}
	for entries := many.MapRange(); entries.Next(); {
		collectHandlers(entries.Value().Elem(), handlers)
	}
}

// accessible returns a field of v, which may be unexported, as one that can be read and set.
func accessible(v reflect.Value, name string) reflect.Value {
	f := v.FieldByName(name)
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
}
