package main

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
)

// Panics of package reflect, of operations of the language, and panics of the program with the same texts.

type shape interface{ Area() float64 }

type square struct{ side float64 }

func (s square) Area() float64 { return s.side * s.side }

func try(name string, f func()) {
	defer func() {
		r := recover()
		err, isError := r.(runtime.Error)
		fmt.Printf("%s: %T %v %v %v\n", name, r, r, isError, err)
	}()
	defer func() {
		if r := recover(); r != nil {
			panic(r)
		}
	}()
	f()
}

func main() {
	var (
		slice  = []int{1}
		array  = &[2]int{}
		index  = 5
		minus  = -1
		nilMap map[string]int
		fn     func()
		iface  shape
		huge   = make([]struct{}, int(^uint(0)>>1))
	)
	v := reflect.ValueOf(slice)
	try("Index", func() { v.Index(index) })
	try("Index of an array", func() { reflect.ValueOf(array).Elem().Index(index) })
	try("Index of a string", func() { reflect.ValueOf("s").Index(index) })
	try("Slice", func() { v.Slice(0, index) })
	try("Slice of an array", func() { reflect.ValueOf(*array).Slice(0, 1) })
	try("Slice3", func() { v.Slice3(0, 1, index) })
	try("SetMapIndex", func() { reflect.ValueOf(nilMap).SetMapIndex(reflect.ValueOf("k"), reflect.ValueOf(1)) })
	try("Call of nil", func() { reflect.ValueOf(fn).Call(nil) })
	try("Call of an int", func() { reflect.ValueOf(1).Call(nil) })
	try("Call with a zero argument", func() { reflect.ValueOf(try).Call([]reflect.Value{{}, {}}) })
	try("Call with too few", func() { reflect.ValueOf(try).Call(nil) })
	try("Call with another type", func() { reflect.ValueOf(func(shape) {}).Call([]reflect.Value{reflect.ValueOf(1)}) })
	try("MakeSlice", func() { reflect.MakeSlice(reflect.TypeOf(slice), minus, 1) })
	try("MakeSlice, capacity", func() { reflect.MakeSlice(reflect.TypeOf(slice), 2, 1) })
	try("MakeChan", func() { reflect.MakeChan(reflect.TypeFor[chan int](), minus) })
	try("zero Value", func() { reflect.Value{}.Int() })
	try("zero Value, Type", func() { reflect.Value{}.Type() })
	try("zero Value, Elem", func() { reflect.Value{}.Elem() })
	try("zero Value, Set", func() { reflect.ValueOf(&index).Elem().Set(reflect.Value{}) })
	try("nil interface", func() { reflect.ValueOf(&iface).Elem().Method(0) })
	try("Elem of nil", func() { reflect.ValueOf((*square)(nil)).Elem().Field(0) })
	try("Method", func() { reflect.TypeFor[square]().Method(index) })
	try("Convert", func() { v.Convert(reflect.TypeFor[string]()) })
	try("Set", func() { reflect.ValueOf(&iface).Elem().Set(reflect.ValueOf(1)) })
	try("Send", func() { reflect.ValueOf(make(chan shape, 1)).Send(reflect.ValueOf(1)) })

	try("index", func() { _ = slice[index] })
	try("index of an array", func() { _ = array[index] })
	try("slice", func() { _ = slice[0:index] })
	try("slice of a string", func() { _ = "s"[0:index] })
	try("slice of three", func() { _ = slice[0:1:index] })
	try("nil map", func() { nilMap["k"] = 1 })
	try("nil function", func() { fn() })
	try("make", func() { _ = make([]int, minus) })
	try("make, capacity", func() { _ = make([]int, 2, minus+1) })
	try("make of a channel", func() { _ = make(chan int, minus) })
	try("append", func() { _ = append(huge, struct{}{}) })
	try("append of two", func() { _ = append(huge[1:], make([]struct{}, 2)...) })
	try("nil method", func() { _ = iface.Area() })

	try("own text", func() { panic("reflect: slice index out of range") })
	try("own text of make", func() { panic("reflect.MakeSlice: negative len") })
	try("own text of a call", func() { panic("reflect: call of nil function at noon") })
	try("own error", func() { panic(&reflect.ValueError{Method: "mine"}) })
	try("own Value", func() { panic(reflect.ValueOf(errors.New("e"))) })
	try("zero", func() { panic(reflect.Value{}) })
	try("nil", func() { panic(nil) })
	try("number", func() { panic(square{2}) })
}
