package named

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

func TestCheck(t *testing.T) {
	if err := Check(); err != nil {
		t.Fatal(err)
	}
}

// TestStress uses types from goroutines that also make some, while the garbage collector runs.
func TestStress(t *testing.T) {
	rounds := 30
	if testing.Short() {
		rounds = 6
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			c, k := newCloner(t)
			for i := range rounds {
				if i%10 == 9 {
					c.owner.Close()
					c, k = newCloner(t)
				}
				stress(t, k, g*rounds+i)
				if i%8 == 0 {
					runtime.GC()
				}
			}
			c.owner.Close()
		})
	}
	wg.Wait()
}

func stress(t *testing.T, k kit, n int) {
	many := reflect.MakeMap(reflect.MapOf(k["Label"], reflect.PointerTo(k["Big"])))
	keys := map[any]int{}
	queue := reflect.MakeChan(k["Queue"], 10)
	for i := range 10 {
		label := k.of("Label", fmt.Sprint("l", i))
		big := k.new("Big")
		pointers := big.Elem().Field(0)
		for j := range pointers.Len() {
			v := j * i
			pointers.Index(j).Set(reflect.ValueOf(&v))
		}
		many.SetMapIndex(label, big)
		keys[label.Interface()] = i
		call(queue, "Put", label)
	}
	tree := k.new("Tree")
	if err := json.Unmarshal([]byte(`{"Value": 1, "Kids": [{"Value": 2, "Kids": [{"Value": 3}]}, {"Named": {"<a>": {"Value": 9}}}]}`), tree.Interface()); err != nil {
		t.Error(err)
	}
	labels := reflect.MakeSlice(k["Labels"], 20, 20)
	for i := range 20 {
		labels.Index(i).SetString(fmt.Sprint("l", (i*7+n)%20+10))
	}
	sort.Sort(labels.Interface().(sort.Interface))
	if first, last := labels.Index(0).String(), labels.Index(19).String(); first != "l10" || last != "l29" {
		t.Errorf("sorted %s to %s", first, last)
	}
	if got := k.of("Celsius", n).Interface().(fmt.Stringer).String(); got != fmt.Sprintf("%d.0°C", n) {
		t.Error(got)
	}
	if got := call(tree, "Sum")[0]; got != 6 {
		t.Errorf("the sum of the tree is %v", got)
	}
	for i := range 10 {
		label := k.of("Label", fmt.Sprint("l", i))
		if got := call(many.MapIndex(label), "Sum")[0]; got != i*1999*1000 {
			t.Errorf("the sum of the pointers is %v", got)
		}
		if keys[label.Interface()] != i || call(queue, "Take")[0] != label.Interface() {
			t.Errorf("the key %s has been lost", label)
		}
	}
}

func freeStubs() int {
	table.Lock()
	defer table.Unlock()
	return Stubs - int(table.next) + len(table.free)
}

// TestStubs calls each stub: it must run the function in its own slot.
func TestStubs(t *testing.T) {
	var o Owner
	defer o.Close()
	all, err := o.take(freeStubs(), "main.Other")
	if err != nil {
		t.Fatal(err)
	}
	type result struct {
		a, b, c, d int
		s          string
		f          float64
	}
	for _, s := range all {
		s.set(reflect.ValueOf(func(a, b, c, d int, text string, f float64) result { return result{a, b, c, d + int(s), text, f} }))
	}
	runtime.GC()
	for _, s := range all {
		code := s.code()
		p := &code
		f := *(*func(a, b, c, d int, text string, f float64) result)(unsafe.Pointer(&p))
		if got := f(1, 2, 3, 4, "x", 5); got != (result{1, 2, 3, 4 + int(s), "x", 5}) {
			t.Fatalf("stub %d returned %v", s, got)
		}
	}
}

