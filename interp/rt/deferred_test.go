package rt

import (
	"fmt"
	"reflect"
	"runtime"
	"testing"
)

type interrupt struct{}

func (interrupt) Uncatchable() {}

// activate takes the place of yaegi's function that runs an activation.
//
//go:noinline
func activate(f func()) { f() }

func TestDeferred(t *testing.T) {
	r := New(Config{Activations: []string{runtime.FuncForPC(reflect.ValueOf(activate).Pointer()).Name()}})
	tests := []struct {
		name string
		run  func(log func(any))
		want []any
	}{
		{"deferred calls run last first", func(log func(any)) {
			protect(nil, func(d *Deferred) {
				d.Push(func() { log(1) })
				d.Push(func() { log(2) })
				log(0)
			})
		}, []any{0, 2, 1}},
		{"recovered", func(log func(any)) {
			protect(nil, func(d *Deferred) {
				d.Push(func() { log(d.Recover()) })
				d.Push(func() { log(d.Recover()) })
				panic("a")
			})
			log("on")
		}, []any{"a", nil, "on"}},
		{"a panic in a deferred call replaces the first", func(log func(any)) {
			defer func() { log(recover()) }()
			protect(nil, func(d *Deferred) {
				d.Push(func() { log("still") })
				d.Push(func() { panic("b") })
				panic("a")
			})
		}, []any{"still", "b"}},
		{"the position is that of the panic", func(log func(any)) {
			position := 0
			defer func() { log(recover()); log(position) }()
			protect(&position, func(d *Deferred) {
				d.Push(func() { position = 9 })
				position = 4
				panic("a")
			})
		}, []any{"a", 4}},
		{"an interrupt is not recovered", func(log func(any)) {
			defer func() { log(recover() == interrupt{}) }()
			protect(nil, func(d *Deferred) {
				d.Push(func() { log(d.Recover()) })
				panic(interrupt{})
			})
		}, []any{nil, true}},
		{"a function value recovers", func(log func(any)) {
			protect(nil, func(d *Deferred) {
				d.PushValue(func() { activate(func() { log(r.Recoverer().Recover()) }) }, 1)
				panic("a")
			})
			log(r.Recoverer().Recover())
		}, []any{"a", nil}},
		{"a function that it calls does not recover", func(log func(any)) {
			protect(nil, func(d *Deferred) {
				d.PushValue(func() {
					activate(func() {
						activate(func() { log(r.Recoverer().Recover()) })
						log(r.Recoverer().Recover())
					})
				}, 1)
				panic("a")
			})
		}, []any{nil, "a"}},
		{"the function that it forwards to recovers, once", func(log func(any)) {
			protect(nil, func(d *Deferred) {
				d.PushValue(func() {
					activate(func() {
						r.Forwards(1)
						activate(func() {
							activate(func() { r.Forwards(1); activate(func() { log(r.Recoverer().Recover()) }) })
							log(r.Recoverer().Recover())
						})
					})
				}, 1)
				panic("a")
			})
		}, []any{nil, "a"}},
		{"a nested function value does not recover the outer panic", func(log func(any)) {
			protect(nil, func(d *Deferred) {
				d.PushValue(func() {
					activate(func() {
						protect(nil, func(d *Deferred) {
							d.PushValue(func() { activate(func() { log(r.Recoverer().Recover()) }) }, 1)
						})
						log(r.Recoverer().Recover())
					})
				}, 1)
				panic("a")
			})
		}, []any{nil, "a"}},
		{"Goexit runs all deferred calls", func(log func(any)) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				protect(nil, func(d *Deferred) {
					d.Push(func() { log(1) })
					d.Push(func() { log(2); runtime.Goexit() })
					runtime.Goexit()
				})
				log("not reached")
			}()
			<-done
		}, []any{2, 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []any
			tt.run(func(x any) { got = append(got, x) })
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %s, want %s", fmt.Sprint(got...), fmt.Sprint(tt.want...))
			}
		})
	}
}

// protect calls Protect of a registry without a session.
func protect(position *int, body func(d *Deferred)) { New(Config{}).Protect(position, body) }
