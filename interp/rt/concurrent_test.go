package rt

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"testing"
)

// TestConcurrentUse runs the operations of goroutines of earlier cells while types and
// methods of a new cell are described and registered.
func TestConcurrentUse(t *testing.T) {
	w := newHarness(t)
	shape, stringer := w.typ(t, "Shape"), w.Describe(w.checked(reflect.TypeFor[fmt.Stringer]()))
	var wait sync.WaitGroup
	for g := range 4 {
		wait.Go(func() {
			// Each goroutine has its own values: a method of the harness writes its receiver.
			values := []any{w.box(Square{1}), w.box(Celsius(2)), w.box([]Point{{1, 2, ""}}), w.box(Record{}), w.box(&Wrapped{"op", Code{1}})}
			for i := range 50 {
				x := values[(g+i)%len(values)]
				w.Implements(x, shape)
				w.Convert(x, stringer)
				_ = fmt.Sprintf("%+v %T", x, x)
				if _, err := json.Marshal(x); err != nil {
					t.Error(err)
				}
				reflect.TypeOf(x).NumMethod()
				w.Equal(w.box(Int(i)), w.box(Int(g)))
			}
		})
	}
	wait.Go(func() {
		for i := range 50 {
			typ := redeclare(t, w, "Celsius")
			addMethod(typ, w.pkg.Scope().Lookup("Celsius").Type(), "String")
			d := w.Describe(typ)
			w.Register(d.ID(), "String", codeOf(1.0, func(x any) string { return strconv.Itoa(i) }), nil)
			if got := fmt.Sprint(d.Box(1.0)); got != strconv.Itoa(i) {
				t.Errorf("declaration %d prints %q", i, got)
			}
		}
	})
	wait.Wait()
}
