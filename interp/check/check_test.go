package check

import (
	"fmt"
	"go/importer"
	"go/token"
	"strings"
	"testing"
)

// newTestChecker uses the export data of the local toolchain.
func newTestChecker() *Checker {
	return New(importer.Default(), token.NewFileSet(), Guess(func(name string) []string {
		switch name {
		case "rand":
			return []string{"math/rand/v2", "math/rand", "crypto/rand"}
		case "fmt", "strings", "errors", "time", "os", "sync", "strconv", "context", "io", "sort", "slices", "math", "runtime":
			return []string{name}
		}
		return nil
	}))
}

// run checks and commits cells, and returns the last one. No cell may have an error.
func run(t *testing.T, c *Checker, cells ...string) *Cell {
	t.Helper()
	var last *Cell
	for i, src := range cells {
		cell, err := c.Check(t.Context(), i+1, src)
		if err != nil {
			t.Fatalf("cell %d %q: %v", i+1, src, err)
		}
		c.Commit(cell)
		last = cell
	}
	return last
}

// cells splits the text of a row into cells.
func cells(src string) []string { return strings.Split(src, "\n---\n") }

var accepted = []struct{ name, in string }{
	{"empty", ""},
	{"comment only", "// nothing\n/* at all */"},
	{"mixed", "import \"fmt\"\nx := 1\ntype T struct{ a int }\nt := T{x}\nfunc f() int { return t.a }\nfmt.Println(f())"},
	{"function uses top-level variable", "count := 0\nfunc inc() { count++ }\ninc()\ncount"},
	{"function before variable", "func inc() { count++ }\ncount := 0\ninc()"},
	{"redefine by itself", "x := 1\n---\nx := x + 1"},
	{"change type", "x := 1\n---\nx := \"a\"\n---\nx + \"b\""},
	{"change type from itself", "x := 1\n---\nx := []int{x}\n---\nx[0]"},
	{"err again", "import \"strconv\"\na, err := strconv.Atoi(\"1\")\nb, err := strconv.Atoi(\"2\")\na + b"},
	{"err again pairwise keeps type", "var total float64\nn, total := 3, 0\n_ = n"},
	{"shadow import", "import \"strings\"\n---\nstrings := 3\n---\nstrings + 1\n---\nimport \"strings\"\n---\nstrings.ToUpper(\"x\")"},
	{"shadow import in its cell", "import \"fmt\"\ns := fmt.Sprint(1)\nfmt := 3\n---\nfmt + 1"},
	{"shadow builtin", "len := 3\n---\nlen + 1"},
	{"shadow type", "string := 3\n---\nstring + 1"},
	{"import twice", "import \"fmt\"\nimport (\n\t\"fmt\"\n\t\"os\"\n)\nfmt.Println(os.Args)"},
	{"auto import", "fmt.Println(strings.ToUpper(\"x\"))"},
	{"auto import prefers v2", "rand.IntN(3)"},
	{"auto import of the package that has the name", "rand.Intn(3)"},
	{"auto import of the package that has all names", "b := make([]byte, 3)\nrand.Reader.Read(b)\nrand.Text()"},
	{"dot import in later cell", "import . \"strings\"\n---\nToUpper(\"x\")"},
	{"unused everything", "import \"os\"\nx := 1\nfunc f() { y := 2 }\nL: for { break }"},
	{"headers with semicolons", "n := 0\nfor i := 0; i < 3; i++ { n += i }; if m := n; m > 0 { n = 1 } else if k := m; k < 0 { n = 2 }\nswitch v := n; v { case 1: n = 3 }\nouter: for i, s := 0, []int{1}; i < len(s); i++ { continue outer }\nfor f := func() bool { return false }; f(); { }\nn"},
	{"goto", "i := 0\nloop:\nif i < 3 { i++; goto loop }"},
	{"defer reads a later variable", "func report() { fmt.Println(total) }\ndefer report()\ntotal := 1"},
	{"mutual closures", "f := func(n int) int { return g(n) }\nfunc g(n int) int { if n == 0 { return 0 }; return f(n - 1) }\nf(3)"},
	{"comma ok", "m := map[string]int{}\nv, ok := m[\"a\"]\n_, ok = m[\"b\"]\nv"},
	{"blank in a definition", "var r any = 1\nx := 2\n_, ok := r.(int)\n_, y := x, ok"},
	{"result nil", "nil"},
	{"result void", "func f() {}\nf()"},
	{"result conversion", "type C float64\nC(3.5)"},
	{"main and init", "func main() {}\nfunc init() { x = 2 }\nvar x = 1\nmain()"},
	{"rerun a type cell", "type T struct{ n int }\nfunc (t T) Get() int { return t.n }\nt := T{1}\n---\ntype T struct{ n int }\nfunc (t T) Get() int { return t.n }\nt := T{1}\nt.Get()"},
	{"type of a type", "type A int\n---\ntype B A\ntype C = B\ntype D C\n---\nvar x C = 1\nD(x)"},
	{"generic type of a generic type", "type A[T any] struct{ x T }\n---\ntype B[T any] A[T]\ntype C = A[int]\n---\ntype D C\nD(B[int]{1}).x"},
	{"later method, constraint of a package", "import \"cmp\"\ntype S[T cmp.Ordered] []T\n---\nfunc (s S[T]) First() T { return s[0] }\nS[int]{1, 2}.First()"},
	{"generic across cells", "type S[T any] struct{ v []T }\nfunc (s *S[T]) Push(x T) { s.v = append(s.v, x) }\n---\ns := &S[int]{}\ns.Push(3)\ns.v"},
	{"unexported field across cells", "type P struct{ x int }\np := P{1}\n---\np.x"},
	{"map key before definition is the old one", "k := 1\n---\nm := map[int]int{k: 1}\nk := 2"},
}

