package interp

import (
	"net/http"
	"net/rpc"
	"reflect"
	"sync/atomic"
	"weak"
)

// A replaceableHandler is what a cell registers with an http.ServeMux: a mux cannot forget a pattern.
type replaceableHandler struct{ current atomic.Pointer[http.Handler] }

// ServeHTTP implements http.Handler.
func (h *replaceableHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	(*h.current.Load()).ServeHTTP(w, r)
}

// registeringMethods are methods of compiled types that register names, for lowered code.
func (s *Session) registeringMethods() map[string]reflect.Value {
	methods := s.flagMethods()
	methods["MuxHandle"] = reflect.ValueOf(s.handle)
	methods["MuxHandleFunc"] = reflect.ValueOf(s.handleFunc)
	methods["MuxHandler"] = reflect.ValueOf(handlerOf)
	return methods
}

// handle is mux.Handle(pattern, handler).
func (s *Session) handle(mux *http.ServeMux, pattern string, handler http.Handler) {
	if mux == nil || handler == nil {
		mux.Handle(pattern, handler) // panics
		return
	}
	key := within(s, "http", mux, pattern)
	// The mux holds the handler, and that perhaps the mux.
	if held, ok := s.earlier(key).(weak.Pointer[replaceableHandler]); ok {
		if h := held.Value(); h != nil {
			h.current.Store(&handler)
			return
		}
	}
	h := &replaceableHandler{}
	h.current.Store(&handler)
	mux.Handle(pattern, h)
	s.register(key, weak.Make(h))
}

// handleFunc is mux.HandleFunc(pattern, handler).
func (s *Session) handleFunc(mux *http.ServeMux, pattern string, handler func(http.ResponseWriter, *http.Request)) {
	if handler == nil {
		mux.HandleFunc(pattern, nil) // panics
		return
	}
	s.handle(mux, pattern, http.HandlerFunc(handler))
}

func (s *Session) handleDefault(pattern string, handler http.Handler) {
	s.handle(http.DefaultServeMux, pattern, handler)
}

func (s *Session) handleFuncDefault(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	s.handleFunc(http.DefaultServeMux, pattern, handler)
}

// handlerOf is mux.Handler(r).
func handlerOf(mux *http.ServeMux, r *http.Request) (http.Handler, string) {
	h, pattern := mux.Handler(r)
	if h, ok := h.(*replaceableHandler); ok {
		return *h.current.Load(), pattern
	}
	return h, pattern
}

// handleRPC is rpc.HandleHTTP, which registers the same handlers each time.
func (s *Session) handleRPC() {
	key := within(s, "rpc", http.DefaultServeMux, rpc.DefaultRPCPath)
	if s.earlier(key) == nil {
		rpc.HandleHTTP()
		s.register(key, true)
	}
}
