package main

import "fmt"

func F[T, U ~int](x T) map[any]int {
	switch any(x) {
	case int(0), T(0), U(0):
		fmt.Println("zero")
	}
	switch x {
	case T(1), T(U(1)):
		fmt.Println("one")
	}
	switch x {
	case 1:
	case T(U(1)):
	}
	m := map[T]string{T(1): "a", T(U(1)): "b"}
	fmt.Println(m)
	a := [...]int{len([1]T{}): 3}
	fmt.Println(a)
	return map[any]int{int(0): 0, T(0): 1, U(0): 2}
}

type I int

func main() {
	fmt.Println(F[int, int](1))
	fmt.Println(len(F[I, int](0)))
	fmt.Println(len(F[I, I](1)))
}
