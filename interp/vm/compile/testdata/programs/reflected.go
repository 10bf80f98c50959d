package main

import (
	"fmt"
	"reflect"
)

func caught(f func()) {
	defer func() { fmt.Println("caught", recover()) }()
	f()
}

// The method of a zero Value is called when the function returns.
func zero() {
	var v reflect.Value
	defer v.Len()
	fmt.Println("deferred")
}

func zeroSet() {
	var v reflect.Value
	defer v.Call(nil)
	fmt.Println("deferred, too")
}

func main() {
	caught(zero)
	caught(zeroSet)
}
