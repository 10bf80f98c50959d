package main

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
)

type V struct{ n int }

func (v V) Val() int  { return v.n }
func (v *V) Ptr() int { return 7 }

type I interface{ Val() int }

func try(name string, f func()) {
	defer func() {
		r := recover()
		if r == nil {
			fmt.Println(name, "ok")
			return
		}
		_, isRuntime := r.(runtime.Error)
		text := fmt.Sprint(r)
		if i := strings.Index(text, "index out of range"); i >= 0 {
			text = "index out of range"
		}
		if i := strings.Index(text, "slice bounds out of range"); i >= 0 {
			text = "slice bounds"
		}
		fmt.Println(name, isRuntime, text)
	}()
	f()
}

const alphabet = "abc"

func copyArgs() ([]byte, []byte)      { return make([]byte, 2), []byte("xyz") }
func appendArgs() ([]string, string)  { return []string{"a"}, "b" }
func deleteArgs() (map[int]int, int)  { return theMap, 1 }
func complexArgs() (float64, float64) { return 1, 2 }

var theMap = map[int]int{1: 1, 2: 2}

type Arr [3]int
type Dir chan int

func dummy() [3]int { return [3]int{1, 2, 3} }

type blank struct{ a, _, c int }

func makec(p *int) chan bool { *p = 42; return make(chan bool) }

