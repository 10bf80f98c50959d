package main

import (
	"errors"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
)

type base struct{ id int }

func (b *base) bump() int { b.id++; return b.id }
func (b base) value() int { return b.id * 10 }

type middle struct {
	*base
	tags []string
}
type outer struct {
	middle
	grid [3][2]int
	m    map[string][]int
}
type celsius float64

func (c celsius) twice() celsius { return c * 2 }

type node struct {
	left, right *node
	key         int
}

func (n *node) insert(k int) *node {
	if n == nil {
		return &node{key: k}
	}
	if k < n.key {
		n.left = n.left.insert(k)
	} else {
		n.right = n.right.insert(k)
	}
	return n
}
func (n *node) walk(visit func(int)) {
	if n == nil {
		return
	}
	n.left.walk(visit)
	visit(n.key)
	n.right.walk(visit)
}

func loops() string {
	var out []string
	var fs []func() int
	for i := 0; i < 3; i++ {
		fs = append(fs, func() int { i *= 2; return i })
	}
	for _, f := range fs {
		out = append(out, strconv.Itoa(f()), strconv.Itoa(f()))
	}
outer:
	for i := 0; i < 4; i++ {
		for j := 0; ; j++ {
			switch {
			case j == 2:
				continue outer
			case i == 3:
				break outer
			case i == 1:
				break
			default:
				out = append(out, fmt.Sprint(i, j))
			}
		}
	}
	for i := uint8(250); i >= 250; i++ {
		out = append(out, fmt.Sprint(i))
	}
	n := 0
again:
	n++
	if n < 3 {
		goto again
	}
	for i, r := range "a\xffé日" {
		out = append(out, fmt.Sprint(i, r))
	}
	return strings.Join(append(out, fmt.Sprint(n)), " ")
}

func values() string {
	a := [3]int{1, 2, 3}
	b := a
	b[0] = 9
	p := &a
	p[1] = 7
	s := a[:2]
	s = append(s, 8)
	o := outer{middle: middle{base: &base{1}, tags: []string{"x"}}, m: map[string][]int{}}
	o2 := o
	o2.grid[1][1] = 5
	o2.bump()
	o.m["k"] = append(o.m["k"], 1, 2)
	list := []outer{o, o2}
	for i, x := range list {
		x.grid[0][0] = 100
		list[i].grid[2][1] += i + 1
	}
	for i := range a {
		a[i] += i
	}
	c := 0
	for _, v := range a {
		a[2] = 50
		c += v
	}
	return fmt.Sprint(a, b, s, o.value(), o2.value(), o2.grid, list[1].grid, len(o2.m["k"]), c, a == b, [2]int{1, 2} == [2]int{1, 2},
		base{1} == base{1}, celsius(1.5).twice())
}

func order() string {
	var log []string
	t := func(s string, n int) int { log = append(log, s); return n }
	x := []int{0, 0, 0}
	x[t("i", 1)] = t("v", 5)
	x[t("a", 0)], x[t("b", 2)] = t("c", 3), t("d", 4)
	m := map[int]int{t("k", 1): t("w", 2)}
	i := 0
	i, x[i] = 2, 77
	_ = t("p", 1) > 0 && t("q", 0) > 0 || t("r", 1) > 0
	x[0], x[1], x[2] = x[2], x[0], x[1]
	return fmt.Sprint(log, x, m, i)
}

func slices() string {
	a := make([]int, 3, 10)
	b := append(a, 1)
	c := append(a, 2)
	d := a[1:2:3]
	d = append(d, 5)
	d = append(d, 6)
	copy(a[1:], a)
	e := [][]string{{"a"}, nil, {"b", "c"}}
	e[1] = append(e[1], "z")
	var nilSlice []int
	n := 0
	for range nilSlice {
		n++
	}
	grown := []int{}
	caps := 0
	for i := range 100 {
		grown = append(grown, i)
		if i > 8 {
			caps += cap(grown)
		} // small ones may be on the stack, larger
	}
	sort.Ints(grown[:50])
	bs := []byte("héy")
	bs[0]++
	return fmt.Sprint(a, b[3], c[3], d, e, n, caps, string(bs), []rune("é日"), string([]rune{65, -1, 0x10ffff}), len(grown[3:7]), cap(grown[3:7:9]))
}

