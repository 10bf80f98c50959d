package main

import "fmt"

type C complex64
type F float32

func half(c C) F                            { return F(real(c)) / 2 }
func zero() (c complex64)                   { return }
func mk(re, im float32) complex64           { return complex(re, im) }
func mk2(re, im float32) (complex64, error) { return complex(re, im), nil }

func main() {
	var c C = 3 + 4i
	var i any = real(c)
	fmt.Printf("%T %v %v\n", i, half(c), imag(c))
	i = complex(real(c), 1)
	fmt.Printf("%T %v\n", i, i)
	a := any(complex64(0))
	for i := 0; i < 3; i++ {
		a = a.(complex64) + 1
	}
	fmt.Printf("%T %v\n", a, a)
	z := complex64(2)
	z *= 2i
	z++
	fmt.Println(z, z == 1+4i, zero() == 0, -z)
	xs := []complex64{1, 2i}
	xs[0] += 3i
	i = xs[0]
	fmt.Printf("%T %v\n", i, i)
	var f32 float32 = 1.5
	w := complex(f32, 2)
	i = w
	fmt.Printf("%T %v\n", i, i)
	var r float32 = real(w)
	r += imag(w)
	fmt.Println(r, mk(1, 2))
	fmt.Println(mk2(1, 2))
	u := complex(1.5, 2)
	i = real(u)
	fmt.Printf("%T %v\n", i, i)
	const k = complex(1, 2)
	i = imag(k)
	fmt.Printf("%T %v\n", i, i)
	m := map[complex64]string{1 + 1i: "a"}
	fmt.Println(m[complex(1, 1)])
}
