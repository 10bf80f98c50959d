package main

import (
	"database/sql"
	"fmt"
	"hash/maphash"
	"iter"
	"runtime"
	"slices"
	"unique"
)

// Functions of compiled packages that are generic, for types of the program.

type point struct{ x, y int }

type level int

func coroutine() {
	next, stop := iter.Pull(slices.Values([]point{{1, 2}, {3, 4}}))
	defer stop()
	fmt.Println(next())
	fmt.Println(next())
	fmt.Println(next())
}

func null[T any](value any) {
	var n sql.Null[T]
	err := n.Scan(value)
	if err != nil {
		fmt.Println(n.V, err) // whether n is valid then depends on the Go release
		return
	}
	fmt.Println(n.V, n.Valid, err)
}

func main() {
	a, b := unique.Make(point{1, 2}), unique.Make(point{1, 2})
	fmt.Println(a == b, a.Value(), unique.Make(level(3)).Value(), unique.Make[any](point{3, 4}).Value() == any(point{3, 4}), a == unique.Make(point{2, 1}))
	seed := maphash.MakeSeed()
	fmt.Println(maphash.Comparable(seed, point{1, 2}) == maphash.Comparable(seed, point{1, 2}), maphash.Comparable(seed, level(1)) == maphash.Comparable(seed, level(2)))
	var h maphash.Hash
	maphash.WriteComparable(&h, point{5, 6})
	fmt.Println(h.Sum64() == h.Sum64())
	null[int]("12")
	null[level](int64(4))
	null[string](nil)
	null[int]("x")
	coroutine()
	p := &point{1, 2}
	c := runtime.AddCleanup(p, func(n int) {}, 1)
	c.Stop()
	runtime.KeepAlive(p)
	fmt.Println(slices.Max([]level{3, 5, 1}), slices.Sorted(slices.Values([]level{3, 1, 2})))
}
