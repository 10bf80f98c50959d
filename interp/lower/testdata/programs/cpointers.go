package main

import (
	"fmt"
	"runtime"
	"unsafe"
)

// Pointers as a translator from C writes them: an address is a number, and up makes it a pointer to a pointer.

type undo = struct {
	fn   uintptr
	ctx  uintptr
	last uint32
}

func up(n uintptr) unsafe.Pointer { return unsafe.Pointer(&n) }

func fill(at uintptr) {
	(**(**undo)(up(at))).ctx = 7
	(**(**undo)(up(at))).last = uint32(3)
	(**(**undo)(up(at))).last += 2
	(*undo)(unsafe.Pointer(at)).fn++
	*(*uintptr)(unsafe.Pointer(at)) += 4
	*(*uintptr)(unsafe.Pointer(at))--
	(**(**undo)(up(at))).fn += next()
	(**(**undo)(up(at))).last = uint32(next())
	for *(*uintptr)(unsafe.Pointer(at)) = 5; *(*uintptr)(unsafe.Pointer(at)) < 8; *(*uintptr)(unsafe.Pointer(at))++ {
		fmt.Print((*undo)(unsafe.Pointer(at)).fn, " ")
	}
}

func next() uintptr { return 9 }

// function returns the address of a function, which the garbage collector does not know as a pointer.
func function(f any) uintptr {
	type words [2]uintptr
	return (*words)(unsafe.Pointer(&f))[1]
}

func double(x, y uintptr) uintptr { return 2*x + y }

func callLater() {
	var addresses []uintptr
	for range 100 {
		addresses = append(addresses, function(double))
	}
	var kept [][]uintptr
	for i := range 3 {
		runtime.GC()
		for range 2000 {
			kept = append(kept, []uintptr{1, 2, 3, 4}, []uintptr{5}, make([]uintptr, 7+i))
		}
	}
	sum := uintptr(0)
	for i, a := range addresses {
		sum += (*(*func(uintptr, uintptr) uintptr)(unsafe.Pointer(&struct{ uintptr }{a})))(uintptr(i), 1)
	}
	fmt.Println(sum, len(kept))
}

func index(at uintptr) {
	(**(**[3]int8)(up(at)))[next()-8] = int8(next())
	(**(**[3]int8)(up(at)))[next()-7] += int8(next())
}

func main() {
	u := new(undo)
	fill(uintptr(unsafe.Pointer(u)))
	fmt.Println(*u)
	var a [3]int8
	index(uintptr(unsafe.Pointer(&a)))
	fmt.Println(a)
	callLater()
}