// number makes a type with one method, which returns n.
func number(t *testing.T, o *Owner, n int) *Type {
	t.Helper()
	made, err := o.New(Declaration{Name: "main.Number", Path: "main", Memory: reflect.TypeFor[struct{ A, B int }](), Methods: []MethodName{{Name: "N"}}})
	if err == nil {
		err = made.Complete(Parts{}, []Method{returning(n)})
	}
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func returning(n int) Method {
	return Method{Name: "N", Type: reflect.TypeFor[func() int](), Call: func(reflect.Value, []reflect.Value) []reflect.Value { return []reflect.Value{reflect.ValueOf(n)} }}
}

type numbered interface{ N() int }

// TestWord runs methods without reflection, of receivers in memory and of receivers that are one pointer.
func TestWord(t *testing.T) {
	var o Owner
	defer o.Close()
	signature := reflect.TypeFor[func(...string) string]()
	name := func(p unsafe.Pointer, in ...string) string { return fmt.Sprint(*(*int)(p), in) }
	for _, memory := range []reflect.Type{reflect.TypeFor[int](), reflect.TypeFor[struct{ N *int }](), reflect.TypeFor[[3]int]()} {
		for _, pointer := range []bool{false, true} {
			made, err := o.New(Declaration{Name: "main.W", Path: "main", Memory: memory, Methods: []MethodName{{Name: "W", Pointer: pointer}}})
			if err != nil {
				t.Fatal(err)
			}
			word := name
			if pointer && IsDirect(memory) { // the address of the pointer
				word = func(p unsafe.Pointer, in ...string) string { return name(*(*unsafe.Pointer)(p), in...) }
			}
			if err := made.Complete(Parts{}, []Method{{Name: "W", Type: signature, Word: reflect.ValueOf(word)}}); err != nil {
				t.Fatal(err)
			}
			x := reflect.New(made.Type())
			n := 7
			if IsDirect(memory) {
				*(**int)(x.UnsafePointer()) = &n
			} else {
				*(*int)(x.UnsafePointer()) = n
			}
			values := []reflect.Value{x}
			if !pointer {
				values = append(values, x.Elem())
			}
			for _, v := range values {
				for _, got := range []any{
					v.Interface().(interface{ W(...string) string }).W("a", "b"), call(v, "W", "a", "b")[0],
					v.Type().Method(0).Func.Call([]reflect.Value{v, reflect.ValueOf("a"), reflect.ValueOf("b")})[0].Interface(),
				} {
					if got != "7 [a b]" {
						t.Errorf("%s in memory like %s: got %v", v.Type(), memory, got)
					}
				}
			}
		}
	}
}

// TestClose gives the same stubs back many times.
func TestClose(t *testing.T) {
	var kept, others Owner
	defer kept.Close()
	first := number(t, &kept, -1)
	var o Owner
	stays := number(t, &o, -2)
	stays.Keep()
	if _, err := others.take(freeStubs()-500, "main.Other"); err != nil {
		t.Fatal(err)
	}
	defer others.Close()
	for n := range 20 {
		var last *Type
		for range 200 {
			last = number(t, &o, n)
		}
		x := reflect.New(last.Type()).Elem().Interface().(numbered)
		if got := x.N(); got != n {
			t.Fatalf("got %d, want %d", got, n)
		}
		o.Close()
		func() {
			defer func() {
				if r := fmt.Sprint(recover()); !strings.Contains(r, "has been closed") {
					t.Errorf("a method of a closed owner: %s", r)
				}
			}()
			x.N()
		}()
	}
	for _, c := range []struct {
		t    *Type
		want int
	}{{first, -1}, {stays, -2}} {
		if got := reflect.New(c.t.Type()).Interface().(numbered).N(); got != c.want {
			t.Errorf("got %d, want %d", got, c.want)
		}
	}
	table.Lock()
	defer table.Unlock()
	code := stays.code[0]
	for _, s := range []stub{code.word, code.value} {
		if slices.Contains(table.free, s) {
			t.Errorf("the stub %d of a kept type is free", s)
		}
	}
	table.free = append(table.free, code.word, code.value) // for TestStubs, if it is repeated
}

func TestExhausted(t *testing.T) {
	var o, other Owner
	defer o.Close()
	first := number(t, &other, 5)
	if _, err := o.take(freeStubs()-1, "main.Other"); err != nil {
		t.Fatal(err)
	}
	made, err := other.New(Declaration{Name: "main.Number", Path: "main", Memory: reflect.TypeFor[int](), Methods: []MethodName{{Name: "N"}}})
	if err != nil {
		t.Fatal(err)
	}
	err = made.Complete(Parts{}, []Method{returning(6)})
	var exhausted *ExhaustedError
	if !errors.As(err, &exhausted) || exhausted.Type != "main.Number" || !strings.Contains(err.Error(), "restart the kernel") {
		t.Errorf("got %v", err)
	}
	if made.Type().NumMethod() != 0 {
		t.Error("a type without code has methods")
	}
	other.Close()
	if number(t, &other, 7); first.Type().NumMethod() != 1 {
		t.Error("the first type has lost its method")
	}
	other.Close()
}

// TestEarlier makes versions of types with a method of an earlier version.
func TestEarlier(t *testing.T) {
	text := Method{Name: "N", Type: reflect.TypeFor[func() string](), Call: func(reflect.Value, []reflect.Value) []reflect.Value { return []reflect.Value{reflect.ValueOf("text")} }}
	for _, row := range []struct {
		name    string
		memory  reflect.Type // of both
		second  reflect.Type // of the second one, if it is another
		method  Method
		pointer bool // of the second one
		other   bool // owner
		stubs   int  // that the second one takes
		want    any
	}{
		{"the same method", reflect.TypeFor[int](), nil, returning(2), false, false, 0, 1},
		{"of a struct", reflect.TypeFor[struct{ A, B *int }](), nil, returning(2), false, false, 0, 1},
		{"of a pointer", reflect.TypeFor[struct{ A *int }](), nil, returning(2), false, false, 0, 1},
		{"memory with other names", reflect.TypeFor[struct{ A, B int }](), reflect.TypeFor[struct{ C, D int }](), returning(2), false, false, 0, 1},
		{"another signature", reflect.TypeFor[int](), nil, text, false, false, 2, "text"},
		{"another receiver", reflect.TypeFor[int](), nil, returning(2), true, false, 1, 2},
		{"other memory", reflect.TypeFor[int](), reflect.TypeFor[string](), returning(2), false, false, 2, 2},
		{"pointers elsewhere", reflect.TypeFor[struct{ A, B *int }](), reflect.TypeFor[struct {
			A *int
			B int
		}](), returning(2), false, false, 2, 2},
		{"another owner", reflect.TypeFor[int](), nil, returning(2), false, true, 2, 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			var o, other Owner
			all := freeStubs()
			version := func(o *Owner, memory reflect.Type, m Method, pointer bool) *Type {
				made, err := o.New(Declaration{Name: "main.E", Path: "main", Memory: memory, Methods: []MethodName{{Name: "N", Pointer: pointer}}})
				if err == nil {
					err = made.Complete(Parts{}, []Method{m})
				}
				if err != nil {
					t.Fatal(err)
				}
				return made
			}
			first := version(&o, row.memory, returning(1), false)
			before, owner, memory, m := freeStubs(), &o, row.memory, row.method
			if row.other {
				owner = &other
			}
			if row.second != nil {
				memory = row.second
			}
			m.Earlier = first
			second := version(owner, memory, m, row.pointer)
			if taken := before - freeStubs(); taken != row.stubs {
				t.Errorf("%d stubs taken, want %d", taken, row.stubs)
			}
			values := []reflect.Value{reflect.New(second.Type())}
			if !row.pointer {
				values = append(values, values[0].Elem())
			}
			for _, v := range values {
				for _, got := range []any{call(v, "N")[0], v.Type().Method(0).Func.Call([]reflect.Value{v})[0].Interface()} {
					if got != row.want {
						t.Errorf("N of %s gives %v, want %v", v.Type(), got, row.want)
					}
				}
			}
			o.Close()
			other.Close()
			if left := freeStubs(); left != all {
				t.Errorf("%d stubs are free in the end, want %d", left, all)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	var o Owner
	defer o.Close()
	var methodLimit *MethodLimitError
	if _, err := o.New(Declaration{Name: "main.T", Path: "main", Memory: reflect.TypeFor[int](), Methods: make([]MethodName, MaxMethods+1)}); !errors.As(err, &methodLimit) {
		t.Errorf("got %v", err)
	}
	d := Declaration{Name: "main.T", Path: "main", Memory: reflect.TypeFor[int]()}
	var methods []Method
	for i := range 700 {
		m := returning(i)
		m.Name = fmt.Sprintf("N%03d", i)
		if i%2 == 1 {
			m.Name = fmt.Sprintf("n%03d", i)
		}
		d.Methods = append(d.Methods, MethodName{Name: m.Name})
		methods = append(methods, m)
	}
	made, err := o.New(d)
	if err == nil {
		err = made.Complete(Parts{}, methods)
	}
	if err != nil {
		t.Fatal(err)
	}
	if x := reflect.New(made.Type()); x.NumMethod() != 350 || x.Method(200).Call(nil)[0].Int() != 400 || x.Elem().Interface().(interface{ N698() int }).N698() != 698 {
		t.Errorf("%d methods of 700 are exported", x.NumMethod())
	}
}

// TestInvalid completes types with parts and methods that do not fit.
func TestInvalid(t *testing.T) {
	var o Owner
	defer o.Close()
	structure := reflect.TypeFor[struct {
		A *int
		b int
	}]()
	field := func(name, path string, t reflect.Type) reflect.StructField {
		return reflect.StructField{Name: name, PkgPath: path, Type: t}
	}
	integer, pointer := reflect.TypeFor[int](), reflect.TypeFor[*int]()
	for _, c := range []struct {
		name    string
		memory  reflect.Type
		methods []MethodName
		parts   Parts
		code    []Method
	}{
		{"element of another kind", reflect.TypeFor[[2]int](), nil, Parts{Type: reflect.TypeFor[[2]uint]()}, nil},
		{"another length", reflect.TypeFor[[2]int](), nil, Parts{Type: reflect.TypeFor[[3]int]()}, nil},
		{"another kind", reflect.TypeFor[[]int](), nil, Parts{Type: reflect.TypeFor[string]()}, nil},
		{"another direction", reflect.TypeFor[chan int](), nil, Parts{Type: reflect.TypeFor[<-chan int]()}, nil},
		{"another number of parameters", reflect.TypeFor[func(int)](), nil, Parts{Type: reflect.TypeFor[func(int, int)]()}, nil},
		{"variadic", reflect.TypeFor[func([]int)](), nil, Parts{Type: reflect.TypeFor[func(...int)]()}, nil},
		{"a named type", reflect.TypeFor[[]int](), nil, Parts{Type: reflect.TypeFor[IntHeap]()}, nil},
		{"a field fewer", structure, nil, Parts{Fields: []reflect.StructField{field("A", "", pointer)}}, nil},
		{"a field of another kind", structure, nil, Parts{Fields: []reflect.StructField{field("A", "", reflect.TypeFor[uintptr]()), field("b", "main", integer)}}, nil},
		{"fields of two packages", structure, nil, Parts{Fields: []reflect.StructField{field("a", "main", pointer), field("b", "other", integer)}}, nil},
		{"a method too many", integer, nil, Parts{}, []Method{returning(1)}},
		{"a method twice", integer, []MethodName{{Name: "N"}}, Parts{}, []Method{returning(1), returning(2)}},
		{"no code", integer, []MethodName{{Name: "N"}}, Parts{}, []Method{{Name: "N", Type: reflect.TypeFor[func() int]()}}},
		{"no type", integer, []MethodName{{Name: "N"}}, Parts{}, []Method{{Name: "N", Call: returning(1).Call}}},
	} {
		made, err := o.New(Declaration{Name: "main.T", Path: "main", Memory: c.memory, Methods: c.methods})
		if err != nil {
			t.Fatal(err)
		}
		if err := made.Complete(c.parts, c.code); err == nil || !strings.HasPrefix(err.Error(), "the type main.T: ") {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
}

// TestPackages checks that unexported methods match those of the same package only.
func TestPackages(t *testing.T) {
	var o Owner
	defer o.Close()
	signature := reflect.TypeFor[func() int]()
	face := func(path string) reflect.Type {
		made, err := o.New(Declaration{Name: "p.I", Path: path, Memory: reflect.TypeFor[error]()})
		if err == nil {
			err = made.Complete(Parts{Methods: []Method{{Name: "hidden", Type: signature}, {Name: "Shown", Type: signature}}}, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		return made.Type()
	}
	with := func(path string, packages ...string) reflect.Type {
		d := Declaration{Name: "p.T", Path: path, Memory: reflect.TypeFor[string](), Methods: []MethodName{{Name: "Shown"}}}
		methods := []Method{{Name: "Shown", Type: signature, Call: returning(1).Call}}
		for i, p := range packages {
			d.Methods = append(d.Methods, MethodName{Name: "hidden", Path: p})
			methods = append(methods, Method{Name: "hidden", Path: p, Type: signature, Call: returning(i).Call})
		}
		made, err := o.New(d)
		if err == nil {
			err = made.Complete(Parts{}, methods)
		}
		if err != nil {
			t.Fatal(err)
		}
		return made.Type()
	}
	for _, c := range []struct {
		i, t reflect.Type
		want bool
	}{
		{face("a"), with("a", ""), true},
		{face("b"), with("a", ""), false},
		{face("b"), with("a", "b"), true},
		{face("b"), with("a", "b", "a"), true},
		{face("a"), with("a", "b", "a"), true},
		{face("a"), with("a", "b", "c"), false},
	} {
		if got := c.t.Implements(c.i); got != c.want {
			t.Errorf("%s implements %s of %s: %t", c.t, c.i, c.i.PkgPath(), got)
		}
		if !c.want {
			continue
		}
		x := reflect.New(c.i).Elem()
		x.Set(reflect.Zero(c.t))
		if got := x.Method(0).Call(nil)[0].Int(); got != 1 {
			t.Errorf("got %d", got)
		}
	}
}

// TestUnsupported checks that a descriptor that is not as this package believes is found.
func TestUnsupported(t *testing.T) {
	if (&UnsupportedError{"x"}).Error() == "" || checkDescriptors() != "" {
		t.Fatal(checkDescriptors())
	}
	// A descriptor with another length of the array, as a field that has moved would look.
	real := reflect.TypeFor[[3]int]()
	made, _, _, _ := allocate(reflect.Array, 0, 0)
	copyBase(made, pointerOf(real), reflect.Array)
	(*arrayType)(made).slice = nil
	if checkParts(typeAt(made)) {
		t.Error("a wrong descriptor is accepted")
	}
}
