package main

import (
	"fmt"
	"unsafe"
)

type S[T any] struct {
	a byte
	b T
	c byte
}
type E[T any] struct {
	x int
	S[T]
}

func sz[T any](x T) (uintptr, uintptr, uintptr, uintptr) {
	var s S[T]
	var e E[T]
	return unsafe.Sizeof(x), unsafe.Alignof(s), unsafe.Offsetof(s.c), unsafe.Offsetof(e.b)
}
func bits[T ~int8 | ~int64 | ~uint16]() int      { var z T; return 8 * int(unsafe.Sizeof(z)) }
func mask[T ~int8 | ~int64 | ~uint16](n int) int { return n & (1<<(unsafe.Sizeof(*new(T))*4) - 1) }
func ln[A ~[2]int | ~[3]int](a A) int            { return len(a) }

func main() {
	fmt.Println(sz(int8(1)))
	fmt.Println(sz("abc"))
	fmt.Println(sz(any(1)))
	fmt.Println(sz([]int{}))
	fmt.Println(sz(struct{}{}))
	fmt.Println(bits[int8](), bits[int64](), bits[uint16](), mask[int8](255), ln([2]int{}), ln([3]int{}))
}
