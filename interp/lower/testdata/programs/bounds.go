package main

import "fmt"

type S struct{ xs []int }

func catch() { fmt.Println(recover()) }

func index(a []int, i int)   { defer catch(); fmt.Println(a[i]) }
func field(s *S, i int8)     { defer catch(); s.xs[i] = 1; fmt.Println(s.xs) }
func array(p *[4]int, i int) { defer catch(); p[i]++; fmt.Println(p[i], len(p)) }
func text(s string, i int)   { defer catch(); fmt.Println(s[i]) }
func low(a []int, i int)     { defer catch(); fmt.Println(a[i:], a[i+1:]) }
func high(a []int, i int)    { defer catch(); fmt.Println(a[:i]) }
func both(a []int, i, j int) { defer catch(); fmt.Println(a[i:j]) }
func full(a []int, i, j, k int) {
	defer catch()
	b := a[i:j:k]
	fmt.Println(b, cap(b))
}
func cut(s string, i, j int)     { defer catch(); fmt.Println(s[i:j]) }
func part(p *[4]int, i, j int)   { defer catch(); fmt.Println(p[i:j]) }
func huge(a []int, i uint64)     { defer catch(); fmt.Println(a[i]) }
func late(a []int, f func() int) { defer catch(); a[9] = f() }
func nested(a [][]int, i, j int) { defer catch(); fmt.Println(a[i][j]) }
func from(f func() []int, i int) { defer catch(); fmt.Println(f()[i]) }
func keyed(m map[int]int, i int) { defer catch(); fmt.Println(m[i]) }
func store(p *S, f func() []int) { defer catch(); p.xs = f() }
func point(p *int, f func() int) { defer catch(); *p = f() }
func order(a []int, f func() int) {
	defer func() { fmt.Println(recover() != nil) }()
	a[f()] = f()
}

// plain has no defer statement, and neither has its result.
func plain(xs []int, i int) func() int {
	_ = xs[i-1]
	return func() int { return len(xs[i : i+9]) }
}

func tell(f func()) {
	defer func() { fmt.Println(recover()) }()
	f()
}

func main() {
	var u, small uint = 1<<64 - 1, 1
	three := []int{1, 2, 3}
	tell(func() { _ = three[u] })
	tell(func() { _ = three[small:u] })
	tell(func() { _ = three[u:] })
	tell(func() { _ = three[u:small] })
	tell(func() { _ = three[small:2:u] })
	tell(func() { _ = three[u:2:3] })
	tell(func() { _ = "abc"[small:u] })
	tell(func() { fmt.Println(three[small], three[small:2], three[small:], three[:small:2], three[uint8(small)]) })
	tell(func() { plain([]int{1}, 5) })
	tell(func() { plain([]int{1}, 1)() })
	tell(func() { plain([]int{1, 2}, 1)() })
	a := make([]int, 3, 5)
	for _, i := range []int{0, 2, 3, 5, 6, -1} {
		index(a, i)
		field(&S{a}, int8(i))
		array(new([4]int), i)
		text("abc", i)
		low(a, i)
		high(a, i)
		keyed(nil, i)
		for _, j := range []int{0, 1, 3, 5, 9, -2} {
			both(a, i, j)
			cut("abc", i, j)
			part(new([4]int), i, j)
			full(a, i, j, 4)
			full(a, 0, i, j)
		}
	}
	huge(a, 1)
	late(a, func() int { fmt.Println("called"); return 1 })
	store(nil, func() []int { fmt.Println("called"); return a })
	point(nil, func() int { fmt.Println("called"); return 1 })
	n := 7
	order(a, func() int { n++; fmt.Println("called", n); return n })
	nested([][]int{{1}}, 0, 0)
	field(nil, 1)
	from(func() []int { fmt.Println("once"); return a }, 1)
}
