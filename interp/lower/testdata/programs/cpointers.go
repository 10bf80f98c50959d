package main

import (
	"fmt"
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
}
