package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"
)

type point struct{ x, y int }

func (p point) String() string { return fmt.Sprintf("<%d %d>", p.x, p.y) }

type shape interface{ area() int }

func caught(f func()) {
	defer func() {
		switch r := recover().(type) {
		case error:
			fmt.Println("error:", r)
		default:
			fmt.Println("caught", r)
		}
	}()
	f()
}

// A function that a deferred compiled function calls does not recover.
func recoversIn(call func(f func())) {
	f := func() { fmt.Println("in f:", recover()) }
	caught(func() { call(f) })
}

func once(f func()) {
	var o sync.Once
	defer o.Do(f)
	panic("once")
}

func through(f func()) {
	defer reflect.ValueOf(f).Call(nil)
	panic("through")
}

func sorted(f func()) {
	defer sort.Slice([]int{2, 1}, func(i, j int) bool { f(); return i < j })
	panic("sorted")
}

func directly(f func()) {
	defer f()
	panic("directly")
}

func again(f func()) {
	defer func() {
		defer once(f)
		panic("again")
	}()
	panic("first")
}

func zeroPointer() {
	var v *reflect.Value
	defer v.Len()
	fmt.Println("not reached")
}

func values() {
	n := 1
	v := reflect.ValueOf(&n).Elem()
	defer func() { fmt.Println("n is", n) }()
	defer v.SetInt(int64(v.Int()) + 4)
	defer v.Set(reflect.ValueOf(7))
	defer reflect.ValueOf(func(s string, p point) { fmt.Println(s, p) }).Call([]reflect.Value{reflect.ValueOf("called"), reflect.ValueOf(point{1, 2})})
	n = 2
}

// The receiver is that at the defer statement.
func receivers() {
	c, d := make(chan int, 1), make(chan int, 1)
	v := reflect.ValueOf(c)
	defer func() {
		select {
		case _, open := <-c:
			fmt.Println("c is closed", !open)
		case _, open := <-d:
			fmt.Println("d is closed", !open)
		}
	}()
	defer v.Close()
	v = reflect.ValueOf(d)
}

func timers() {
	var wg sync.WaitGroup
	wg.Add(2)
	time.AfterFunc(time.Millisecond, func() { fmt.Println("timer"); wg.Done() })
	time.Sleep(10 * time.Millisecond)
	ctx, cancel := context.WithCancel(context.Background())
	stop := context.AfterFunc(ctx, func() { wg.Done() })
	cancel()
	wg.Wait()
	fmt.Println("stopped", stop())
	<-time.After(time.Millisecond)
	for range time.Tick(time.Millisecond) {
		break
	}
	t := time.NewTimer(time.Hour)
	fmt.Println(t.Reset(time.Millisecond))
	<-t.C
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	select {
	case <-ticker.C:
		fmt.Println("tick")
	case <-time.After(time.Hour):
	}
	caught(func() { time.NewTicker(-1) })
}

func waits() {
	var mu sync.Mutex
	c := sync.NewCond(&mu)
	ready := false
	go func() { mu.Lock(); ready = true; mu.Unlock(); c.Broadcast() }()
	mu.Lock()
	for !ready {
		c.Wait()
	}
	mu.Unlock()
	fmt.Println("ready", ready)
	var m sync.Map
	m.Store(point{1, 2}, "a")
	m.Clear()
	_, ok := m.Load(point{1, 2})
	fmt.Println(ok)
	pool := sync.Pool{New: func() any { return &point{3, 4} }}
	fmt.Println(pool.Get())
	var b strings.Builder
	b.Grow(64)
	fmt.Println(b.Cap() >= 64, b.Len())
	var buf bytes.Buffer
	buf.Grow(10)
	fmt.Println(buf.Available() >= 10)
	caught(func() { b.Grow(-1) })
	caught(func() { buf.Grow(-1) })
}

func locker() {
	var mu sync.Mutex
	var l sync.Locker = &mu
	l.Lock()
	fmt.Println(mu.TryLock())
	l.Unlock()
}

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

func types() {
	fmt.Println(reflect.TypeFor[int](), reflect.TypeFor[point](), reflect.TypeFor[*point](), reflect.TypeFor[shape](), reflect.TypeFor[error]())
	fmt.Println(reflect.TypeFor[map[string][]point](), reflect.TypeFor[io.Reader](), reflect.TypeFor[interface{ area() int }]().NumMethod())
	fmt.Println(typeOf[string](), typeOf[[]point](), typeOf[point]() == reflect.TypeOf(point{}), typeOf[shape]().Kind(), typeOf[point]().NumMethod())
	defer reflect.TypeFor[point]()
}

func sequences() {
	t := bytes.NewBufferString("b a")
	for s := range strings.FieldsSeq(t.String()) {
		fmt.Println(s)
	}
	fmt.Println(slices.Sorted(maps.Keys(map[string]int{"x": 1, "y": 2})))
	v := reflect.ValueOf([]int{1, 2})
	for i, x := range v.Seq2() {
		fmt.Println(i, x)
	}
}

func returned() (n int, err error) {
	defer func() { n++ }()
	return fmt.Sscan("41", &n)
}

func statements() {
	if b, err := io.ReadAll(strings.NewReader("text")); err == nil && len(b) > 0 {
		fmt.Println(string(b))
	}
	list, failed := [2][]byte{}, [1]error{}
	index := func() int { return 1 }
	list[index()], failed[0] = io.ReadAll(io.LimitReader(strings.NewReader("limited"), 3))
	fmt.Println(string(list[1]), failed)
	var n, err = io.WriteString(io.Discard, "four")
	fmt.Println(n, err)
	switch n, err := io.WriteString(io.Discard, "two"); {
	case n == 3:
		fmt.Println("three", err)
	}
	fmt.Println(returned())
	if errors.Is(io.EOF, io.EOF) {
		fmt.Println("end")
	} else if _, err := io.ReadAll(nil); err != nil {
		fmt.Println(err)
	}
}

func main() {
	recoversIn(once)
	recoversIn(through)
	recoversIn(sorted)
	recoversIn(directly)
	recoversIn(again)
	caught(zeroPointer)
	values()
	receivers()
	timers()
	waits()
	locker()
	types()
	sequences()
	statements()
}
