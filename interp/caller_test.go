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
		s += fmt.Sprint(f.Function, " ", f.File, ":", f.Line, ";")
	}
	return s
}`
	for _, tt := range []struct{ name, cell, want string }{
		{"statement", "x := 1\nfmt.Println(x, where())", "1 cell[2]:2 main.main true\n"},
		{"method", "fmt.Println(T{}.M())", "cell[1]:6 main.T.M true\n"},
		{"literal", "func() {\n\tfmt.Println(where())\n}()", "cell[2]:2 main.main.func1 true\n"},
		{"loop", "for i := range 2 {\n\tfmt.Println(i, where())\n}", "0 cell[2]:2 main.main true\n1 cell[2]:2 main.main true\n"},
		{"here", "_, file, line, ok := runtime.Caller(0)\nfmt.Println(file, line, ok)", "cell[2] 1 true\n"},
		{"too far", "_, file, line, ok := runtime.Caller(7)\nfmt.Println(file, line, ok)", " 0 false\n"},
		{"recursion", "fmt.Println(stack(2))", "main.stack cell[1]:12;main.stack cell[1]:9;main.stack cell[1]:9;main.main cell[2]:1;\n"},
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
