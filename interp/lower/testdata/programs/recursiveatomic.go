package main

import (
	"context"
	"fmt"
	"reflect"
	"sync/atomic"
	"unsafe"
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
	reflected(c)
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

// reflected calls functions with parameters that contain an atomic.Pointer through package reflect, which sees its fields.
func reflected(c *Conn) {
	call := func(f any, in ...any) any {
		args := make([]reflect.Value, len(in))
		for i, x := range in {
			args[i] = reflect.ValueOf(x)
		}
		return reflect.ValueOf(f).Call(args)[0]
	}
	type slot struct {
		p    atomic.Pointer[int]
		next atomic.Pointer[slot]
		N    int
	}
	n := 4
	var s slot
	s.p.Store(&n)
	s.next.Store(&s)
	fmt.Println(call(func(s *slot) int { return *s.next.Load().p.Load() + s.N }, &s))
	fmt.Println(call(func(s []*slot, m map[string]*slot) bool { return s[0].next.CompareAndSwap(m["a"], nil) }, []*slot{&s}, map[string]*slot{"a": &s}))
	fmt.Println(call(func(p *atomic.Pointer[int]) int { return *p.Swap(nil) }, &s.p), s.p.Load() == nil, s.next.Load() == nil)
	fmt.Println(call(func(c *Conn) string { return *c.state.Load() }, c), call((*Conn).name, c))
	made := reflect.MakeFunc(reflect.TypeFor[func(*slot) bool](), func(in []reflect.Value) []reflect.Value {
		s := in[0].Interface().(*slot)
		return []reflect.Value{reflect.ValueOf(s.next.CompareAndSwap(nil, s))}
	})
	fmt.Println(made.Interface().(func(*slot) bool)(&s), s.next.Load() == &s)

	t := reflect.TypeFor[slot]()
	fmt.Println(t.Size(), unsafe.Sizeof(s), unsafe.Offsetof(s.N), t.Field(0).Type.Size(), unsafe.Alignof(s.p))
	for f := range t.Field(0).Type.Fields() {
		fmt.Println(f.Name, f.Type, f.Offset)
	}
	var other slot
	fmt.Println(reflect.DeepEqual(&s, &other), reflect.DeepEqual(&other, &slot{}))
}

func (c *Conn) name() string { return *c.state.Load() + " conn" }
