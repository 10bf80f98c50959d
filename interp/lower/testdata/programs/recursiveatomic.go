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
}
