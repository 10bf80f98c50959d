package main

import (
	"fmt"
	"unsafe"
)

type face struct{ typ, data unsafe.Pointer }

type words struct {
	typ  uintptr
	data *float64
}

type S struct{ x, y int }
type F float64
type V interface{ M() string }

func (f F) M() string      { return fmt.Sprint("F", float64(f)) }
func (s *S) M() string     { return fmt.Sprint("S", s.x) }
func (s *S) Error() string { return "S" }

func data(v any) unsafe.Pointer { return (*face)(unsafe.Pointer(&v)).data }

func main() {
	p := &S{1, 2}
	fmt.Println((*S)(data(p)).y, data(p) == unsafe.Pointer(p), data(nil) == nil)
	var v V = p
	fmt.Println((*S)((*face)(unsafe.Pointer(&v)).data).y)
	v = F(2)
	fmt.Println(*(*words)(unsafe.Pointer(&v)).data, *(*F)((*face)(unsafe.Pointer(&v)).data))
	var err error = p
	e := &err
	fmt.Println((*(*[2]uintptr)(unsafe.Pointer(e)))[1] == uintptr(unsafe.Pointer(p)), (*[2]unsafe.Pointer)(unsafe.Pointer(&err))[1] == unsafe.Pointer(p))
	var a any = "text"
	fmt.Println(*(*string)(data(a)), *(*float64)(data(3.5)))
	*(*any)(unsafe.Pointer(&a)) = F(3)
	fmt.Println(a.(V).M())
	var b any
	*(*face)(unsafe.Pointer(&b)) = *(*face)(unsafe.Pointer(&a))
	fmt.Println(b == a, b)
	pair := [2]any{1, p}
	fmt.Println(*(*any)(unsafe.Pointer(&pair)), (*struct{ a, b any })(unsafe.Pointer(&pair)).b == any(p))
}
