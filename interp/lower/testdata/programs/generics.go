package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

type Number interface {
	~int | ~int64 | ~float64
}

func Sum[T Number](xs ...T) (t T) {
	for _, x := range xs {
		t += x
	}
	return
}

func Map[T, U any](xs []T, f func(T) U) []U {
	out := make([]U, 0, len(xs))
	for _, x := range xs {
		out = append(out, f(x))
	}
	return out
}

func Reduce[T, A any](xs []T, a A, f func(A, T) A) A {
	for _, x := range xs {
		a = f(a, x)
	}
	return a
}

type Stack[T any] struct{ items []T }

func (s *Stack[T]) Push(x T) { s.items = append(s.items, x) }
func (s *Stack[T]) Pop() (x T, ok bool) {
	if len(s.items) == 0 {
		return x, false
	}
	x = s.items[len(s.items)-1]
	s.items = s.items[:len(s.items)-1]
	return x, true
}
func (s Stack[T]) String() string { return fmt.Sprintf("Stack%v", s.items) }

type Pair[K comparable, V any] struct {
	Key K
	Val V
}

func (p Pair[K, V]) String() string { return fmt.Sprintf("%v=>%v", p.Key, p.Val) }

type OrderedMap[K cmp.Ordered, V any] struct{ m map[K]V }

func NewOrderedMap[K cmp.Ordered, V any]() *OrderedMap[K, V] {
	return &OrderedMap[K, V]{m: make(map[K]V)}
}
func (o *OrderedMap[K, V]) Set(k K, v V) { o.m[k] = v }
func (o *OrderedMap[K, V]) Each(f func(K, V)) {
	keys := make([]K, 0, len(o.m))
	for k := range o.m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		f(k, o.m[k])
	}
}
func (o *OrderedMap[K, V]) Pairs() []Pair[K, V] {
	var out []Pair[K, V]
	o.Each(func(k K, v V) { out = append(out, Pair[K, V]{k, v}) })
	return out
}

type List[T any] struct {
	head *node[T]
	size int
}
type node[T any] struct {
	v    T
	next *node[T]
}

func (l *List[T]) Add(v T) { l.head = &node[T]{v, l.head}; l.size++ }
func (l *List[T]) All(f func(T) bool) {
	for n := l.head; n != nil; n = n.next {
		if !f(n.v) {
			return
		}
	}
}

type MyInt int

func (m MyInt) String() string { return "MyInt(" + strconv.Itoa(int(m)) + ")" }

type Stringer interface{ String() string }

func Join[T Stringer](xs []T) string {
	var parts []string
	for _, x := range xs {
		parts = append(parts, x.String())
	}
	return strings.Join(parts, ",")
}

type Shape interface{ Area() float64 }
type Sq struct{ s float64 }

func (q Sq) Area() float64 { return q.s * q.s }

type Setter[T any] interface {
	*T
	Set(string)
}
type Conf struct{ v string }

func (c *Conf) Set(s string) { c.v = s }
func Make[T any, P Setter[T]](s string) T {
	var t T
	P(&t).Set(s)
	return t
}

func Kind[T any](x T) string {
	switch v := any(x).(type) {
	case int:
		return "int"
	case string:
		return "string " + v
	case MyInt:
		return "MyInt " + v.String()
	case []T:
		return "slice"
	case Shape:
		return fmt.Sprint("shape ", v.Area())
	}
	return fmt.Sprintf("other %T", x)
}

func Local[T any](x T) any {
	type box struct{ v T }
	return box{x}
}

type Tree[T cmp.Ordered] struct {
	left, right *Tree[T]
	val         T
}

func (t *Tree[T]) Insert(v T) *Tree[T] {
	if t == nil {
		return &Tree[T]{val: v}
	}
	switch {
	case v < t.val:
		t.left = t.left.Insert(v)
	case v > t.val:
		t.right = t.right.Insert(v)
	}
	return t
}
func (t *Tree[T]) Walk(f func(T)) {
	if t != nil {
		t.left.Walk(f)
		f(t.val)
		t.right.Walk(f)
	}
}

func Ptr[T any](x T) *T { return &x }
func Keys[M ~map[K]V, K comparable, V any](m M) []K {
	r := make([]K, 0, len(m))
	for k := range m {
		r = append(r, k)
	}
	return r
}

type Set[T comparable] map[T]struct{}

func (s Set[T]) Add(x T)              { s[x] = struct{}{} }
func (s Set[T]) Has(x T) bool         { _, ok := s[x]; return ok }
func Equal[T comparable](a, b T) bool { return a == b }

type Opt[T any] func(*T)

type Num interface{ ~int | ~float64 }

func Abs[T Num](x T) T {
	if x < 0 {
		return -x
	}
	return x
}

