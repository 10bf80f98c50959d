package main

import (
	"cmp"
	"context"
	"crypto/hkdf"
	"crypto/pbkdf2"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unique"
)

type color string

type point struct{ x, y int }

func (p point) String() string { return fmt.Sprintf("<%d,%d>", p.x, p.y) }

type failure struct{ code int }

func (f *failure) Error() string { return fmt.Sprint("failure ", f.code) }

func (f *failure) Temporary() bool { return f.code > 4 }

func larger[T cmp.Ordered](a, b T) T {
	if cmp.Compare(a, b) > 0 {
		return a
	}
	return b
}

func squares(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i * i) {
				fmt.Println("stopped at", i)
				return
			}
		}
	}
}

func zip[A, B any](a iter.Seq[A], b iter.Seq[B]) iter.Seq2[A, B] {
	return func(yield func(A, B) bool) {
		next, stop := iter.Pull(b)
		defer stop()
		for x := range a {
			y, ok := next()
			if !ok || !yield(x, y) {
				return
			}
		}
	}
}

type tree[T any] struct {
	left, right *tree[T]
	value       T
}

func (t *tree[T]) all() iter.Seq[T] {
	return func(yield func(T) bool) { t.push(yield) }
}

func (t *tree[T]) push(yield func(T) bool) bool {
	return t == nil || t.left.push(yield) && yield(t.value) && t.right.push(yield)
}

func try(what string, f func()) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Println(what, "panics:", r)
		}
	}()
	f()
	fmt.Println(what, "does not panic")
}

