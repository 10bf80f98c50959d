package magic

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/stale"
)

// session has two variables.
type session struct{}

func (session) Stdout() io.Writer      { return io.Discard }
func (session) Stderr() io.Writer      { return io.Discard }
func (session) Variables() []Variable  { return []Variable{{"a", "int"}, {"ok", "bool"}} }
func (session) Known(name string) bool { return name == "a" || name == "ok" }
func (session) Text(any) string        { return "" }

func (session) Word(any) (string, error) { return "", nil }

func (session) Module(Module) string { return "" }
func (session) Program() string      { return "" }
func (session) Stale() []stale.Cell  { return nil }
func (session) Ranks() Ranks         { return Alone{} }

func (session) TestFunctions(string) []check.TestFunction {
	return []check.TestFunction{{Name: "TestA"}}
}
func (session) Test(context.Context, TestRun) error { return nil }

func (session) Format(src string) (string, error)                       { return src, nil }
func (session) Explain(context.Context, string, string) (string, error) { return "", nil }

func TestParse(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, in, want string }{
		{"no command", "x := 7 % 2\ny := !ok", "x := 7 % 2\ny := !ok"},
		{"shell", "!ls -l\nx := 1", "ʹ(0)\nx := 1"},
		{"two", "!ls\nx := 1\n  !pwd", "ʹ(0)\nx := 1\n  ʹ(1)"},
		{"known name", "!ok", "!ok"},
		{"name of the cell", "done := false\n!done", "done := false\n!done"},
		{"operator at the end of the line before", "b := ok ||\n!a", "b := ok ||\n!a"},
		{"block", "if true {\n!ls\n}", "if true {\n!ls\n}"},
		{"timed, last", "%time f()", "ʹ(0);f()"},
		{"timed, then another", "%time f()\ng()", "ʹ(0);f();ʹ(-1)\ng()"},
		{"timed block", "%time for i := 0; i < 3; i++ {\n}\ng()", "ʹ(0);for i := 0; i < 3; i++ {\n};ʹ(-1)\ng()"},
		{"timed, then a command", "%time f()\n!ls", "ʹ(0);f();ʹ(-1)\nʹ(1)"},
		{"timed cell", "%%time\nf()", "ʹ(0)\nf()"},
		{"repeated", "%timeit f()\ng()", "ʹ[0];  f()\ng()"},
		{"repeated with options", "!ls\n%timeit -n 10 -r3  f()\ng()", "ʹ(0)\nʹ[1];             f()\ng()"},
		{"repeated cell", "%%timeit -n 10\nf()", "ʹ[0:];       \nf()"},
		{"repeated, then a command", "%timeit f()\n!ls", "ʹ[0];  f()\nʹ(1)"},
		{"repeated cell with a command", "%%timeit\n!ls", ""},
		{"nothing repeated", "%timeit -n1", ""},
		{"repeated with a wrong number", "%timeit -n1x f()", ""},
		{"repeated too often", "%timeit -n99999999999999999999 f()", ""},
		{"who", "%who // no", ""},
		{"ranks", "// all\n%ranks 4", "// all\nʹ(0)"},
		{"ranks for each GPU", "%ranks gpus", "ʹ(0)"},
		{"ranks, asked", "%ranks", "ʹ(0)"},
		{"no ranks", "%ranks 0", ""},
		{"less ranks", "%ranks -2", ""},
		{"half a rank", "%ranks 1.5", ""},
		{"ranks in words", "%ranks four", ""},
		{"ranks and more", "%ranks 4\nx := 1", ""},
		{"script", "%%bash\n%who\nx := `", "ʹ(0)"},
		{"script with an option", "%%bash -e\nfalse", ""},
		{"shell over two lines", "!echo a \\\n  b\nx := 1", "ʹ(0)\n\nx := 1"},
		{"shell over three lines", "!echo a \\\n  b \\\n\nx := 1", "ʹ(0)\n\n\nx := 1"},
		{"backslash at the end", "!echo a \\", "ʹ(0)"},
		{"assigned output", "files := !ls -l\nx := 1", "files := ʹʹ(0)\nx := 1"},
		{"assigned output, indented", "x := 1\n  files = !ls *.go # all\n", "x := 1\n  files = ʹʹ(0)\n"},
		{"assigned output over two lines", "files := !ls \\\n -l\nx := 1", "files := ʹʹ(0)\n\nx := 1"},
		{"known name on the right", "no := !ok", "no := !ok"},
		{"name of the cell on the right", "done := false\nno := !done", "done := false\nno := !done"},
		{"call on the right", "no := !f(1,\n2)\n", "no := !f(1,\n2)\n"},
		{"package on the right", "no := !flag.CommandLine", "no := !flag.CommandLine"},
		{"several names", "a, b := !ls", "a, b := !ls"},
		{"not at the beginning of a line", "x := 1; files := !ls", "x := 1; files := !ls"},
		{"in a later operand", "x := 1 + !ls", "x := 1 + !ls"},
		{"in a literal", "f := func() {\nfiles := !ls\n}", "f := func() {\nfiles := !ls\n}"},
		{"another operator", "x += !ls", "x += !ls"},
		{"value", "!echo {a}", "ʹ(0,  a)"},
		{"values", "!e {a}{a+1} \\\n {ok}", "ʹ(0,a,a+1,\n  ok)"},
		{"value and assigned output", "x := !echo {a}", "x := ʹʹ(0,a)"},
		{"value of a call", "!echo {strings.Repeat(\"}\", a)}", "ʹ(0,  strings.Repeat(\"}\", a))"},
		{"doubled braces", "!echo {{a}}", "ʹ(0)"},
		{"braces of the shell", "!echo ${a} {b} {a,b} {a;} { a } {} {{.a}} {", "ʹ(0)"},
		{"rest of the cell as main", "%%\nx := 1\n!ls", "ʹ(0)\nx := 1\nʹ(1)"},
		{"main of gonb", "x := 1\n%main\nx", "x := 1\nʹ(0)\nx"},
		{"arguments", "%% -n=3\nflag.Parse()", ""},
		{"format", "// a\n\n %fmt\nx:=1\n!ls", "\n\n ʹ(0)"},
		{"format with an argument", "%fmt x", ""},
		{"carriage return", "!ls\r\nx := 1\r\n", "ʹ(0)\r\nx := 1\r\n"},
	} {
		cell, err := Parse(row.in, session{})
		switch {
		case row.want == "" && err == nil:
			t.Errorf("%s: %q: got %q, want an error", row.name, row.in, cell.Source)
		case row.want != "" && err != nil:
			t.Errorf("%s: %q: %v", row.name, row.in, err)
		case row.want != "" && cell.Source != row.want:
			t.Errorf("%s: %q\n got %q\nwant %q", row.name, row.in, cell.Source, row.want)
		}
	}
}

