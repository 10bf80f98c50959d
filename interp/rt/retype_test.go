package rt

import (
	"fmt"
	"reflect"
	"runtime/debug"
	"strings"
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
	retyper := newRetyper(w.Registry, true)
	retyper.Visit(reflect.ValueOf(&slices).Elem())
	retyper.Visit(reflect.ValueOf(&maps).Elem())
	if len(retyper.seen) != 3*length {
		t.Errorf("%d pointers, slices and maps visited, want %d", len(retyper.seen), 3*length)
	}
}

// BenchmarkRetype visits a million interface values in a slice, and a tenth of that in structs and in a map. It reports the time of each value.
func BenchmarkRetype(b *testing.B) {
	w := newHarness(b)
	d := w.Describe(w.pkg.Scope().Lookup("Point").Type())
	type pair = struct {
		Name  string
		Value any
	}
	values, pairs, byName := make([]any, 1_000_000), make([]pair, 100_000), map[int]any{}
	for i := range values {
		values[i] = d.Box(struct{ X, Y int }{i, i})
	}
	for i := range pairs {
		pairs[i], byName[i] = pair{"", values[i]}, values[i]
	}
	for _, row := range []struct {
		name     string
		variable any
		length   int
	}{{"slice", &values, len(values)}, {"structs", &pairs, len(pairs)}, {"map", &byName, len(byName)}} {
		b.Run(row.name, func(b *testing.B) {
			for b.Loop() {
				newRetyper(w.Registry, true).Visit(reflect.ValueOf(row.variable).Elem())
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*row.length), "ns/value")
		})
	}
}

// TestChannelBuffer checks that channels of this Go release have the layout that channelBuffer uses.
func TestChannelBuffer(t *testing.T) {
	values, pairs := make(chan any, 3), make(chan [2]any, 1)
	values <- 1
	values <- "a"
	<-values
	pairs <- [2]any{5, "b"}
	for _, row := range []struct {
		channel any
		want    string
	}{{values, "[<nil> a <nil>]"}, {pairs, "[[5 b]]"}} {
		if got := fmt.Sprint(channelBuffer(reflect.ValueOf(row.channel)).Interface()); got != row.want {
			t.Errorf("the buffer of a %T is %s, want %s", row.channel, got, row.want)
		}
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

// TestRetypeConcurrently replaces the type in a variable that another goroutine has written to since the type was read.
func TestRetypeConcurrently(t *testing.T) {
	w := newHarness(t)
	r := New(Config{Interpreted: w.config.Interpreted})
	typ := redeclare(t, w, "Point")
	d := r.Describe(typ)
	type point = struct{ X, Y int }
	first, second := d.Box(point{1, 1}), d.Box(point{2, 2})
	nested, other := any([1]any{first}), any([1]any{second})
	addMethod(typ, w.pkg.Scope().Lookup("Celsius").Type(), "String")
	r.Register(d.id, "String", codeOf(point{}, func(x any) string { return fmt.Sprint("now ", x.(point).X) }), nil)
	retyper := r.Retype(false)
	for _, row := range []struct {
		name          string
		read, written any
		replaced      bool
		want          string
	}{
		{"the same value", first, first, true, "now 1"},
		{"another value of the type", first, second, true, "now 2"},
		{"a value of another type", first, 3, false, "3"},
		{"nil", first, nil, false, "<nil>"},
		{"the new type", first, d.Box(point{4, 4}), false, "now 4"},
		{"a value in a compiled one", nested, nested, true, "[now 1]"},
		{"another compiled one", nested, other, false, "[{2 2}]"},
	} {
		x := row.written
		replaced := retyper.replace(interfaceWords(&x), *interfaceWords(&row.read), false)
		got := fmt.Sprint(x)
		if replaced != row.replaced || got != row.want {
			t.Errorf("%s: the variable is %s (replaced: %v), want %s (%v)", row.name, got, replaced, row.want, row.replaced)
		}
		retyper.Visit(reflect.ValueOf(&x).Elem())
		if got := fmt.Sprint(x); strings.Contains(got, "{") {
			t.Errorf("%s: a value without its method after Visit: %s", row.name, got)
		}
	}
}