func failures() string {
	var out []string
	try := func(name string, f func()) {
		out = append(out, name+": "+recovered(f))
	}
	zero, minus := 0, -1
	list := []int{1, 2, 3}
	var np *node
	var m map[string]int
	var np2 *[4]int
	try("index", func() { list[zero+5]++ })
	try("negative", func() { _ = list[minus] })
	try("slice", func() { _ = list[2 : zero+1] })
	try("slice cap", func() { _ = list[:zero+9] })
	try("three", func() { _ = list[zero : 2 : zero+7] })
	try("string", func() { _ = "abc"[zero+3] })
	try("substring", func() { _ = "abc"[zero+4:] })
	try("divide", func() { _ = 1 / zero })
	try("rest", func() { _ = int8(1) % int8(zero) })
	try("nil", func() { _ = np.key })
	try("nil store", func() { np.left.key = 3 })
	try("nil array", func() { _ = np2[zero] })
	try("nil map", func() { m["a"] = 1 })
	try("shift", func() { _ = 1 << minus })
	try("make", func() { _ = make([]int, minus) })
	try("make cap", func() { _ = make([]string, 2, zero+1) })
	try("custom", func() { panic(fmt.Errorf("wrapped %w", errors.New("inner"))) })
	try("value", func() { panic(celsius(3)) })
	try("nil func", func() { var f func(int) int; f(1) })
	return strings.Join(out, "\n")
}

func recovered(f func()) (s string) {
	defer func() { s = fmt.Sprint(recover()) }()
	f()
	return "no panic"
}

func atoi(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, fmt.Errorf("atoi: %w", err)
	}
	return n, nil
}

func pair() (int, string)             { return 7, "seven" }
func take(n int, s string) string     { return s + strconv.Itoa(n) }
func variadic(a int, s ...string) int { return a + len(s) }
func spread() string {
	type local struct {
		a int
		b string
	}
	l := local{b: "q"}
	l.a, l.b = pair()
	list := []local{l, {a: 1}}
	return fmt.Sprint(pair()) + fmt.Sprint(list[0].a, list[1].b, len(list)) + strings.Repeat(rep()) + fmt.Sprint(counted(one()))
}
func rep() (string, int)             { return "ab", 2 }
func one() (int, string)             { return 1, "x" }
func counted(n int, s ...string) int { return n*10 + len(s) }
func closureResult() (n int, err error) {
	set := func(k int) { n = k * 2 }
	set(21)
	return n + 1, err
}

func numbers() string {
	nan, wide := math.NaN(), 300
	var f32 float32 = 16777216
	f32++
	x := int8(-128)
	x = -x
	x /= -1
	var u uint32 = 1 << 31
	u <<= 1
	big := uint64(math.MaxUint64)
	negative := math.Copysign(0, -1)
	return fmt.Sprint(nan == nan, nan != nan, nan < 1, !(nan < 1), min(1, nan), max(2.5, 1), f32, x, u, float64(big), int64(big), uint8(wide),
		1/negative, 7/-2, -7%3, 1<<3|1, 6&^2, 0.1+0.2, float32(0.1), math.Floor(-1.5), 5.0/2, 'a'+1, string(rune('a'+1)))
}

func maps() string {
	type key struct {
		a int
		b string
	}
	counts := map[key]int{}
	counts[key{1, "x"}]++
	counts[key{1, "x"}] += 2
	nested := map[string]map[string]int{"a": {"b": 1}}
	nested["a"]["c"]++
	_, ok := nested["q"]["r"]
	byRune := map[rune]int{}
	for _, r := range "hello" {
		byRune[r]++
	}
	delete(byRune, 'l')
	sum, n := 0, 0
	for k, v := range map[int]int{1: 2, 3: 4} {
		sum += k * v
	}
	all := map[int]bool{}
	for i := range 20 {
		all[i] = i%2 == 0
	}
	for k, even := range all {
		if even {
			delete(all, k)
		}
		n++
	}
	floats := map[float64]string{1.5: "x"}
	pointers := map[*node]int{}
	p := &node{key: 1}
	pointers[p] = 4
	return fmt.Sprint(counts[key{1, "x"}], counts[key{2, ""}], nested, ok, len(byRune), sum, len(all), n >= 10, floats[1.5], pointers[p], pointers[nil])
}

func main() {
	fmt.Println(loops())
	fmt.Println(values())
	fmt.Println(order())
	fmt.Println(slices())
	fmt.Println(failures())
	fmt.Println(numbers())
	fmt.Println(maps())
	fmt.Println(atoi("12"))
	fmt.Println(atoi("x"))
	fmt.Println(take(pair()))
	fmt.Println(variadic(1), variadic(1, "a", "b"), variadic(2, strings.Split("a,b,c", ",")...))
	fmt.Println(closureResult())
	fmt.Println(spread())
	var root *node
	for _, k := range []int{5, 2, 8, 1, 9} {
		root = root.insert(k)
	}
	var keys []int
	root.walk(func(k int) { keys = append(keys, k) })
	fmt.Println(keys)
}
