package rt

import (
	"math/rand"
	"net/http"
)

// wrapResponse wraps a response writer. The wrapper has the methods that
// http.ResponseController looks for if the type has them.
func wrapResponse(b Box) any {
	set := b.T.set.Load()
	flushes := set.hasSignature("Flush", "func()")
	unwraps := set.hasSignature("Unwrap", "func() http.ResponseWriter")
	switch {
	case flushes && unwraps:
		return unwrappingFlusher{flushingResponse{response{b}}}
	case flushes:
		return flushingResponse{response{b}}
	case unwraps:
		return unwrappingResponse{response{b}}
	}
	return response{b}
}

type response struct{ Box }

func (r response) Header() http.Header         { return call0[http.Header](r.Box, "Header") }
func (r response) Write(p []byte) (int, error) { return r.write(p) }
func (r response) WriteHeader(code int)        { callVoid1(r.Box, "WriteHeader", code) }
func (r response) unwrap() http.ResponseWriter {
	return call0[http.ResponseWriter](r.Box, "Unwrap")
}

type flushingResponse struct{ response }

func (r flushingResponse) Flush() { r.method("Flush").call(r.Box) }

type unwrappingResponse struct{ response }

func (r unwrappingResponse) Unwrap() http.ResponseWriter { return r.unwrap() }

type unwrappingFlusher struct{ flushingResponse }

func (r unwrappingFlusher) Unwrap() http.ResponseWriter { return r.unwrap() }

// wrapSource wraps a source of random numbers. The wrapper has Uint64, which package
// math/rand prefers, if the type has it.
func wrapSource(b Box) any {
	if b.T.set.Load().hasSignature("Uint64", "func() uint64") {
		return source64{source{b}}
	}
	return source{b}
}

type source struct{ Box }

func (s source) Int63() int64    { return call0[int64](s.Box, "Int63") }
func (s source) Seed(seed int64) { callVoid1(s.Box, "Seed", seed) }

type source64 struct{ source }

func (s source64) Uint64() uint64 { return call0[uint64](s.Box, "Uint64") }

var _ rand.Source64 = source64{}