func TestAccepted(t *testing.T) {
	t.Parallel()
	for _, row := range accepted {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			run(t, newTestChecker(), cells(row.in)...)
		})
	}
}

var rejected = []struct{ name, in, want string }{
	{"undefined", "x := 1\ny := z + x", "cell[1]:2:6: undefined: z"},
	{"all errors", "x := a\ny := b\nfunc f() int { }", "cell[1]:1:6: undefined: a\ncell[1]:2:6: undefined: b\ncell[1]:3:16: missing return"},
	{"syntax", "x := 1\nfunc f( {\n}\n", "cell[1]:2:7: \"(\" is not closed"},
	{"syntax in two pieces", "x := := 1\ny = = 2", "cell[1]:1:6: expected operand, found ':='\ncell[1]:2:5: expected operand, found '='"},
	{"package with a capital", "Fmt.Println(1)", "cell[1]:1:1: undefined: Fmt (but have fmt)"},
	{"variable with a capital", "total := 1\nTotal + 1", "cell[1]:2:1: undefined: Total (but have total)"},
	{"built-in with a capital", "Len(\"a\")", "cell[1]:1:1: undefined: Len (but have len)"},
	{"a name that is declared wrongly", "main := 3\nmain", "cell[1]:1:1: cannot declare main - must be func\ncell[1]:2:1: undefined: main"},
	{"misspelled function", "fmt.Printn(1)", "cell[1]:1:5: undefined: fmt.Printn; did you mean Println?"},
	{"misspelled variable", "total := 1\ntotla + 1", "cell[1]:2:1: undefined: totla; did you mean total?"},
	{"package that is not imported", "humanize.Bytes(1)", "cell[1]:1:1: undefined: humanize; only packages of the standard library and of Quern are imported automatically"},
	{"misspelled parameter", "func f(width int) int { return widht }", "cell[1]:1:32: undefined: widht; did you mean width?"},
	{"misspelled type", "var x strng", "cell[1]:1:7: undefined: strng; did you mean string?"},
	{"misspelled field", "type P struct{ Name string }\nP{}.Naem", "cell[1]:2:5: P{}.Naem undefined (type P has no field or method Naem); did you mean Name?"},
	{"misspelled method", "type P struct{}\nfunc (p *P) Reset() {}\nvar p P\np.Rest()", "cell[1]:4:3: p.Rest undefined (type P has no field or method Rest); did you mean Reset?"},
	{"of another function", "func f() { width := 1; _ = width }\nfunc g() int { return widht }", "cell[1]:2:23: undefined: widht"},
	{"nothing like it", "Nowhere.Println(1)", "cell[1]:1:1: undefined: Nowhere"},
	{"wrong inside of a block", "for i := 0; i < 3; i++ { x = = 1 }\ny := zz zz", "cell[1]:1:30: expected operand, found '='\ncell[1]:2:9: unexpected zz at the end of a statement"},
	{"unclosed", "f(1, []int{2,", "cell[1]:1:11: \"{\" is not closed"},
	{"unclosed call", "fmt.Println(\"a\"\nx := 1", "cell[1]:1:12: \"(\" is not closed"},
	{"unclosed call with a function literal", "f(\"/\", func(n int) {\n\tg(n)\n}\nh()", "cell[1]:1:2: \"(\" is not closed"},
	{"unclosed in a function", "func f() {\n\tg(1, h(2)\n\tfor {\n\t}\n}\nfunc k() {}", "cell[1]:2:3: \"(\" is not closed"},
	{"unclosed far above", "a := xs[1\n" + strings.Repeat("f()\n", 50), "cell[1]:1:8: \"[\" is not closed"},
	{"unclosed block of another indent", "func f() {\n\tif a {\n\t\tg()\n\n}\nfunc k() {}", "cell[1]:2:7: \"{\" is not closed"},
	{"unclosed block", "for {\n\tf()\n\ng()", "cell[1]:1:5: \"{\" is not closed"},
	{"unclosed literal", "xs := []int{1, 2\nf(xs)", "cell[1]:1:12: \"{\" is not closed"},
	{"closed by another bracket", "f(1]\nx := y z", "cell[1]:1:2: \"(\" is not closed\ncell[1]:2:8: unexpected z at the end of a statement"},
	{"unclosed behind another error", "x := = 1; f(2", "cell[1]:1:6: expected operand, found '='\ncell[1]:1:12: \"(\" is not closed"},
	{"unclosed string in a call", "f(\"a)\ng()", "cell[1]:1:3: string literal not terminated"},
	{"assignment as a condition", "if x = 2 {\n}", "cell[1]:1:6: = is an assignment and has no value: use == to compare"},
	{"assignment as the condition of a loop", "for i := 0; i = 3; i++ {\n}", "cell[1]:1:15: = is an assignment and has no value: use == to compare"},
	{"assignment behind an initialization", "func f() {\n\tif y := x; y = 2 {\n\t}\n}", "cell[1]:2:15: = is an assignment and has no value: use == to compare"},
	{"assignment in a condition", "if a && x = 2 {\n}", "cell[1]:1:11: = is an assignment and has no value: use == to compare"},
	{"assignment of a switch", "switch x = 2 {\n}", "cell[1]:1:10: = is an assignment and has no value: use == to compare"},
	{"assignment as a result", "f := func() bool { return x = 2 }", "cell[1]:1:29: = is an assignment and has no value: use == to compare"},
	{"definition as a condition", "if x := 2 {\n}", "cell[1]:1:6: a condition is missing: x := value sets a variable; add a condition after a semicolon"},
	{"sum as a condition", "if x += 2 {\n}", "cell[1]:1:6: += is an assignment and has no value: use == to compare"},
	{"named argument", "f(1, size = 3)", "cell[1]:1:11: = is an assignment and has no value: use == to compare; Go has no named arguments"},
	{"field", "p := P{x = 3}", "cell[1]:1:10: = is an assignment and has no value: use == to compare, or : to set a field"},
	{"two assignments", "a = b = 3", "cell[1]:1:7: = is an assignment and has no value: use == to compare, or two statements to assign twice"},
	{"else on a new line", "if a {\n}\nelse {\n}", "cell[1]:3:1: else must be on the line of the brace that closes its if"},
	{"else on a new line of a function", "func f() {\n\tif a {\n\t}\n\telse if b {\n\t}\n\telse {\n\t}\n}", "cell[1]:4:2: else must be on the line of the brace that closes its if\ncell[1]:6:2: else must be on the line of the brace that closes its if"},
	{"else on a new line of a method", "func (t T) M() {\n\tfor {\n\t\tif a {\n\t\t} // end\n\n\t\telse {\n\t\t}\n\t}\n}", "cell[1]:6:3: else must be on the line of the brace that closes its if"},
	{"else on a new line of a literal", "f(func() {\n\tif x := (func() bool { return a })(); x {\n\t}\n\telse {\n\t}\n})", "cell[1]:4:2: else must be on the line of the brace that closes its if"},
	{"else of a loop", "for i := range 3 {\n} else {\n}", "cell[1]:2:3: else must follow the block of an if, and this is the block of a for"},
	{"else of a loop on a new line", "for i := range 3 {\n}\nelse {\n}", "cell[1]:3:1: else must follow the block of an if, and this is the block of a for"},
	{"else of nothing", "func f() {\n\tx := 1\n\telse {\n\t}\n}", "cell[1]:3:2: else must follow the closing brace of an if"},
	{"brace on a new line", "if a\n{\n}", "cell[1]:1:5: expected operand, found newline: the opening brace of a block must be on the line of its for, if, switch or func"},
	{"brace on a new line of a function", "func f() {\n\tfor i := 0; i < 3; i++\n\t{\n\t}\n}", "cell[1]:2:24: expected '{', found newline: the opening brace of a block must be on the line of its for, if, switch or func"},
	{"literal that is not called", "go func() {\n}", "cell[1]:2:2: expression in go must be function call: a call ends in parentheses: f()"},
	{"import of Python", "import numpy as np", "cell[1]:1:14: import path must be a string: package tensor has arrays; cells use the packages of Go and of Quern without an import"},
	{"unknown import that is used", "import \"example.com/go-bar/v2\"\nfunc f() { bar.F() }\nbar.X{}.Y()", "cell[1]:1:8: could not import example.com/go-bar/v2 ("},
	{"unknown import with the name of a package", "import \"example.com/x/strings\"\nstrings.ToUpper(1)", "cell[1]:1:8: could not import example.com/x/strings ("},
	{"unknown dot import", "import . \"example.com/bar\"\nFoo()\nvar x Bar", "cell[1]:1:10: could not import example.com/bar ("},
	{"assignment to what is not defined", "x = 5", "cell[1]:1:1: undefined: x; x := value defines it"},
	{"None", "None", "cell[1]:1:1: undefined: None; it is nil in Go"},
	{"go command", "go get example.com/x", "cell[1]:1:7: expression in go must be function call: %get downloads a module, so that cells can import its packages, and !go runs the go command"},
	{"and", "b := true and false", "cell[1]:1:11: unexpected and at the end of a statement: conditions are joined by && and ||"},
	{"not", "b := not true", "cell[1]:1:10: unexpected true at the end of a statement: a condition is negated by !"},
	{"colon of an if", "if true:\n    f()", "cell[1]:1:8: illegal label declaration: a block is in braces: if x { }"},
	{"if without braces", "if (true) f()", "cell[1]:1:11: unexpected f at the end of a statement: a block is in braces: if x { }"},
	{"arrow", "func f(x int) -> int { return x }", "cell[1]:1:15: unexpected '-' at the end of a statement: the result follows the parameters without an arrow"},
	{"repeated string", "\"a\" * 3", "cell[1]:1:1: invalid operation: \"a\" * 3 (mismatched types untyped string and untyped int); strings.Repeat repeats a string"},
	{"string and number", "n := 3\n\"a\" + n", "cell[1]:2:1: invalid operation: \"a\" + n (mismatched types untyped string and int); fmt.Sprint converts a value to a string"},
	{"number of a string", "int(\"3\")", "cell[1]:1:5: cannot convert \"3\" (untyped string constant) to type int; strconv.Atoi and strconv.ParseFloat parse numbers"},
	{"power", "2 ** 3", "cell[1]:1:6: invalid operation: cannot indirect 3 (untyped int constant); math.Pow computes powers"},
	{"too many closed", "x := 1\n}", "cell[1]:2:1: unexpected '}': no bracket is open here"},
	{"package clause of another package", "package foo\nfunc F() {}", "cell[1]:1:1: a cell is in package main: remove this line"},
	{"package clause that is not the first", "x := 1\npackage main", "cell[1]:2:1: a package clause must come first in its cell: remove this line"},
	{"magic", "%time f()", "cell[1]:1:1: a command with % must be at the beginning of its own line"},
	{"shell", "!ls -la /tmp", "cell[1]:1:2: undefined: ls; a shell command begins with !\ncell[1]:1:6: undefined: la\ncell[1]:1:10: undefined: tmp"},
	{"return", "x := 1\nreturn\nx = 2", "cell[1]:2:1: return is not allowed at the top level of a cell"},
	{"return of a value in a literal", "f := func() { return 1 }", "cell[1]:1:22: too many return values"},
	{"return of a value", "func f() int { return 1 }\nreturn f()", "cell[1]:2:1: return is not allowed at the top level of a cell"},
	{"break", "break", "cell[1]:1:1: break not in for, switch, or select statement"},
	{"no new variables", "x := 1\nx := 2", "cell[1]:2:3: no new variables on left side of :="},
	{"mismatch", "a, b := 1", "cell[1]:1:9: assignment mismatch: 2 variables but 1 value"},
	{"mismatch three", "a, b := 1, 2, 3", "cell[1]:1:9: assignment mismatch: 2 variables but 3 values"},
	{"unused expression", "1 + 2\nx := 1", "cell[1]:1:1: 1 + 2 (untyped int constant 3) is not used"},
	{"use before definition", "func f() int { return x }\ny := f()\nx := 1", "cell[1]:2:6: f uses x, which is not defined before line 3"},
	{"own initializer", "func f() int { return x }\nx := f()", "cell[1]:2:6: f uses x, which is not defined before line 2"},
	{"recursive literal", "fib := func(n int) int { return fib(n - 1) }", "cell[1]:1:33: undefined: fib"},
	{"goto over definition", "goto end\nx := 1\nend:\n_ = x", "cell[1]:1:1: goto end jumps over the definition of x on line 2"},
	{"result", "const big = 1 << 62\nbig * 2", "cell[1]:2:1: cannot use big * 2 (untyped int constant 9223372036854775808) as int value in the result of the cell (overflows)"},
	{"once", "m := map[string]int{}\nm[1]", "cell[1]:2:3: cannot use 1 (untyped int constant) as string value in map index"},
	{"redeclared", "func f() {}\nfunc f() {}", "cell[1]:2:6: f redeclared in this block\n\tcell[1]:1:6: other declaration of f"},
	{"type result", "int", "cell[1]:1:1: int (type) is not an expression"},
	{"unknown import", "import \"no/such/package\"", "cell[1]:1:8: could not import no/such/package"},
	{"column after multi-byte", "π := 3; q := zz", "cell[1]:1:15: undefined: zz"},
	{"reserved letter", "xʹ := 1", "cell[1]:1:1: the letter ʹ in xʹ is reserved: choose another name"},
	{"range over a struct", "type P struct{}\nfor range (P{}) { }", "cell[1]:2:11: cannot range over (P{}) (value of struct type P)"},
	{"range over a fraction", "for i := range 3.5 { }", "cell[1]:1:16: cannot range over 3.5 (untyped float constant)"},
	{"range with too many variables", "for i, v := range 3 { }", "cell[1]:1:8: range over 3 (untyped int constant) permits only one iteration variable"},
	{"argument of a constraint", "func f[T ~int](t T) {}\nf(\"a\")", "cell[1]:2:1: string does not satisfy ~int (string missing in ~int)"},
	{"type argument of a constraint", "type G[T ~int] struct{ v T }\nvar g G[string]", "cell[1]:2:9: string does not satisfy ~int (string missing in ~int)"},
	{"constraint as a type", "type K interface{ ~int }\nvar k K", "cell[1]:2:7: cannot use type K outside a type constraint: interface contains type constraints"},
	{"goto into a block", "func f() { goto in; { in: } }", "cell[1]:1:17: goto in jumps into block"},
	{"no new variables in a function", "func f() { x := 1; x := 2 }", "cell[1]:1:22: no new variables on left side of :="},
	{"overlapping terms", "type K interface{ int | ~int }", "cell[1]:1:25: overlapping terms ~int and int"},
	{"missing method", "type I interface{ M() }\ntype T struct{}\nvar i I = T{}", "cell[1]:3:11: cannot use T{} (value of struct type T) as I value in variable declaration: T does not implement I (missing method M)"},
}

func TestRejected(t *testing.T) {
	t.Parallel()
	for _, row := range rejected {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			_, err := newTestChecker().Check(t.Context(), 1, row.in)
			if err == nil {
				t.Fatalf("%q was accepted, want %s", row.in, row.want)
			}
			if got := err.Error(); !strings.HasPrefix(got, row.want) {
				t.Errorf("%q\n got %s\nwant %s", row.in, got, row.want)
			}
			if list := err.(ErrorList); strings.HasPrefix(row.name, "unknown ") && len(list) > 1 {
				t.Errorf("%q has more than one error: %v", row.in, list)
			}
			told := map[string]bool{} // also at two places of a line
			for _, e := range err.(ErrorList) {
				line := fmt.Sprint(e.Pos.Line, e.Msg)
				if told[line] {
					t.Errorf("%q repeats an error: %v", row.in, err)
				}
				told[line] = true
			}
		})
	}
}
