package registration

import (
	"net/http"
	"net/rpc"
	"reflect"
	"sync/atomic"
	"weak"
)

// handlers registers handlers of package http.
type handlers struct{ names *names }

// A replaceableHandler is registered with an http.ServeMux instead of a cell's handler, to which it forwards.
type replaceableHandler struct{ current atomic.Pointer[http.Handler] }

// ServeHTTP implements http.Handler.
func (h *replaceableHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	(*h.current.Load()).ServeHTTP(w, r)
}

// methods returns methods of http.ServeMux, for lowered code.
func (h *handlers) methods() map[string]reflect.Value {
	return map[string]reflect.Value{
		"(*net/http.ServeMux).Handle":     reflect.ValueOf(h.handle),
		"(*net/http.ServeMux).HandleFunc": reflect.ValueOf(h.handleFunc),
		"(*net/http.ServeMux).Handler":    reflect.ValueOf(handlerOf),
	}
}

// handle is mux.Handle(pattern, handler).
func (h *handlers) handle(mux *http.ServeMux, pattern string, handler http.Handler) {
	if mux == nil || handler == nil {
		mux.Handle(pattern, handler) // panics
		return
	}
	k := within(h.names, "http", mux, pattern)
	// The pointer is weak because the mux holds the handler, which may hold the mux.
	if pointer, ok := h.names.earlier(k).(weak.Pointer[replaceableHandler]); ok {
		if r := pointer.Value(); r != nil {
			r.current.Store(&handler)
			return
		}
	}
	r := &replaceableHandler{}
	r.current.Store(&handler)
	h.handleNew(mux, pattern, r)
	h.names.add(k, weak.Make(r))
}

// handleFunc is mux.HandleFunc(pattern, handler).
func (h *handlers) handleFunc(mux *http.ServeMux, pattern string, handler func(http.ResponseWriter, *http.Request)) {
	if handler == nil {
		mux.HandleFunc(pattern, nil) // panics
		return
	}
	h.handle(mux, pattern, http.HandlerFunc(handler))
}

func (h *handlers) handleDefault(pattern string, handler http.Handler) {
	h.handle(http.DefaultServeMux, pattern, handler)
}

func (h *handlers) handleFuncDefault(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	h.handleFunc(http.DefaultServeMux, pattern, handler)
}

// handlerOf is mux.Handler(r).
func handlerOf(mux *http.ServeMux, r *http.Request) (http.Handler, string) {
	h, pattern := mux.Handler(r)
	if h, ok := h.(*replaceableHandler); ok {
		return *h.current.Load(), pattern
	}
	return h, pattern
}

// handleRPC is rpc.HandleHTTP. It always registers the same handlers.
func (h *handlers) handleRPC() {
	k := within(h.names, "rpc", http.DefaultServeMux, rpc.DefaultRPCPath)
	if h.names.earlier(k) == nil {
		rpc.HandleHTTP()
		h.names.add(k, true)
	}
}
