package main

import (
	"fmt"
)

type E struct{}

func (e *E) ByteArray(dst, src []byte, offsets []uint32) ([]byte, []uint32, error) {
	dst, offsets = dst[:0], offsets[:0]
	for i := 0; i < len(src); i++ {
		offsets = append(offsets, uint32(len(dst)))
		dst = append(dst, src[i])
	}
	return dst, append(offsets, uint32(len(dst))), nil
}

func three(a []int, b []string, c map[int][]byte) (x []int, y []string, z []byte, err error) {
	x, y, z = a[1:], b[:1], c[1][1:]
	return append(x, 4), append(y, "z"), append(z, 'q'), nil
}

func main() {
	var e E
	fmt.Println(e.ByteArray(nil, []byte("abc"), nil))
	fmt.Println(three([]int{1, 2}, []string{"a", "b"}, map[int][]byte{1: []byte("xy")}))
}
