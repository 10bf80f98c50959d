package interp_test

import (
	"strings"
	"testing"
)

// TestCaller checks the positions in cells that package runtime returns.
func TestCaller(t *testing.T) {
	t.Parallel()
	const declarations = `func where() string {
	pc, file, line, ok := runtime.Caller(1)
	return fmt.Sprint(file, ":", line, " ", runtime.FuncForPC(pc).Name(), " ", ok)
}
type T struct{}
func (T) M() string { return where() }
func stack(n int) (s string) {
	if n > 0 {
		return stack(n-1)
	}
	pcs := make([]uintptr, 9)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		if !more {
			return s + f.Function
		}
		if s += f.Function; f.Function != "runtime.main" {
			s += fmt.Sprint(" ", f.File, ":", f.Line)
		}
		s += ";"
	}
	return s
}
func (t *T) P() string { return where() }
func (*T) Literal() func() string { return func() string { return func() string { return where() }() } }
type G[X any] struct{ x X }
func (G[X]) M(...int) string { return where() }
func (*G[X]) Literal() string { return func() string { return where() }() }
func generic[X any](X) string { return where() }
func variadic(...int) string { return where() }
var found string
func init() { found = where() }
func init() { found += " " + func() string { return where() }() }`
	for _, tt := range []struct{ name, cell, want string }{
		{"statement", "x := 1\nfmt.Println(x, where())", "1 cell[2]:2 main.main true\n"},
		{"method", "fmt.Println(T{}.M())", "cell[1]:6 main.T.M true\n"},
		{"literal", "func() {\n\tfmt.Println(where())\n}()", "cell[2]:2 main.main.func1 true\n"},
		{"literal that calls a literal", "func() {\n\tfunc() { fmt.Println(stack(0)) }()\n}()", "main.stack cell[1]:12;main.main.func1.1 cell[2]:2;main.main.func1 cell[2]:2;main.main cell[2]:1;runtime.main;runtime.goexit\n"},
		{"loop", "for i := range 2 {\n\tfmt.Println(i, where())\n}", "0 cell[2]:2 main.main true\n1 cell[2]:2 main.main true\n"},
		{"here", "_, file, line, ok := runtime.Caller(0)\nfmt.Println(file, line, ok)", "cell[2] 1 true\n"},
		{"too far", "_, file, line, ok := runtime.Caller(7)\nfmt.Println(file, line, ok)", " 0 false\n"},
		{"recursion", "fmt.Println(stack(2))", "main.stack cell[1]:12;main.stack cell[1]:9;main.stack cell[1]:9;main.main cell[2]:1;runtime.main;runtime.goexit\n"},
		{"pointer method", "new(T).P()", "= \"cell[1]:26 main.(*T).P true\""},
		{"promoted method", "struct{ *T }{new(T)}.P()", "= \"cell[1]:26 main.(*T).P true\""},
		{"literal in a literal of a method", "new(T).Literal()()", "= \"cell[1]:27 main.(*T).Literal.func1.1 true\""},
		{"second literal", "f := func() string { return \"\" }\nf() + func() string { return where() }()", "= \"cell[2]:2 main.main.func2 true\""},
		{"generic method", "G[int]{}.M(1)", "= \"cell[1]:29 main.G[...].M true\""},
		{"literal of a generic method", "new(G[T]).Literal()", "= \"cell[1]:30 main.(*G[...]).Literal.func1 true\""},
		{"generic function", "generic(1)", "= \"cell[1]:31 main.generic[...] true\""},
		{"variadic function", "variadic(1)", "= \"cell[1]:32 main.variadic true\""},
		{"init functions", "found", "= \"cell[1]:34 main.init.0 true cell[1]:35 main.init.1.func1 true\""},
		{"program", "package main\nimport (\"fmt\"; \"runtime\")\nfunc main() {\n\tpcs := make([]uintptr, 9)\n\tfmt.Println(runtime.Callers(1, pcs), runtime.FuncForPC(pcs[0]).Name(), runtime.FuncForPC(pcs[1]).Name())\n}", "3 main.main runtime.main\n"},
		{"return addresses", "pcs := make([]uintptr, 9)\nfunc f() { runtime.Callers(1, pcs) }\nf()\nname := func(pc uintptr) string { return runtime.FuncForPC(pc).Name() }\nname(pcs[0]-1), name(pcs[0]), name(pcs[0]+1), name(pcs[1]-1), name(pcs[1]), name(pcs[1]+1)", "= \"main.f\", \"main.f\", \"main.f\", \"main.main\", \"main.main\", \"main.main\""},
		{"in a generic function of the standard library", "slices.IndexFunc([]int{1}, func(int) bool {\n\tfmt.Println(strings.Contains(stack(0), \";main.main.func1 cell[2]:2;slices.IndexFunc generic/slices/\"))\n\treturn true\n})", "true\n= 0"},
		{"panic of a literal", "func() {\n\tdefer func() {\n\t\trecover()\n\t\tfmt.Println(where())\n\t}()\n\tpanic(1)\n}()", "cell[2]:4 main.main.func1.1 true\n"},
		{"stack of a goroutine", "done := make(chan string)\ngo func() { done <- stack(0) }()\nfmt.Println(<-done)", "main.stack cell[1]:12;main.main.func1 cell[2]:2;runtime.goexit\n"},
		{"goroutine", "done := make(chan string)\ngo func() {\n\tdone <- where()\n}()\nfmt.Println(<-done)", "cell[2]:3 main.main.func1 true\n"},
		{"log", "log.SetOutput(os.Stdout)\nlog.SetFlags(log.Lshortfile)\nlog.Println(\"a\")", "cell[2]:3: a\n"},
		{"log at a depth", "l := log.New(os.Stdout, \"p: \", log.Lshortfile)\nfunc info(s string) {\n\tl.Output(2, s)\n}\ninfo(\"a\")\nl.Print(\"b\")", "p: cell[2]:5: a\np: cell[2]:6: b\n"},
		{"text", "func f() {\n\t_, s, _ := strings.Cut(string(debug.Stack()), \":\\n\")\n\tfmt.Print(s)\n}\nf()", "main.f(...)\n\tcell[2]:2\nmain.main(...)\n\tcell[2]:5\n"},
		{"text of recursion", "func f(n int) {\n\tif n == 0 {\n\t\ts := string(debug.Stack())\n\t\tfmt.Print(strings.Count(s, \"main.f(...)\\n\"), strings.Count(s, \"\\n...additional frames elided...\\n\"))\n\t\treturn\n\t}\n\tf(n - 1)\n}\nf(20)", "21 0"},
		{"text of deep recursion", "func f(n int) {\n\tif n == 0 {\n\t\ts := string(debug.Stack())\n\t\tfmt.Print(strings.Count(s, \"main.f(...)\\n\"), strings.Count(s, \"\\n...additional frames elided...\\n\"))\n\t\treturn\n\t}\n\tf(n - 1)\n}\nf(500)", "200 1"},
		{"text of a panic", "func g(xs []int) { _ = xs[3] }\nfunc f() {\n\tdefer func() {\n\t\trecover()\n\t\ts := string(debug.Stack())\n\t\tfmt.Println(strings.Contains(s, \"main.g(...)\\n\\tcell[2]:1\\n\"))\n\t}()\n\tg(nil)\n}\nf()", "true\n"},
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

// TestCallerInModule checks the frames of a package of a module by which a logger finds the function that called it.
func TestCallerInModule(t *testing.T) {
	t.Parallel()
	n := newNotebook(t, modules(t, map[string]string{
		"example.com/logs@v1.0.0/go.mod": "module example.com/logs",
		"example.com/logs@v1.0.0/v.2/logs.go": `package logs

import (
	"reflect"
	"runtime"
	"strings"
)

type Logger struct{}

func names() []string {
	pcs := make([]uintptr, 9)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	var list []string
	for f, more := frames.Next(); more; f, more = frames.Next() {
		list = append(list, f.Function)
	}
	return list
}

func (l *Logger) Names() []string { return func() []string { return names() }() }

// Outside returns the innermost function of another package.
func Outside[T any](T) string {
	var names []string
	(&Logger{}).Each(func(name string) { names = append(names, name) })
	own := names[0][:strings.LastIndexByte(names[0], '/')+strings.IndexByte(names[0][strings.LastIndexByte(names[0], '/'):], '.')]
	for _, name := range names {
		if !strings.HasPrefix(name, own) {
			return name
		}
	}
	return ""
}

// FunctionNames returns the names of functions that nothing has called.
func (l *Logger) FunctionNames() (list []string) {
	for _, f := range []any{l.never, (*Logger).never, never, generic[int], func() {}} {
		list = append(list, runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name())
	}
	return list
}

func (l *Logger) never() {}

func never(...int) {}

func generic[T any](T) {}

func (l *Logger) Each(f func(string)) {
	for _, name := range names() {
		f(name)
	}
}
`}))
	for _, row := range []struct{ in, want string }{
		{"%get example.com/logs", "example.com/logs v1.0.0\n"},
		{"import logs \"example.com/logs/v.2\"\nfunc f() []string { return new(logs.Logger).Names() }\nf()", "= [example.com/logs/v%2e2.(*Logger).Names.func1 example.com/logs/v%2e2.(*Logger).Names\n main.f main.main runtime.main] (5 elements)"},
		{"strings.ReplaceAll(fmt.Sprint(new(logs.Logger).FunctionNames()), \"example.com/logs/v%2e2.\", \"\")", "= \"[(*Logger).never-fm (*Logger).never never generic[...] (*Logger).FunctionNames.func1]\""},
		{"type T struct{}\nfunc (*T) work() string { return logs.Outside(1) }\nnew(T).work()", "= \"main.(*T).work\""},
	} {
		n.must(t, row.in, row.want)
	}
}

// The stack that a web server logs for a handler that panics shows the cell, not the interpreter.
func TestHandlerPanic(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	n.must(t, "var log1 bytes.Buffer\nfunc handle(w http.ResponseWriter, r *http.Request) {\n\tpanic(\"no page\")\n}", "")
	n.must(t, "s := httptest.NewUnstartedServer(http.HandlerFunc(handle))\ns.Config.ErrorLog = log.New(&log1, \"\", 0)\ns.Start()\n_, err := http.Get(s.URL)\ns.Close()\nerr != nil", "= true")
	got := strings.Trim(n.run("log1.String()"), "= ")
	for _, part := range []string{"http: panic serving", "no page", "main.handle(...)\\n\\tcell[1]:3\\n"} {
		if !strings.Contains(got, part) {
			t.Errorf("no %q in %s", part, got)
		}
	}
	for _, part := range []string{"yaegi", "quern"} {
		if strings.Contains(got, part) {
			t.Errorf("%q in %s", part, got)
		}
	}
}
