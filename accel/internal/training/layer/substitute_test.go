package layer

import (
	"sync"
	"testing"

	"github.com/quernlab/quern/accel/tensor"
)

// A table applies to its goroutine until its function returns or panics. An inner table
// replaces an outer one.
func TestWithin(t *testing.T) {
	key, other := new(int), new(int)
	called := ""
	table := func(name string) Substitutes {
		return Substitutes{key: func(x *tensor.Tensor) *tensor.Tensor { called += name; return x }}
	}
	see := func() string {
		called = ""
		if f := Substituted(key); f != nil {
			f(nil)
		}
		return called
	}
	if Substituting() || Substituted(key) != nil {
		t.Fatal("a table is open")
	}
	Substitute(table("a"), func() {
		if !Substituting() || see() != "a" || Substituted(other) != nil {
			t.Error("the table does not hold")
		}
		var all sync.WaitGroup
		all.Go(func() {
			if Substituting() || Substituted(key) != nil {
				t.Error("it holds for another goroutine")
			}
		})
		all.Wait()
		func() {
			defer func() { _ = recover() }()
			Substitute(table("b"), func() {
				if see() != "b" {
					t.Error("the inner table does not hold")
				}
				panic("end")
			})
		}()
		if see() != "a" {
			t.Error("the outer table does not hold behind the inner one")
		}
	})
	if Substituting() || Substituted(key) != nil {
		t.Error("the table is still open")
	}
}

// BenchmarkFor measures the cost of For for a layer if no table is in use.
func BenchmarkFor(b *testing.B) {
	key := new(int)
	for b.Loop() {
		Substituted(key)
	}
}
