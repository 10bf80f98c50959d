package main

import "fmt"

type Int int

// all creates values of local types, also generic ones.
func all[A ~int](a A) []any {
	type Int int
	type Pair[B any] struct {
		A    A
		B    B
		next *Pair[B]
	}
	p := Pair[Int]{A: a, B: Int(a), next: &Pair[Int]{}}
	p.next.A = a
	return []any{Int(a), p.next.A, p, Pair[string]{B: "s"}, Pair[A]{A: a}.B}
}

type level int

type box[T any] struct{ x T }

func (b *box[T]) local() any {
	type entry struct{ x T }
	return fmt.Sprintf("%T %T %T", entry{b.x}, []*entry{}, struct{ e entry }{})
}

func main() {
	lists := [][]any{all(1), all(Int(1)), all(1)}
	for i, a := range lists {
		for j, b := range lists {
			for k := range a {
				fmt.Print(i, j, k, a[k] == b[k] && k != 2, " ")
			}
		}
		fmt.Println()
	}
	type Pair[B any] struct{ b B }
	for _, list := range append(lists, all(level(2))) {
		for i, x := range list {
			if i != 2 { // Go numbers a local type in the name of another one
				fmt.Printf("%T ", x)
			}
		}
	}
	fmt.Println((&box[map[string]level]{}).local(), (&box[[]error]{}).local())
	_, ok := lists[0][3].(Pair[string])
	fmt.Println(ok, any(Pair[int]{1}) == any(Pair[int]{1}))
}
