package main

import "fmt"

type data struct {
	state int
	stop  func()
}
type wrapper struct {
	next   *wrapper
	health *data
	p      **data
	list   []*data
}

func (w *wrapper) get() *data { return w.health }

func main() {
	w := &wrapper{health: &data{state: 1}}
	w.next = w
	d := w.health
	other := &data{}
	fmt.Println(w.health == d, d == w.health, w.health != other, w.next.health == other, w.health == w.next.health, d != other, w.get() == d)
	w.p = &d
	w.list = append(w.list, d, other)
	fmt.Println(*w.p == d, w.list[1] == other, w.list[0] != d, w.health == nil, nil != w.health, w.p == &d)
	func() {
		defer func() { fmt.Println(w.health == d, recover()) }()
		for i := range func(yield func(int) bool) { yield(1); yield(2) } {
			defer fmt.Println(w.health != d, i)
		}
	}()
}
