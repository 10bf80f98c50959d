package main

import (
	"fmt"
	"unsafe"
)

type P struct {
	a int32
	b int64
}

func main() {
	x := 7
	p := unsafe.Pointer(&x)
	*(*int)(p) = 8
	fmt.Println(x)
	s := P{1, 2}
	q := (*int64)(unsafe.Pointer(uintptr(unsafe.Pointer(&s)) + unsafe.Offsetof(s.b)))
	*q = 9
	fmt.Println(s.b)
	f := 1.5
	fmt.Println(*(*uint64)(unsafe.Pointer(&f)))
	b := []byte("abc")
	fmt.Println(*(*string)(unsafe.Pointer(&b)))
	fmt.Println(unsafe.String(unsafe.SliceData(b), len(b)), unsafe.Slice(&b[1], 2)[1], *unsafe.StringData("zy"))
	fmt.Println(*(*byte)(unsafe.Add(unsafe.Pointer(&b[0]), 2)), uintptr(unsafe.Pointer(nil)))
	var i any = p
	_, ok := i.(unsafe.Pointer)
	fmt.Println(ok)
}
