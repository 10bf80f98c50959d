package interp_test

import "testing"

// TestFunctionNames checks that runtime.FuncForPC returns the names that functions have in compiled code.
func TestFunctionNames(t *testing.T) {
	t.Parallel()
	const declarations = `type T struct{ n int }
func (T) V() {}
func (*T) P() {}
func F() {}
func variadic(...int) {}
func G() {}
func makes() (func(), func()) {
	f := func() {}
	return f, func() { f() }
}
func nested() func() {
	return func() func() { return func() {} }()
}
func methods() string {
	t := T{}
	return name(t.V) + " " + name(t.P) + " " + name((&t).V)
}
func generic[X any](X) {}
func makesGeneric[X any]() func() { return func() {} }
type list[X any] []X
func (list[X]) Len() int { return 0 }
func (*list[X]) Push(X) {}
var instance = generic[string]
var literals = []func(){func() {}, func() {}}
func address(f any) uintptr {
	type words [2]uintptr
	return (*words)(unsafe.Pointer(&f))[1]
}
func adds(n int) func() int { return func() int { return n } }
func pc(f any) uintptr { return reflect.ValueOf(f).Pointer() }
func name(f any) string { return runtime.FuncForPC(pc(f)).Name() }
type Handler func()
type holder struct{ f func() }`
	for _, tt := range []struct{ name, cell, want string }{
		{"function", "name(F)", `= "main.F"`},
		{"named type", "name(Handler(F))", `= "main.F"`},
		{"variable", "f := F\nname(f)", `= "main.F"`},
		{"field", "name(holder{F}.f)", `= "main.F"`},
		{"method value", "methods()", `= "main.T.V-fm main.(*T).P-fm main.T.V-fm"`},
		{"literal of a statement", "name(func() {})", `= "main.main.func1"`},
		{"variadic", "name(variadic)", `= "main.variadic"`},
		{"literal in a literal", "name(nested())", `= "main.nested.func1.1"`},
		{"literals of a function", "a, b := makes()\nname(a) + \" \" + name(b)", `= "main.makes.func1 main.makes.func2"`},
		{"same function", "pc(F) == pc(Handler(F)) && pc(F) != pc(G)", "= true"},
		{"address", "address(F) == address(F) && address(F) != address(G) && address(adds(1)) != address(adds(2))", "= true"},
		{"same literal", "a, b := makes()\nc, _ := makes()\npc(a) == pc(c) && pc(a) != pc(b)", "= true"},
		{"position", "file, line := runtime.FuncForPC(pc(F)).FileLine(pc(F))\nfmt.Sprint(file, \":\", line)", `= "cell[1]:4"`},
		{"compiled", "name(strings.ToUpper)", `= "strings.ToUpper"`},
		{"nil", "reflect.ValueOf((func())(nil)).Pointer()", "= 0"},
		{"instance", "name(generic[int])", `= "main.generic[...]"`},
		{"methods of an instance", "name(list[T]{}.Len) + \" \" + name(new(list[int]).Push) + \" \" + name(list[T].Len) + \" \" + name((*list[int]).Push)", `= "main.list[...].Len-fm main.(*list[...]).Push-fm main.list[...].Len main.(*list[...]).Push"`},
		{"literal of an instance", "name(makesGeneric[int]())", `= "main.makesGeneric[...].func1"`},
		{"instance in a variable", "name(instance)", `= "main.generic[...]"`},
		{"literals in variables", "name(literals[0]) + \" \" + name(literals[1])", `= "main.init.func1 main.init.func2"`},
		{"instance at another call", "before := pc(generic[int])\ngeneric(1)\nbefore == pc(generic[int])", "= true"},
		{"replaced by the session", "name(fmt.Println) + \" \" + name(debug.PrintStack)", `= "fmt.Println runtime/debug.PrintStack"`},
		{"of packages reflect and runtime", "name(reflect.ValueOf) + \" \" + name(runtime.GC)", `= "reflect.ValueOf runtime.GC"`},
		{"unknown", "var i interface{ V() } = T{}\nname(i.V) + runtime.FuncForPC(reflect.TypeFor[T]().Method(0).Func.Pointer()).Name()", `= "reflect.makeFuncStub"`},
		{"made by package reflect", "name(reflect.MakeFunc(reflect.TypeFor[func()](), func([]reflect.Value) []reflect.Value { return nil }).Interface())", `= "reflect.makeFuncStub"`},
		{"types", "p := func(t reflect.Type) uintptr { return reflect.ValueOf(t).Pointer() }\np(reflect.TypeFor[T]()) == p(reflect.TypeOf(T{})) && p(reflect.TypeFor[T]()) != p(reflect.TypeFor[holder]()) && p(reflect.TypeFor[int]()) != p(reflect.TypeFor[T]())", "= true"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := newNotebook(t)
			if got := n.run(declarations) + n.run(tt.cell); got != tt.want {
				t.Errorf("%s\n got %q\nwant %q", tt.cell, got, tt.want)
			}
		})
	}
}

// TestFunctionNamesOfYaegi checks the names of functions that yaegi runs, because they call functions that the VM does not
// call. The output is that of compiled Go without inlining.
func TestFunctionNamesOfYaegi(t *testing.T) {
	t.Parallel()
	const program = `package main

import (
	"fmt"
	"net/http/httptest"
	"reflect"
	"runtime"
)

type user struct{ name string }

func (u user) Method(x int)   { httptest.NewRequest("GET", "/", nil) }
func (u *user) Pointer(x int) { httptest.NewRequest("GET", "/", nil) }

var before = func() { after() }
var after = func() {}

func slow(xs ...int)       { httptest.NewRequest("GET", "/", nil) }
func name(f any) string { return runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name() }

func main() {
	httptest.NewRequest("GET", "/", nil)
	inner := func() {
		httptest.NewRequest("GET", "/", nil)
		fmt.Println(name(func() {}), name(func(x int) func() { return func() {} }(1)))
	}
	inner()
	fmt.Println(name(inner), name(slow), name(user{}.Method), name((&user{}).Pointer), name(main))
	fmt.Println(name(before), name(after))
	for i := range 2 {
		fmt.Println(name(func() { println(i) }))
	}
	defer func() { fmt.Println(name(func() {})) }()
}`
	const want = `main.main.func1.1 main.main.func1.2.1
main.main.func1 main.slow main.user.Method-fm main.(*user).Pointer-fm main.main
main.init.func2 main.init.func1
main.main.func2
main.main.func2
main.main.func3.1
`
	n := newNotebook(t)
	if got := n.run(program); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