type Base[T any] struct{ V T }

func (b *Base[T]) Get() T { return b.V }

type Derived struct {
	Base[string]
	N int
}

type alias = Stack[int]
type GA[T any] = []T

func Must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func Zero[T any]() T { var z T; return z }

type E struct{ code int }

func (e *E) Error() string { return fmt.Sprint("E", e.code) }

func main() {
	fmt.Println(Sum(1, 2, 3), Sum(1.5, 2), Sum[MyInt](1, 2), Sum[int]())
	fmt.Println(Map([]int{1, 2}, strconv.Itoa), Map([]int{1, 2}, func(i int) MyInt { return MyInt(i) }))
	fmt.Println(Reduce([]string{"a", "b"}, 0, func(a int, s string) int { return a + len(s) }))
	var s Stack[string]
	s.Push("x")
	s.Push("y")
	fmt.Println(s, &s)
	v, ok := s.Pop()
	fmt.Println(v, ok, s.items)
	var si alias
	si.Push(4)
	fmt.Println(si.Pop())
	fmt.Println(si.Pop())
	om := NewOrderedMap[string, MyInt]()
	om.Set("b", 2)
	om.Set("a", 1)
	fmt.Println(om.Pairs())
	l := &List[Shape]{}
	l.Add(Sq{2})
	l.Add(Sq{3})
	for x := range l.All {
		fmt.Println(x.Area())
	}
	fmt.Println(Join([]MyInt{1, 2}), l.size)
	fmt.Println(Make[Conf]("hello"))
	fmt.Println(Kind(1), Kind("s"), Kind(MyInt(3)), Kind(Sq{2}), Kind(2.5), Kind([]int{}), Kind(Pair[string, int]{}))
	fmt.Printf("%v %v %v\n", Local(1), Local("a"), Local(1) == Local(1))
	var t *Tree[string]
	for _, w := range strings.Fields("d b a c e b") {
		t = t.Insert(w)
	}
	t.Walk(func(s string) { fmt.Print(s, " ") })
	fmt.Println(*Ptr(3), *Ptr(MyInt(3)))
	ks := Keys(map[string]bool{"q": true, "p": false})
	sort.Strings(ks)
	fmt.Println(ks)
	set := Set[MyInt]{}
	set.Add(3)
	fmt.Println(set.Has(3), set.Has(4), set)
	fmt.Println(Equal(1, 1), Equal[any](1, "1"), Equal[Shape](Sq{1}, Sq{1}), Equal(Sq{1}, Sq{2}))
	d := Derived{Base[string]{"v"}, 1}
	fmt.Println(d.Get(), d.V, Abs(-3), Abs(-2.5))
	var ga GA[int] = []int{1}
	fmt.Println(ga, Must(strconv.Atoi("12")), Zero[string]() == "", Zero[*int]() == nil, Zero[error]() == nil)
	xs := []MyInt{3, 1, 2}
	slices.Sort(xs)
	fmt.Println(xs, slices.Max(xs), slices.Contains(xs, 2), slices.Index(xs, 9))
	ps := []Pair[string, int]{{"b", 2}, {"a", 2}, {"c", 1}}
	slices.SortFunc(ps, func(x, y Pair[string, int]) int {
		return cmp.Or(cmp.Compare(x.Val, y.Val), strings.Compare(x.Key, y.Key))
	})
	fmt.Println(ps)
	idx, found := slices.BinarySearch([]int{1, 3, 5}, 3)
	fmt.Println(idx, found, min(3, 1, 2), max(2.5, 1), min("b", "a"))
	m := map[string]int{"a": 1, "b": 2}
	m2 := maps.Clone(m)
	clear(m)
	fmt.Println(len(m), len(m2), slices.Sorted(maps.Keys(m2)), slices.Collect(maps.Values(map[int]int{1: 5})))
	once := sync.OnceValue(func() int { fmt.Println("computing"); return 42 })
	fmt.Println(once(), once())
	var ap atomic.Pointer[Conf]
	ap.Store(&Conf{"at"})
	fmt.Println(ap.Load().v, ap.CompareAndSwap(nil, nil))
	var av atomic.Int64
	av.Add(3)
	fmt.Println(av.Load())
	f := Sum[float64]
	fmt.Println(f(1, 2))
	var err error = &E{4}
	err = fmt.Errorf("wrap: %w", err)
	if e, ok := errors.AsType[*E](err); ok {
		fmt.Println("AsType", e.code)
	}
	chunked := slices.Collect(slices.Chunk([]int{1, 2, 3, 4, 5}, 2))
	fmt.Println(chunked, slices.Repeat([]int{1}, 3), slices.Concat([]int{1}, []int{2}))
}