func main() {
	// maps
	m := map[color]int{"red": 1, "green": 2, "blue": 3}
	fmt.Println(slices.Sorted(maps.Keys(m)), slices.Sorted(maps.Values(m)))
	c := maps.Clone(m)
	c["red"] = 9
	fmt.Println(m, c, maps.Equal(m, c), maps.Equal(m, maps.Clone(m)))
	maps.DeleteFunc(c, func(k color, v int) bool { return v < 3 })
	maps.Copy(c, map[color]int{"pink": 4})
	maps.Insert(c, maps.All(map[color]int{"grey": 5}))
	fmt.Println(c, maps.Collect(maps.All(c)), maps.Clone(map[string]int(nil)) == nil)
	fmt.Println(maps.EqualFunc(m, map[color]string{"red": "x", "green": "xx", "blue": "xxx"}, func(n int, s string) bool { return n == len(s) }))
	points := map[point]point{{1, 2}: {3, 4}}
	for k, v := range maps.All(points) {
		fmt.Println(k, v)
	}
	fmt.Printf("%T %v\n", maps.Clone(points), maps.Collect(slices.All([]color{"a", "b"})))
	fmt.Println(larger(2, 3), larger(color("b"), "a"), larger(2.5, 1))

	// iter
	for i := range squares(3) {
		fmt.Print(i, " ")
	}
	for i := range squares(9) {
		if i > 10 {
			break
		}
	}
	next, stop := iter.Pull(squares(9))
	fmt.Println(next())
	fmt.Println(next())
	stop()
	fmt.Println(next())
	for a, b := range zip(squares(5), slices.Values([]color{"x", "y", "z"})) {
		fmt.Print(a, b, " ")
	}
	fmt.Println()
	next2, stop2 := iter.Pull2(maps.All(map[point]color{{1, 1}: "one"}))
	fmt.Println(next2())
	fmt.Println(next2())
	stop2()
	t := &tree[point]{value: point{2, 2}, left: &tree[point]{value: point{1, 1}}, right: &tree[point]{value: point{3, 3}}}
	for p := range t.all() {
		fmt.Print(p, " ")
	}
	fmt.Println(slices.Collect(t.all()))
	nextPoint, stopPoint := iter.Pull(t.all())
	for {
		p, ok := nextPoint()
		fmt.Print(p, ok, " ")
		if !ok {
			break
		}
	}
	stopPoint()
	broken, end := iter.Pull(func(yield func(int) bool) { yield(1); panic("broken") })
	fmt.Println(broken())
	try("next", func() { broken() })
	end()
	for w := range strings.FieldsSeq(" a bc  d ") {
		fmt.Printf("%q ", w)
	}
	fmt.Println()

	// sync
	calls := 0
	once := sync.OnceValue(func() point { calls++; return point{calls, calls} })
	fmt.Println(once(), once())
	both := sync.OnceValues(func() (color, error) { calls++; return "c", &failure{calls} })
	fmt.Println(both())
	fmt.Println(both())
	bad := sync.OnceValue(func() int { panic("once") })
	try("first", func() { bad() })
	try("second", func() { bad() })
	var current atomic.Pointer[point]
	fmt.Println(current.Load() == nil)
	first := &point{1, 2}
	current.Store(first)
	fmt.Println(current.Load() == first, current.Load().y, current.CompareAndSwap(first, &point{5, 6}), current.CompareAndSwap(first, nil))
	fmt.Println(*current.Swap(nil), current.Load() == nil)
	type shared struct {
		count atomic.Pointer[int]
		total atomic.Int64
	}
	var s shared
	s.count.Store(new(int))
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range 25 {
				for {
					old := s.count.Load()
					n := *old + 1
					if s.count.CompareAndSwap(old, &n) {
						break
					}
				}
				s.total.Add(2)
			}
		})
	}
	wait.Wait()
	fmt.Println(*s.count.Load(), s.total.Load())

	// unique, hash
	h := unique.Make(color("red"))
	fmt.Println(h == unique.Make(color("r"+"ed")), h == unique.Make(color("blue")), h.Value())
	fmt.Println(unique.Make(point{1, 2}) == unique.Make(point{1, 2}), unique.Make(point{1, 2}).Value())
	fmt.Println(unique.Make[any](1) == unique.Make[any](color("1")), unique.Make[fmt.Stringer](point{1, 2}).Value())
	seed := maphash.MakeSeed()
	fmt.Println(maphash.Comparable(seed, point{1, 2}) == maphash.Comparable(seed, point{1, 2}), maphash.Comparable(seed, color("a")) == maphash.Comparable(seed, color("b")))
	var sum maphash.Hash
	maphash.WriteComparable(&sum, point{3, 4})
	fmt.Println(sum.Sum64() != 0)

	// errors
	err := fmt.Errorf("wrapped: %w", &failure{7})
	if f, ok := errors.AsType[*failure](err); ok {
		fmt.Println(f.code, f)
	}
	_, err = os.Open("/does/not/exist")
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		fmt.Println(e.Op, e.Path)
	}
	_, ok := errors.AsType[*failure](err)
	fmt.Println(ok)
	_, ok = errors.AsType[*failure](nil)
	fmt.Println(ok)

	// reflect
	fmt.Println(reflect.TypeFor[int](), reflect.TypeFor[error](), reflect.TypeFor[map[string]time.Duration](), reflect.TypeFor[color]())
	n, ok := reflect.TypeAssert[int](reflect.ValueOf(3))
	fmt.Println(n, ok)
	_, ok = reflect.TypeAssert[string](reflect.ValueOf(3))
	fmt.Println(ok)

	// random
	within := true
	for range 100 {
		if x := rand.N(10); x < 0 || x > 9 {
			within = false
		}
		if x := rand.N(time.Minute); x < 0 || x >= time.Minute {
			within = false
		}
	}
	fmt.Println(within)
	try("N", func() { rand.N(uint8(0)) })

	// keys
	key, err := hkdf.Key(sha256.New, []byte("secret"), []byte("salt"), "info", 8)
	fmt.Printf("%x %v\n", key, err)
	key, err = hkdf.Expand(sha256.New, key, "more", 8)
	fmt.Printf("%x %v\n", key, err)
	key, err = pbkdf2.Key(sha256.New, "password", []byte("salt"), 10, 8)
	fmt.Printf("%x %v\n", key, err)

	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(&failure{1})
	fmt.Println(context.Cause(ctx))
}