func main() {
	var p *V
	var i I
	var m map[string]int
	var s []int
	var f func()
	var a *[4]int
	var e error
	zero, five, neg := 0, 5, -1
	try("field", func() { fmt.Println(p.n) })
	try("value method", func() { fmt.Println(p.Val()) })
	try("pointer method", func() { fmt.Println(p.Ptr()) })
	try("method value", func() { g := p.Val; fmt.Println(g()) })
	try("pointer method value", func() { g := p.Ptr; fmt.Println(g()) })
	try("nil interface", func() { fmt.Println(i.Val()) })
	try("nil interface value", func() { g := i.Val; _ = g })
	try("nil error", func() { fmt.Println(e.Error()) })
	try("deref", func() { x := *p; _ = x })
	try("deref assign", func() { *p = V{1} })
	try("field assign", func() { p.n = 1 })
	try("nil map", func() { m["a"] = 1 })
	try("nil map read", func() { fmt.Println(m["a"], len(m)) })
	try("nil func", func() { f() })
	try("divide", func() { fmt.Println(five / zero) })
	try("modulo", func() { fmt.Println(five % zero) })
	try("index", func() { fmt.Println(s[five]) })
	try("negative index", func() { fmt.Println([]int{1, 2}[neg]) })
	try("string index", func() { fmt.Println("abc"[five]) })
	try("slice", func() { fmt.Println(s[1:five]) })
	try("slice order", func() { x := []int{1, 2, 3}; lo, hi := 2, 1; fmt.Println(x[lo:hi]) })
	try("array", func() { fmt.Println(a[zero]) })
	try("make", func() { fmt.Println(make([]int, neg)) })
	try("shift", func() { fmt.Println(1 << neg) })
	try("shift ok", func() { fmt.Println(1<<five, -8>>1, uint8(1)<<five, int64(1)<<62, five<<five>>2) })
	try("nested shift", func() { fmt.Println(1 << (1 << uint(zero+2))) })
	try("big shift", func() { n := 70; fmt.Println(five<<n, -five>>n, uint32(five)<<40) })
	try("close nil", func() { var c chan int; close(c) })
	try("close twice", func() { c := make(chan int); close(c); close(c) })
	try("send closed", func() { c := make(chan int, 1); close(c); c <- 1 })
	try("assert", func() { var x any = "s"; fmt.Println(x.(int)) })
	try("assert iface", func() { var x any = V{}; fmt.Println(x.(fmt.Stringer)) })
	try("unhashable", func() { var x any = []int{}; fmt.Println(map[any]int{}[x]) })
	try("uncomparable", func() { var x any = []int{}; fmt.Println(x == x) })
	try("custom", func() { panic(errors.New("custom")) })
	try("slice to array", func() { fmt.Println([2]int([]int{1, 2, 3})) })
	n := 0
	for range alphabet {
		n++
	}
	for _ = range alphabet {
		n++
	}
	for _, _ = range alphabet {
		n++
	}
	for range a {
		n++
	}
	for k := range a {
		n += k
	}
	for range s {
		n += 100
	}
	for range [3]int{} {
		n++
	}
	for range m {
		n += 100
	}
	fmt.Println(n, len(a), cap(a))
	switch b := byte('b'); {
	case '0' <= b && b <= '9', 'a' <= b && b <= 'z':
		fmt.Println("alnum")
	default:
		fmt.Println("bad")
	}
	switch []int(nil) {
	case nil:
		fmt.Println("nil slice")
	}
	switch f {
	case nil:
		fmt.Println("nil func")
	default:
		fmt.Println("func")
	}
	fmt.Println(copy(copyArgs()), append(appendArgs()), complex(complexArgs()))
	delete(deleteArgs())
	fmt.Println(theMap)
	x := Arr{1, 2, 3}
	fmt.Println(x == dummy(), dummy() != x)
	c := make(chan int, 1)
	var rc <-chan int = c
	fmt.Println(c == rc, rc != c)
	switch c {
	case rc:
		fmt.Println("same")
	}
	b := blank{1, 2, 3}
	fmt.Println(b.a, b.c)
	pa := &[3]int{1, 2, 3}
	q := &pa[1]
	*q = 20
	fmt.Println(pa[1], pa[1:], &pa[1] == q)
	y := 0
	select {
	case c <- y:
	case <-makec(&y):
	}
	fmt.Println(<-c, y)
	pm := map[*V]int{nil: 1}
	pm[nil]++
	im := map[any]int{nil: 3}
	im[nil]++
	fmt.Println(pm[nil], im[nil], len(im))
L:
	for i := 0; i < 2; i++ {
	M:
		for {
			if i > 5 {
				goto M
			}
			continue L
		}
	}
	ps, qs := new(V), new(V)
	ps, ps.n = qs, 4
	fmt.Println(ps.n, qs.n)
	mm := map[int]map[string][]int{}
	if mm[1] == nil {
		mm[1] = map[string][]int{}
	}
	mm[1]["a"] = append(mm[1]["a"], 1, 2)
	mm[1]["a"][0]++
	fmt.Println(mm)
	var z [2][3]int
	z[1][2] = 5
	w := z
	w[1][2]++
	fmt.Println(z, w, len(z[0]))
	type pt struct{ x, y int }
	pts := map[pt]string{{1, 2}: "a", {3, 4}: "b"}
	fmt.Println(pts[pt{1, 2}], pts[pt{3, 4}], len(pts))
	arr := [...]string{2: "c", 0: "a"}
	fmt.Println(len(arr), arr)
	var nilmap map[string]int
	delete(nilmap, "a")
	v, ok := nilmap["x"]
	fmt.Println(v, ok, nilmap == nil)
	func() {
		for i := 0; i < 3; i++ {
			defer func(xs ...any) { fmt.Print(xs...) }(i, "x")
			defer fmt.Print([]int{i})
			defer show(map[string]int{"k": i}, i)
		}
	}()
	fmt.Println()
	var fs []func()
	for i := 0; i < 3; i++ {
		sl := []int{i}
		mp := map[string]int{"a": i}
		st := struct{ a, b int }{i, i}
		pp := &st
		var af any = sl
		fs = append(fs, func() { sl[0]++; mp["a"] += 10; pp.a++; fmt.Println(sl, mp, st, af) })
	}
	for _, f := range fs {
		f()
	}
	u := uint8(200)
	u += 100
	i16 := int16(32767)
	i16++
	fmt.Println(u, i16, u/3, -i16, ^u, u&^4, 7&^5)
	fl := 1e100
	fmt.Println(fl, float32(0.1), 1/3.0, int(-fl/4e99), uint8(int(300)&0xff), int64(fl/1e90))
	r := []rune("héé")
	fmt.Println(string(r[1]), len(r), string(rune(65)), []byte("é"), strings.Repeat("é", 2))
	const big = 1 << 62
	fmt.Println(big, big>>60, 0x10, 0b11, 0o17, 1_000, 'a', "\u00e9\x41\n"[0])
}

func show(m map[string]int, i int) { fmt.Print(m, i) }
