package main

import (
	"fmt"
	"reflect"
)

// Deferred calls of methods of reflect.Value.

type recoverer struct{}

func (recoverer) Rescue() { fmt.Println("method", recover()) }

func rescue(s string) { fmt.Println(s, recover()) }

func try(name string, f func()) {
	defer func() { fmt.Println(name, recover()) }()
	f()
}

func main() {
	v := reflect.ValueOf(rescue)
	try("call", func() {
		defer v.Call([]reflect.Value{reflect.ValueOf("called")})
		panic(1)
	})
	try("literal", func() {
		defer reflect.ValueOf(func() { fmt.Println("literal", recover()) }).Call(nil)
		panic(2)
	})
	try("method", func() {
		m := reflect.ValueOf(recoverer{}).MethodByName("Rescue")
		defer m.Call(nil)
		panic(3)
	})
	try("returns", func() {
		defer v.Call([]reflect.Value{reflect.ValueOf("no panic")})
	})
	try("set", func() {
		n := 1
		defer func() { fmt.Println(n) }()
		defer reflect.ValueOf(&n).Elem().SetInt(5)
		n = 2
	})
	try("zero", func() {
		var zero reflect.Value
		defer fmt.Println("still deferred")
		defer zero.Len()
		fmt.Println("body")
	})
	try("inner", func() {
		defer reflect.ValueOf(func() {
			defer func() { fmt.Println("inner", recover()) }()
			panic("inner")
		}).Call(nil)
	})
}
