package main

import "fmt"

type C struct {
	n int
	a [2]int
}

var g C
var n = 5
var ga, gb = 1, 2
var arr [3]int
var gi int

func inc() (r int)          { r = 0; r = n + 1; return }
func swap() (int, int)      { return gb, ga }
func swapNamed() (x, y int) { x, y = gb, ga; return }
func side(s string) int     { fmt.Print(s, " "); return len(s) }
func next() int             { gi++; return gi }

type node struct {
	v    int
	next *node
}

func reverse(l *node) *node {
	var prev *node
	for l != nil {
		prev, l, l.next = l, l.next, prev
	}
	return prev
}

func counts(words []string) map[string]int {
	m := map[string]int{}
	for _, w := range words {
		v, ok := m[w]
		if !ok {
			v = 100
		}
		m[w] = v + 1
	}
	return m
}

func missing() {
	m := map[string]int{"a": 1}
	for _, k := range []string{"a", "b", "a", "c"} {
		v, ok := m[k]
		fmt.Print(v, ok, " ")
		var x any = k
		s, isS := x.(string)
		i, isI := x.(int)
		fmt.Print(s, isS, i, isI, "; ")
	}
	fmt.Println()
	c := make(chan int, 2)
	c <- 3
	close(c)
	for range 3 {
		v, ok := <-c
		fmt.Print(v, ok, " ")
	}
	fmt.Println()
}

func main() {
	p := &g
	g = C{n: 3}
	fmt.Println(p.n)
	n = inc()
	fmt.Println(n)
	ga, gb = swap()
	fmt.Println(ga, gb)
	ga, gb = swapNamed()
	fmt.Println(ga, gb)
	i := 0
	i, arr[i] = 2, 9
	fmt.Println(i, arr)
	m := map[int]string{}
	i, m[i] = 7, "x"
	fmt.Println(i, m)
	i, s := i+1, fmt.Sprint(i)
	fmt.Println(i, s)
	i, s = i+1, fmt.Sprint(i)
	fmt.Println(i, s)
	a := []int{1, 2, 3}
	a[0], a[2] = a[2], a[0]
	fmt.Println(a)
	a[next()], a[next()-2] = 10, 20
	fmt.Println(a, gi)
	l := reverse(&node{1, &node{2, &node{3, nil}}})
	for ; l != nil; l = l.next {
		fmt.Print(l.v, " ")
	}
	fmt.Println()
	fmt.Println(counts([]string{"a", "b", "a"}))
	missing()
	x := side("a") + side("bb")*side("ccc")
	fmt.Println(x)
	m2 := map[string][]int{}
	m2["a"] = append(m2["a"], 1)
	m2["a"] = append(m2["a"], 2)
	fmt.Println(m2)
	mc := map[string]int{}
	mc["x"]++
	mc["x"] += 5
	fmt.Println(mc)
	ms := map[string]C{"a": {n: 1}}
	v := ms["a"]
	v.n = 9
	v.a[1] = 4
	fmt.Println(ms, v)
	b := a
	b[0] = 77
	arr2 := arr
	arr2[0] = -1
	fmt.Println(a[0], arr, arr2, arr == arr2)
	pa := &arr
	pa[1] = 5
	for i, v := range pa {
		fmt.Print(i, v, " ")
	}
	for i := range pa {
		pa[i]++
	}
	fmt.Println(arr, len(pa), pa[0:2])
	var e1, e2 any = 1, "two"
	e1, e2 = e2, e1
	fmt.Println(e1, e2)
	q := &C{n: 1}
	r := *q
	*q = C{n: 2}
	fmt.Println(r.n, q.n)
	cs := []C{{n: 1}, {n: 2}}
	pc := &cs[1]
	cs[1] = C{n: 20}
	fmt.Println(pc.n)
	for _, c := range cs {
		c.n = 99
	}
	for i := range cs {
		cs[i].n++
	}
	fmt.Println(cs)
	var z struct {
		a, b int
		in   struct{ c []string }
	}
	z.a, z.b = 1, 2
	z.in.c = append(z.in.c, "q")
	fmt.Printf("%+v\n", z)
	k := 0
	func() { k = 5; k++ }()
	ch := make(chan int, 2)
	ch <- 8
	func() { k += <-ch }()
	fmt.Println(k)
	ch <- 9
	func() { k = <-ch }()
	fmt.Println(k)
	u8 := uint8(250)
	u8 += 10
	i8 := int8(127)
	i8++
	fmt.Println(u8, i8, u8<<4, ^u8, -i8)
	var sh uint = 3
	fmt.Println(1<<sh, int8(1)<<sh<<4, uint32(1)<<31>>sh, -8>>1)
	var f32 float32 = 16777216
	fmt.Println(f32+1 == f32, 7/2, -7/2, 7%-3, 7.0/2)
	str := "héllo"
	for i, r := range str {
		fmt.Print(i, string(r), " ")
	}
	fmt.Println(len(str), str[1:3] == "é", []rune(str)[1], []byte(str)[:2])
	var c128 = complex(1, 2)
	fmt.Println(c128*c128, real(c128), imag(c128))
	lbl := ""
	switch y := x; {
	case y > 3:
		lbl += "a"
		fallthrough
	case y > 1000:
		lbl += "b"
	default:
		lbl += "c"
	}
	fmt.Println(lbl)
	t, err := func() (int, error) { return 1, nil }()
	t2, err := func() (int, error) { return 2, fmt.Errorf("e2") }()
	fmt.Println(t, t2, err)
	_, _ = t, t2
	var _ = side("blank")
	fmt.Println()
	if v, ok := mc["x"]; ok && v > 1 {
		fmt.Println("yes", v)
	} else if w := v + 1; w > 0 {
		fmt.Println("no", w)
	}
}
