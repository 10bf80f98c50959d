package rt

import (
	"reflect"
	"runtime/debug"
	"testing"
)

// TestRetypeLongList visits a list that would need a hundred megabytes of stack if each element was visited by a call.
func TestRetypeLongList(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(16 << 20))
	w := newHarness(t)
	const length = 200_000
	slices, maps := any(1), any(1)
	for range length {
		slices, maps = &[]any{slices}, map[string]any{"next": maps}
	}
	retyper := &Retyper{r: w.Registry, maps: true, seen: map[reachable]bool{}}
	retyper.Visit(reflect.ValueOf(&slices).Elem())
	retyper.Visit(reflect.ValueOf(&maps).Elem())
	if len(retyper.seen) != 3*length {
		t.Errorf("%d pointers, slices and maps visited, want %d", len(retyper.seen), 3*length)
	}
}

// TestCarriers checks that this Go release has the fields.
func TestCarriers(t *testing.T) {
	for carrier, fields := range carriers() {
		if carrier.PkgPath() == "" {
			t.Errorf("%v has no name", carrier)
		}
		for _, name := range fields {
			if f, ok := carrier.FieldByName(name); !ok || len(f.Index) != 1 || !holdsInterface(holdsKey{f.Type, true}, map[reflect.Type]bool{}) {
				t.Errorf("%v.%s is %v", carrier, name, f.Type)
			}
		}
	}
	if n := len(carriers()); n != 12 {
		t.Errorf("%d types, want 12", n)
	}
}
