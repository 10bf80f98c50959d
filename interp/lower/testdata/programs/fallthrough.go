package main

import "fmt"

func a(n int) (s string) {
	switch {
	default:
		s += "d"
	}
	switch {
	default:
		s += "e"
		fallthrough
	case false:
		s += "f"
	}
	switch n {
	case 5:
		s += "5"
		fallthrough
	default:
		s += "d"
	case 6:
		s += "6"
	}
	switch n {
	default:
		s += "d"
		fallthrough
	case 6:
		s += "6"
		fallthrough
	case 7:
		s += "7"
	case 8:
		s += "8"
	}
	switch x := any(n); x {
	default:
		s += "d"
		fallthrough
	case 6:
		s += "6"
	case 8:
		s += "8"
		fallthrough
	case "x":
		s += "x"
	}
	switch {
	}
	switch n {
	}
	for i := 0; i < 3; i++ {
		switch i {
		case 1:
			continue
		default:
			if i == 2 {
				break
			}
			s += "b"
			fallthrough
		case 9:
			s += "9"
		}
		s += "-"
	}
	return
}
func main() {
	for i := 4; i < 9; i++ {
		fmt.Println(a(i))
	}
}
