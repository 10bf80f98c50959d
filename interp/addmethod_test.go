package interp_test

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"testing"

	"github.com/quernlab/quern/interp"
	"github.com/quernlab/quern/interp/named"
)

// A type of the keys of a map gets a method while a goroutine, which could write to the map, runs.
func TestAddMethodBesideGoroutine(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	n.must(t, "type Key struct{ N int }\nstop := make(chan bool)\nm, same := map[any]int{Key{5}: 5}, []map[any]int{}\nnumbers, empty := map[Key]int{{5}: 5}, map[any]int(nil)", "")
	n.must(t, "same = append(same, m)\nvar shared sync.Map\ngo func() { <-stop }()", "")
	n.must(t, "func (k Key) String() string { return fmt.Sprint(\"key \", k.N) }\nm[Key{5}], numbers[Key{5}]",
		"stderr: note: values in maps of m, shared do not get the methods that this cell adds to their types, and such keys are not found, "+
			"because goroutines of cell[2] run: end them, and the next cell adds the methods; or make the maps again\n= 0, 5")
	n.must(t, "m[Key{5}]", "= 0") // the note is there once
	n.must(t, "close(stop)", "")
	for interp.HasStarted(n.Session) {
		runtime.Gosched()
	}
	n.must(t, "m[Key{5}], m", "= 5, map[key 5:5]")
	n.must(t, "func (k Key) Other() {}\nm[Key{5}]", "= 5") // no goroutine: no note
}

// Variables of packages that are imported from source hold values of a type that gets a method, and so does a variable that a later cell has
// declared again and that only a closure uses.
func TestAddMethodOfValuesInPackages(t *testing.T) {
	t.Parallel()
	n := newNotebook(t, modules(t, map[string]string{
		"example.com/registry@v1.0.0/go.mod": "module example.com/registry",
		"example.com/registry@v1.0.0/registry.go": `package registry

import (
	"encoding/json"
	"fmt"
)

var (
	all   = map[string]any{}
	byKey = map[any]string{}
	last  *entry
	Held  fmt.Stringer
)

type entry struct {
	value    any
	previous *entry
}

func Put(name string, value any) {
	all[name] = value
	byKey[value] = name
	last = &entry{value, last}
}

func Find(value any) string { return byKey[value] }

func Show() string {
	s := fmt.Sprint(all, Held)
	for e := last; e != nil; e = e.previous {
		s += fmt.Sprint(" ", e.value)
	}
	b, err := json.Marshal(all)
	return s + " " + string(b) + fmt.Sprint(err)
}
`}))
	n.must(t, "%get example.com/registry\nimport \"example.com/registry\"\ntype T struct{ N int }\nfunc (t T) GoString() string { return \"\" }\nregistry.Put(\"a\", T{1})\nregistry.Put(\"b\", &T{2})\nx := any(T{3})\nshow := func() string { return fmt.Sprint(x) }", "example.com/registry v1.0.0\n")
	n.must(t, "x := 5\nregistry.Find(T{1}) + registry.Show()[:9] + show()", `= "amap[a:{1}{3}"`)
	n.must(t, "func (t T) String() string { return fmt.Sprint(\"T\", t.N) }\nfunc (t T) MarshalText() ([]byte, error) { return []byte{'0' + byte(t.N)}, nil }\nregistry.Held = T{4}\nregistry.Find(T{1}), registry.Show(), show()",
		`= "a", "map[a:T1 b:T2] T4 T2 T1 {\"a\":\"1\",\"b\":\"2\"}<nil>", "T3"`)

	n.must(t, "stop := make(chan bool)\ngo func() { <-stop }()", "")
	n.must(t, "func (t T) Error() string { return \"E\" }\nregistry.Find(T{1})",
		"stderr: note: values in maps of registry.all, registry.byKey do not get the methods that this cell adds to their types, and such keys are not found, "+
			"because goroutines of cell[4] run: end them, and the next cell adds the methods; or make the maps again\n= \"\"")
	n.must(t, "close(stop)", "")
	for interp.HasStarted(n.Session) {
		runtime.Gosched()
	}
	n.must(t, "registry.Find(T{1})", `= "a"`)
}

// When no code is left for methods of types of cells, a cell that adds one fails, and the session goes on. The test is not parallel to others: the
// code is that of the process.
func TestAddMethodWithoutCode(t *testing.T) {
	n := newNotebook(t)
	n.must(t, "type T struct{ N int }\nvar x any = T{1}", "")
	var others named.Owner
	defer others.Close()
	for methods := named.MaxMethods; methods > 0; methods /= 2 { // types with fewer and fewer methods use all code
		d := named.Declaration{Name: "main.Other", Path: "main", Memory: reflect.TypeFor[int]()}
		var code []named.Method
		for i := range methods {
			name := fmt.Sprint("M", i)
			d.Methods = append(d.Methods, named.MethodName{Name: name, Pointer: true})
			code = append(code, named.Method{Name: name, Type: reflect.TypeFor[func()](), Word: reflect.ValueOf(func() {})})
		}
		for {
			made, err := others.New(d)
			if err == nil {
				err = made.Complete(named.Parts{}, code)
			}
			if exhausted := (*named.ExhaustedError)(nil); errors.As(err, &exhausted) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	reason := fmt.Sprintf("compiled packages cannot call the methods of main.T: the methods of the type main.T need code, and all %d methods that this program has for types of cells are in use: restart the kernel", named.Stubs)
	n.must(t, "y := 1\nfunc (t T) String() string { return \"text\" }\nfmt.Println(\"ran\")",
		"! runtime error: cell[2]:2:12: "+reason+"\n    func (t T) String() string { return \"text\" }\n               ^")
	n.must(t, "x.(T).String()", "= \"text\"") // cells need no code
	n.must(t, "y", "! compile error: cell[4]:1:1: undefined: y: cell[2] ended before the statement that declares it; run it again\n    y\n    ^")
	others.Close()
	n.must(t, "func (t T) Other() {}\nfmt.Sprint(x)", "= \"text\"")
}
