package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
)

type Number interface{ ~int | ~float64 | ~uint8 }
type Pair[K comparable, V any] struct {
	Key K
	Val V
}
type List[T any] struct {
	head *node[T]
	n    int
}
type node[T any] struct {
	v    T
	next *node[T]
}
type Celsius float64
type ID int

func (i ID) String() string { return fmt.Sprint("#", int(i)) }
func (l *List[T]) Push(v T) { l.head = &node[T]{v, l.head}; l.n++ }
func (l *List[T]) Each(f func(T)) {
	for n := l.head; n != nil; n = n.next {
		f(n.v)
	}
}
func (l List[T]) Len() int          { return l.n }
func (p Pair[K, V]) String() string { return fmt.Sprint(p.Key, "=", p.Val) }
func (p *Pair[K, V]) Set(v V)       { p.Val = v }
func Map[T, U any](xs []T, f func(T) U) []U {
	var r []U
	for _, x := range xs {
		r = append(r, f(x))
	}
	return r
}
func Reduce[T, A any](xs []T, a A, f func(A, T) A) A {
	for _, x := range xs {
		a = f(a, x)
	}
	return a
}
func Sum[T Number](xs ...T) (s T) {
	for _, x := range xs {
		s += x
	}
	return
}
func Max[T cmp.Ordered](a, b T) T {
	if a > b {
		return a
	}
	return b
}
func Keys[M ~map[K]V, K cmp.Ordered, V any](m M) []K {
	var r []K
	for k := range m {
		r = append(r, k)
	}
	slices.Sort(r)
	return r
}
func Contains[T comparable](xs []T, x T) bool {
	for _, y := range xs {
		if x == y {
			return true
		}
	}
	return false
}
func Fact[T Number](n T) T {
	if n <= 1 {
		return 1
	}
	return n * Fact(n-1)
}
func even[T Number](n T, f func(T) bool) bool {
	if n == 0 {
		return true
	}
	return odd(n-1, f)
}
func odd[T Number](n T, f func(T) bool) bool {
	if n == 0 {
		return false
	}
	return even(n-1, f)
}

type Stringer interface{ String() string }

func Join[T Stringer](xs []T) string {
	out := ""
	for _, x := range xs {
		out += x.String() + ","
	}
	return out
}
func Zero[T any]() (z T) { return }
func Ptr[T any](v T) *T  { return &v }
func Kind[T any](v T) string {
	switch x := any(v).(type) {
	case int:
		return fmt.Sprint("int", x)
	case ID:
		return "ID" + x.String()
	case string:
		return "string" + x
	}
	return fmt.Sprintf("%T", v)
}
func Try[T any](f func() T) (v T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	return f(), nil
}
func Chunk[S ~[]E, E any](s S, n int) (r []S) {
	for len(s) > n {
		r = append(r, s[:n])
		s = s[n:]
	}
	return append(r, s)
}

type Tree[T any] struct {
	left, right *Tree[T]
	v           T
}

func (t *Tree[T]) Insert(v T, less func(a, b T) bool) *Tree[T] {
	if t == nil {
		return &Tree[T]{v: v}
	}
	if less(v, t.v) {
		t.left = t.left.Insert(v, less)
	} else {
		t.right = t.right.Insert(v, less)
	}
	return t
}
func (t *Tree[T]) Walk(f func(T)) {
	if t != nil {
		t.left.Walk(f)
		f(t.v)
		t.right.Walk(f)
	}
}
func local[T any](v T) string {
	type box struct{ v T }
	return fmt.Sprintf("%v", box{v})
}

type Shape interface{ Area() float64 }
type Sq[T Number] struct{ a T }

func (s Sq[T]) Area() float64 { return float64(s.a) * float64(s.a) }

func main() {
	xs := []int{3, 1, 2}
	fmt.Println(Map(xs, func(x int) string { return strings.Repeat("x", x) }), Map(xs, func(x int) Celsius { return Celsius(x) / 2 }))
	fmt.Println(Reduce(xs, "", func(a string, x int) string { return a + fmt.Sprint(x) }), Sum(xs...), Sum(1.5, 2), Sum[uint8](200, 100), Sum[Celsius]())
	fmt.Println(Max("a", "b"), Max(2, 1), Max(ID(4), 3), Keys(map[string]int{"b": 1, "a": 2}), Contains([]ID{1, 2}, 2), Contains([]any{1, "x"}, "x"), Fact(10), Fact(5.0))
	fmt.Println(even(10, nil), odd(7.0, nil), Join([]ID{1, 2}), Join([]Pair[string, int]{{"a", 1}}), Zero[int](), Zero[*ID](), Zero[string]() == "", *Ptr(ID(3)), *Ptr([2]int{1, 2}))
	fmt.Println(Kind(1), Kind(ID(2)), Kind("s"), Kind([]ID{1}), local(3), local(ID(3)), Chunk([]int{1, 2, 3, 4, 5}, 2))
	var l List[Pair[string, int]]
	l.Push(Pair[string, int]{"a", 1})
	l.Push(Pair[string, int]{"b", 2})
	l.Each(func(p Pair[string, int]) { p.Set(9); fmt.Print(p, " ") })
	l.Each(func(p Pair[string, int]) { fmt.Print(p, " ") })
	fmt.Println(l.Len(), l.n)
	var t *Tree[string]
	for _, s := range []string{"m", "c", "x", "a"} {
		t = t.Insert(s, func(a, b string) bool { return a < b })
	}
	t.Walk(func(s string) { fmt.Print(s) })
	fmt.Println(Try(func() int { return xs[5] }))
	fmt.Println(Try(func() error { return errors.New("e") }))
	ps := []Pair[string, int]{{"a", 3}, {"b", 1}, {"c", 2}}
	slices.SortFunc(ps, func(a, b Pair[string, int]) int { return cmp.Compare(a.Val, b.Val) })
	fmt.Println(ps, slices.IndexFunc(ps, func(p Pair[string, int]) bool { return p.Key == "c" }), slices.MaxFunc(ps, func(a, b Pair[string, int]) int { return a.Val - b.Val }))
	sort.Slice(ps, func(i, j int) bool { return ps[i].Key > ps[j].Key })
	fmt.Println(ps, slices.Sorted(maps.Keys(map[ID]bool{3: true, 1: true})), slices.Contains(xs, 2))
	total := 0.0
	for _, s := range []Shape{Sq[int]{3}, Sq[float64]{1.5}, &Sq[int]{2}} {
		total += s.Area()
	}
	fmt.Println(total)
}
