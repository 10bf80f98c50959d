package main

import (
	"context"
	"fmt"
	"sync/atomic"
)

type Option interface{ apply(*Conn) }
type Invoker func(ctx context.Context, method string, req any, c *Conn, opts ...Option) error
type Interceptor func(ctx context.Context, method string, req any, c *Conn, next Invoker, opts ...Option) error

type Conn struct {
	state atomic.Pointer[string]
	chain []Interceptor
	root  *Channel
	first Interceptor
}
type Channel struct {
	parent *Channel
	conns  map[int]*Conn
	refs   atomic.Pointer[Channel]
	name   atomic.Pointer[string]
}

func invoke(ctx context.Context, method string, req any, c *Conn, opts ...Option) error {
	fmt.Println("invoke", method, req, *c.state.Load(), len(opts), *c.root.name.Load(), c.root.refs.Load() == c.root)
	return nil
}
func chained(list []Interceptor, i int, last Invoker) Invoker {
	if i == len(list)-1 {
		return last
	}
	return func(ctx context.Context, method string, req any, c *Conn, opts ...Option) error {
		return list[i+1](ctx, method, req, c, chained(list, i+1, last), opts...)
	}
}

func main() {
	c := &Conn{root: &Channel{}}
	s, n := "ready", "root"
	c.state.Store(&s)
	c.root.name.Store(&n)
	c.root.refs.Store(c.root)
	c.root.conns = map[int]*Conn{1: c}
	for i := range 3 {
		c.chain = append(c.chain, func(ctx context.Context, method string, req any, c *Conn, next Invoker, opts ...Option) error {
			fmt.Println("before", i)
			defer fmt.Println("after", i)
			return next(ctx, method+"!", req, c, opts...)
		})
	}
	c.first = func(ctx context.Context, method string, req any, c *Conn, next Invoker, opts ...Option) error {
		return c.chain[0](ctx, method, req, c, chained(c.chain, 0, next), opts...)
	}
	fmt.Println(c.first(context.Background(), "m", 3, c.root.conns[1], invoke, nil, nil))
	fmt.Println(c.root.refs.CompareAndSwap(c.root, nil), c.root.refs.Load() == nil)
	converted(c)
}

type Named func(*Conn) string

// converted makes interface values of functions whose parameters contain an atomic.Pointer.
func converted(c *Conn) {
	values := []any{
		Named(func(c *Conn) string { return *c.state.Load() }),
		func(c *Conn) *Channel { return c.root },
		map[string]Named{"a": func(*Conn) string { return "in a map" }},
	}
	for _, v := range values {
		fmt.Printf("%T\n", v)
	}
	fmt.Println(values[0].(Named)(c), values[1].(func(*Conn) *Channel)(c) == c.root, values[2].(map[string]Named)["a"](c))
}
