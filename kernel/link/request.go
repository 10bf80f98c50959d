package link

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
)

// AnsweredBy is embedded in the type of a request and names the type of its reply.
type AnsweredBy[Reply any] struct{}

func (AnsweredBy[Reply]) newReply() any        { return new(Reply) }
func (AnsweredBy[Reply]) answer() (zero Reply) { return zero }

// Request is a request of any type: a struct that embeds AnsweredBy.
type Request interface {
	newReply() any // a pointer to a zero reply
}

// RequestFor is a request that a Reply answers.
type RequestFor[Reply any] interface {
	Request
	answer() Reply
}

// An asker is a Worker or a Client.
type asker interface {
	Ask(ctx context.Context, request Request) (reply any, err error)
}

// Ask sends a request to a worker and returns its reply:
//
//	completion, err := link.Ask(ctx, worker, link.Complete{Code: "fmt.", Offset: 4})
func Ask[Reply any](ctx context.Context, w asker, request RequestFor[Reply]) (Reply, error) {
	var none Reply
	reply, err := w.Ask(ctx, request)
	if err != nil {
		return none, err
	}
	typed, ok := reply.(*Reply)
	if !ok {
		return none, fmt.Errorf("link: the reply to %s is a %T, want a %T", nameOf(request), reply, &none)
	}
	return *typed, nil
}

// Handlers answers requests, each with the function for its type. A worker that embeds it
// has the method Ask.
type Handlers map[string]func(ctx context.Context, request Request) (reply any, err error)

// On adds the function that answers requests of type R.
func On[R RequestFor[Reply], Reply any](h Handlers, answer func(context.Context, R) (Reply, error)) {
	var zero R
	h[nameOf(zero)] = func(ctx context.Context, request Request) (any, error) {
		reply, err := answer(ctx, request.(R))
		return &reply, err
	}
}

// Ask answers a request. The reply is a pointer.
func (h Handlers) Ask(ctx context.Context, request Request) (any, error) {
	answer := h[nameOf(request)]
	if answer == nil {
		return nil, fmt.Errorf("link: no handler for %s", nameOf(request))
	}
	return answer(ctx, request)
}

// Output is embedded in a reply to a request whose handler may produce output.
type Output struct {
	// Mark is the number of the mark in the output streams after which there is no more
	// output of the handler. Packages worker and child set and use it.
	Mark uint64 `json:"mark,omitempty"`
}

func (o *Output) mark() *uint64 { return &o.Mark }

// MarkOf returns the mark of a reply, or nil if its handler produces no output.
func MarkOf(reply any) *uint64 {
	if r, ok := reply.(interface{ mark() *uint64 }); ok {
		return r.mark()
	}
	return nil
}

// nameOf returns the name of a request on the wire, which is that of its type.
func nameOf(request Request) string { return reflect.TypeOf(request).Name() }

func byName(requests ...Request) map[string]reflect.Type {
	types := make(map[string]reflect.Type, len(requests))
	for _, r := range requests {
		types[nameOf(r)] = reflect.TypeOf(r)
	}
	return types
}

// decodeRequest returns the request with a name on the wire.
func decodeRequest(name string, body json.RawMessage) (Request, error) {
	t, ok := requests[name]
	if !ok {
		return nil, fmt.Errorf("unknown method %q", name)
	}
	request := reflect.New(t)
	if err := decode(body, request.Interface()); err != nil {
		return nil, err
	}
	return request.Elem().Interface().(Request), nil
}
