package main

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"sort"
	"sync"
)

type pair struct {
	key  int
	name string
}

// Variables that do not change are loaded when a function literal is called, whatever their type is.
func shapes(n int, small int8, f float64, g float32, ok bool, s string, list []pair, err error, z complex128, p pair, a [2]string) func() string {
	u, v := uint16(n), z*2
	inner := func() string {
		return fmt.Sprint(n, small, f, g, ok, s, len(list), list[0], err, z, p, a, u, v)
	}
	return func() string { return inner() + inner() }
}

// The results are where the parameters were.
func results(n int, s string) (int, func() string) {
	f := func() string { return fmt.Sprint(s, n) }
	return n + len(f()), func() string { return f() + "!" }
}

func named(n int) (total int, err error) {
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("%v of %d", x, n)
		}
	}()
	add := func(k int) { total += k / n }
	add(10)
	return total, nil
}

// A variable of a loop is another one in each iteration.
func loops() (all []func() int) {
	for i := range 3 {
		all = append(all, func() int { return i })
	}
	for i := 0; i < 3; i++ {
		j := i * i
		all = append(all, func() int { return j*10 + i })
	}
	for i, r := range "aé" {
		all = append(all, func() int { return i + int(r) })
	}
	for i, x := range []string{"a", "bc"} {
		all = append(all, func() int { return i*100 + len(x) })
	}
	for k, x := range map[uint8]int16{200: -7} {
		all = append(all, func() int { return int(k) + int(x) })
	}
	for i, j := 0, 9; i < 2; i++ {
		all = append(all, func() int { return i + j })
	}
	return all
}

// A loop variable that its body changes is not the counter of the loop.
func counters() (out []int) {
	for i := range 4 {
		i *= 2
		out = append(out, i)
	}
	for i := range 3 {
		p := &i
		*p += 10
		out = append(out, i)
	}
	for i, x := range []int{5, 6} {
		i, x = x, i
		out = append(out, i, x)
	}
	for i := range uint8(3) {
		out = append(out, int(i)<<6)
	}
	for i, r := range "xyz" {
		r -= 'x'
		out = append(out, i+int(r))
	}
	return out
}

func count(n int) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i := range n {
			if !yield(i, fmt.Sprint("#", i)) {
				return
			}
		}
	}
}

func overFunction(limit int, prefix string) (out []string, f func() string) {
	scale := limit * 2
	for i, s := range count(10) {
		t := prefix + s
		if i == limit {
			return append(out, fmt.Sprint(scale)), func() string { return t + fmt.Sprint(i, limit) }
		}
		for j := range count(2) {
			out = append(out, fmt.Sprint(t, j*scale))
		}
	}
	return nil, nil
}

func generic[T any](x T, n int) func() (T, int) { return func() (T, int) { return x, n } }

func recursive(n int) int {
	one, two := 1, 2
	var fib func(int) int
	fib = func(k int) int {
		if k < two {
			return k
		}
		return fib(k-one) + fib(k-two)
	}
	return fib(n)
}

func concurrent(n int) (sum int) {
	var wait sync.WaitGroup
	var lock sync.Mutex
	for i := range n {
		square := i * i
		wait.Go(func() {
			lock.Lock()
			defer lock.Unlock()
			sum += square + n
		})
	}
	wait.Wait()
	return sum
}

func deferred(s string) (out []string) {
	defer func(n int) {
		func() { out = append(out, fmt.Sprint(s, n)) }()
	}(len(s))
	k := 7
	defer func() { out = append(out, fmt.Sprint(k)) }()
	return out
}

func ordered(rows []pair) []pair {
	sort.Slice(rows, func(i, j int) bool { return rows[i].key < rows[j].key })
	sorted := rows
	rows = rows[:1]
	first := func() []pair { return rows }
	rows = sorted[1:]
	return append(first(), sorted[0])
}

// The slice of the comparison is another one than the sorted slice.
func other(rows []pair, keys []int) (out string) {
	defer func() {
		if x := recover(); x != nil {
			out = fmt.Sprint(x)
		}
	}()
	sort.Slice(rows, func(i, j int) bool { return keys[i] < keys[j] })
	return fmt.Sprint(rows)
}

func declared() string {
	a, b, c := 1, "x", []int{3}
	d, e := a+len(c), b+b
	a, f := d*2, e
	g := &c[0]
	h, i := &c[0], c[:1]
	*h++
	return fmt.Sprint(a, b, c, d, e, f, *g, *h, i)
}

// deep makes the stack grow.
func deep(n, x int) int {
	if n == 0 {
		return x
	}
	return deep(n-1, x)
}

func deepSort() []pair {
	rows := []pair{{3, "c"}, {1, "a"}, {4, "d"}, {2, "b"}}
	sort.Slice(rows, func(i, j int) bool { return deep(100*rows[i].key, rows[i].key) < deep(900, rows[j].key) })
	slices.SortFunc(rows[1:], func(a, b pair) int { return deep(3000, b.key) - deep(10*a.key, a.key) })
	numbers := []int{3, 1, 2}
	slices.SortFunc(numbers, func(a, b int) int { return deep(5000*a, a) - b })
	return append(rows, pair{numbers[0], fmt.Sprint(numbers)})
}

// A value method that is called through a pointer has a copy of the value.
type counter struct{ n, k int }

var shared = &counter{1, 2}

func (c counter) sum() int  { return 10*c.n + c.k }
func (c counter) set() int  { c.n = 99; return c.n }
func (c counter) bump() int { shared.n++; return 10*c.n + shared.n }
func (c counter) keep() func() int {
	return func() int { return c.n }
}

type counts interface {
	sum() int
	set() int
	bump() int
	keep() func() int
}

func main() {
	f := shapes(-3, -8, 1.5, 2.5, true, "s", []pair{{1, "a"}}, errors.New("e"), 1+2i, pair{4, "b"}, [2]string{"c", "d"})
	fmt.Println(f())
	n, r := results(5, "five")
	fmt.Println(n, r())
	fmt.Println(named(5))
	fmt.Println(named(0))
	for _, f := range loops() {
		fmt.Print(f(), " ")
	}
	fmt.Println(counters())
	out, last := overFunction(2, ">")
	fmt.Println(out, last())
	fmt.Println(generic("t", 1)())
	fmt.Println(generic(pair{2, "u"}, 3)())
	fmt.Println(recursive(12), concurrent(4), deferred("abc"))
	fmt.Println(ordered([]pair{{3, "c"}, {1, "a"}, {2, "b"}}))
	fmt.Println(other([]pair{{3, "c"}, {1, "a"}, {2, "b"}}, []int{2, 0, 1}))
	fmt.Println(other([]pair{{3, "c"}, {1, "a"}, {2, "b"}}, []int{2, 0}))
	fmt.Println(declared(), deepSort())
	var c counts = shared
	kept := c.keep()
	fmt.Println(c.sum(), c.set(), c.sum(), c.bump(), c.bump(), c.sum(), kept())
}
