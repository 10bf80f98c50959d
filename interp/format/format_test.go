package format_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/format"
	"github.com/quernlab/quern/interp/magic"
)

func TestCell(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, in, want string }{
		{"statements", "x:=1\n\n\n\ny  := x+ 1", "x := 1\n\ny := x + 1"},
		{"one line", "x:=1;y:=2", "x := 1\ny := 2"},
		{"formatted", "x := 1\nfmt.Println(x)", "x := 1\nfmt.Println(x)"},
		{"space around", "\n\n  x := 1\n\n", "x := 1"},
		{"empty", "", ""},
		{"blank", " \n", " \n"},
		{"comment only", "  // c", "// c"},
		{"block", "for i:=0;i<3;i++{\nf( i )\n  }", "for i := 0; i < 3; i++ {\n\tf(i)\n}"},
		{"declarations", "type T struct{a int;bc string}\nfunc (t T) M()int{return t.a}", "type T struct {\n\ta  int\n\tbc string\n}\n\nfunc (t T) M() int { return t.a }"},
		{"function between statements", "x:=1\nfunc f()  int {return x}\ny:=f()", "x := 1\nfunc f() int { return x }\ny := f()"},
		{"function on the line of a statement", "x:=1;func f(){}", "x := 1\nfunc f() {}"},
		{"type between statements", "x:=1\ntype T   int\ny:=T(x)", "x := 1\ntype T int\ny := T(x)"},
		{"imports", "import (\n\"os\"\n\"fmt\"\n)\nfmt.Println( os.Args )", "import (\n\t\"fmt\"\n\t\"os\"\n)\nfmt.Println(os.Args)"},
		{"comment of a function", "x:=1 // one\n\n// f is a function.\nfunc f(){}", "x := 1 // one\n\n// f is a function.\nfunc f() {}"},
		{"comment at the end", "x:=1\n\n   // the end", "x := 1\n\n// the end"},
		{"raw string", "s:=`a\n  b\n`+\"c\"", "s := `a\n  b\n` + \"c\""},
		{"label", "a:\nfor {\nbreak a}", "a:\nfor {\n\tbreak a\n}"},
		{"call of a literal", "func( ){f()}( )", "func() { f() }()"},
		{"program", "package   main\nimport \"fmt\"\nfunc main(){fmt.Println(1)}", "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(1) }"},
		{"value", "x+ 1", "x + 1"},
		{"hidden value", "f( x ) ;", "f(x);"},
		{"hidden value with a comment", "x  ; // c", "x; // c"},
		{"hidden value before a function", "x;\nfunc f(){}", "x;\nfunc f() {}"},
		{"needless semicolons", "x:=1;\nx;\ny:=2;", "x := 1\nx\ny := 2"},
		{"list", "x:=1\nx,x + 1", "x := 1\nx, x+1"},
		{"list with a comment", "a,  b // both", "a, b // both"},
		{"list with functions", "f(func( ){\ng()\n}) ,b", "f(func() {\n\tg()\n}), b"},
		{"multiplied list", "x := 1\nx*2 ,func( ) int { return 1 }( )", "x := 1\nx*2, func() int { return 1 }()"},
		{"numbers", "x:=0XFF+1E3", "x := 0xFF + 1e3"},
		{"shell", "  !ls   -l  \nx:=1", "  !ls   -l  \nx := 1"},
		{"shell over two lines", "!echo a \\\n    b\nx:=1\n\n\n%who", "!echo a \\\n    b\nx := 1\n\n%who"},
		{"shell between declarations", "func f(){}\n!ls\ntype T  int", "func f() {}\n!ls\ntype T int"},
		{"timed statement", "%time f( 1 )\ng( 1 )", "%time f( 1 )\ng(1)"},
		{"timed block", "%time for i:=0;i<3;i++ {\n  f( )\n} // c\ng( )", "%time for i:=0;i<3;i++ {\n  f( )\n} // c\ng()"},
		{"timed, and another", "%time f( ); g( )\nh( )", "%time f( ); g( )\nh()"},
		{"timed block, and another", "%time {\n}; {\nx:=1\n}\nh( )", "%time {\n}; {\nx:=1\n}\nh()"},
		{"assigned output", "files  := !ls  -l\nx:=1\nfiles   = !ls {x}", "files  := !ls  -l\nx := 1\nfiles   = !ls {x}"},
		{"repeated statement", "%timeit  -n 3 f( 1 )\ng( 1 )", "%timeit  -n 3 f( 1 )\ng(1)"},
		{"repeated cell", "%%timeit -n 3\nf( 1 )", "%%timeit -n 3\nf(1)"},
		{"timed cell", "%%time\nf( 1 )", "%%time\nf(1)"},
		{"script", "\n%%bash\n  echo   a\n\n", "%%bash\n  echo   a\n\n"},
		{"script of another kernel", "%%html\n<b>", "%%html\n<b>"},
		{"format", "%fmt\nf( )\n!ls  .", "%fmt\nf()\n!ls  ."},
		{"negation", "done:=false\n!done  &&true", "done := false\n!done && true"},
		{"carriage returns", "!ls \r\nx:=1\r\ny:=2\r\n", "!ls \r\nx := 1\ny := 2"},
		{"directive", "//go:embed a.txt\nvar s   string", "//go:embed a.txt\nvar s string"},
	} {
		for again, in := range []string{row.in, row.want} {
			var f format.Formatter
			got, err := f.Cell(in)
			if err != nil || got != row.want {
				t.Errorf("%s (%d): %q: %v\n got %q\nwant %q", row.name, again, in, err, got, row.want)
			}
		}
	}
}