// FuzzParse searches for cells on which the search for commands fails. It runs no commands.
func FuzzParse(f *testing.F) {
	for _, src := range []string{"!ls\n%time f()", "%%bash\necho", "x := `\n%who", "/*\n!a", "%time for {\n}\n%who", "!ok &&\n!ls", "%%time\n%cd \"", "a := !b\nc = !d {a}{{b}} ${c}\\\n{{{a}}}", "x := !{", "%timeit -n1 f()\n%%timeit -r", "%%timeit\n-n", "\r\n%=\n!=", "!a \\\n b\\"} {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		known := session{}.Known
		if blank := Blank(src, known); len(blank) != len(src) || strings.Count(blank, "\n") != strings.Count(src, "\n") {
			t.Errorf("%q: blank is %q", src, blank)
		}
		IsOpen(src, known)
		At(src, len(src)/2, known)
		DocAt(src, len(src)/2, known)
		cell, err := Parse(src, session{})
		if e, ok := err.(*Error); ok && e.Offset > len(src) {
			t.Errorf("%q: error at %d", src, e.Offset)
		} else if err == nil && len(cell.actions) == 0 && cell.Source != src {
			t.Errorf("%q: changed to %q", src, cell.Source)
		}
	})
}

// TestForeign checks the messages about commands of other kernels.
func TestForeign(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ in, want string }{
		{"%% --n=3 x", "%% is not needed, and a cell has no arguments: remove the line, and set os.Args = append(os.Args[:1], \"--n=3\", \"x\") before flag.Parse()"},
		{"%% 'a b'", "%% is not needed, and a cell has no arguments: remove the line, and set os.Args = append(os.Args[:1], …) before flag.Parse()"},
		{"%main -v", "%main is not needed, and a cell has no arguments: remove the line, and set os.Args = append(os.Args[:1], \"-v\") before flag.Parse()"},
		{"%track ../lib", "there is no command %track: packages of the notebook's module are used as saved, and %get ../lib adds another directory"},
		{"%ls", "there is no command %ls: !ls runs the shell command"},
		{"%%html\n<b>", "there is no command %%html: display.HTML shows a text as HTML"},
		{"%tme f()", "there is no command %tme; did you mean %time?"},
		{"%nosuch", "there is no command %nosuch: the commands are %time, %%time, %timeit, %%timeit, %test, %who, %stale, %run, %reset, %cd, %env, !, %%bash, %%sh, %%writefile, %%cuda, %get, %autoget, %restart, %ranks, %fmt, %explain, %help"},
	} {
		_, err := Parse(row.in, session{})
		if err == nil || err.Error() != row.want {
			t.Errorf("%q\n got %v\nwant %s", row.in, err, row.want)
		}
	}
}
