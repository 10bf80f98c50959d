package main

import "fmt"

type id struct {
	b [4]uint8
	n uint8
}
type digest [2]int
type node struct {
	next *node
	at   map[string]*id
	id   id
	sum  digest
	ids  []id
}

func (n *node) first() id { return n.ids[0] }

func main() {
	n := &node{id: id{n: 1}, sum: digest{1, 2}}
	n.next = n
	x, other := n.id, id{n: 2}
	n.ids = append(n.ids, x, other)
	fmt.Println(n.id == x, x == n.id, n.id != other, n.next.id == n.id, n.first() == x, n.ids[1] == other, n.ids[1] != n.id)
	s := n.sum
	fmt.Println(n.sum == s, s != n.sum, n.next.sum == digest{1, 2}, n.next.sum[1] == s[1], n.id.b == [4]uint8{}, n.id == id{n: 1})
	func() {
		defer func() { fmt.Println(n.id == x, n.sum == s, recover()) }()
		for i := range func(yield func(int) bool) { yield(1); yield(2) } {
			defer fmt.Println(n.id != other, n.sum == s, i)
		}
	}()
	n.at = map[string]*id{"x": &other}
	for key, p := range n.at { // p is a pointer to a struct, in a type that refers to itself
		fmt.Println(key, p == &other, p == &x, p != &other, *p == other)
	}
	m := map[string]*node{"a": n}
	if m["a"].id == x && x == m["a"].next.id {
		fmt.Println("same")
	}
}