// What earlier cells define decides whether a line is a shell command.
func TestCells(t *testing.T) {
	t.Parallel()
	f := format.Formatter{Known: func(name string) bool { return name == "outer" }}
	for _, row := range [][2]string{
		{"!done   ||  true", "!done   ||  true"},
		{"x,done:=1,false", "x, done := 1, false"},
		{"!done   ||  true", "!done || true"},
		{"func f()bool{return true}", "func f() bool { return true }"},
		{"!f(  )", "!f()"},
		{"!outer  ", "!outer"},
	} {
		if got, err := f.Cell(row[0]); err != nil || got != row[1] {
			t.Errorf("%q: %q, %v", row[0], got, err)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		in           string
		line, column int
		msg          string
	}{
		{"x:=1\ny := := 2", 2, 6, "expected operand"},
		{"x)", 1, 2, "no bracket is open here"},
		{"func f(){}\n\nx := 1\nif {", 4, 4, "missing condition"},
		{"func f( {\n", 1, 9, "expected"},
		{"!ls\n  a b", 2, 5, "expected"},
		{"a, b c", 1, 1, "expected 1 expression"},
		{"s := \"a", 1, 6, "string literal not terminated"},
		{"/* a", 1, 1, "comment not terminated"},
	} {
		var f format.Formatter
		got, err := f.Cell(row.in)
		var syntax *format.Error
		if !errors.As(err, &syntax) || syntax.Line != row.line || syntax.Column != row.column || !strings.Contains(syntax.Msg, row.msg) {
			t.Errorf("%q: %q, %v", row.in, got, err)
		}
	}
}

// A formatted cell has the same parts as before, and formatting it again changes nothing; gofmt may move comments again.
func FuzzCell(f *testing.F) {
	for _, src := range []string{"x:=1;\nx", "!ls\n%time f()", "%%bash\necho", "func f(){};x;", "a, b // c", "/*c*/x;/*d*/", "type T int;x;func(){}()",
		"package main\nfunc main(){}", "import(\"b\";\"a\")", "l:{}", "//a\n\n//b\nx", "x; //a\n/*b*/;", "var x=`\n`;x", "switch x:=1;x{\ncase 1:}"} {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		var formatter format.Formatter
		once, err := formatter.Cell(src)
		if err != nil {
			return
		}
		if before, after := parts(src), parts(once); before != after {
			t.Errorf("%q becomes %q:\n%s\n%s", src, once, before, after)
		}
		if strings.Contains(src, "/*") {
			return
		}
		formatter = format.Formatter{}
		if again, err := formatter.Cell(once); err != nil || again != once {
			t.Errorf("%q becomes %q and then %q, %v", src, once, again, err)
		}
	})
}

// parts describes the parts of a cell.
func parts(src string) string {
	none := func(string) bool { return false }
	var b strings.Builder
	spans, unmatched := check.Spans(magic.Blank(src, none))
	if unmatched >= 0 {
		b.WriteString("unmatched ")
	}
	for _, s := range spans {
		b.WriteByte("apf"[s.Place])
		if s.Hides {
			b.WriteByte(';')
		}
		if s.List {
			b.WriteByte(',')
		}
	}
	for _, r := range magic.Ranges(src, none) {
		b.WriteString("\n" + src[r[0]:r[1]])
	}
	return b.String()
}
