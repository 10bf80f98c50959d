package check

import "testing"

func TestOtherLanguages(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ in, want string }{
		{"while x < 3 {\n}", "cell[1]:1:7: unexpected x at the end of a statement: the only loop in Go is for: for condition { }"},
		{"def f(x):\n    return x", "cell[1]:1:5: unexpected f at the end of a statement: a function is declared by func name(x int) int { }"},
		{"for i in range(10):\n    f(i)", "cell[1]:1:7: expected '{', found in: to loop over numbers, write for i := range 10 { }, over a list for i, x := range list { }"},
		{"int x = 5;", "cell[1]:1:5: unexpected x at the end of a statement: a variable is defined by var x int, or x := value"},
		{"let x = 5", "cell[1]:1:5: unexpected x at the end of a statement: a variable is defined by x := value"},
		{"func f() {\n\tif a {\n\t} elif b {\n\t}\n}", "cell[1]:3:4: unexpected elif at the end of a statement: Go has else if"},
		{"x := true ? 1 : 2", "cell[1]:1:11: illegal character U+003F '?': Go has no ? : expression, only if and else"},
		{"what?", "cell[1]:1:5: illegal character U+003F '?'"},
		{"$ ls -l", "cell[1]:1:1: illegal character U+0024 '$': a shell command begins with !"},
		{"# a comment", "cell[1]:1:1: illegal character U+0023 '#': a comment begins with //"},
		{"s := 'hello'", "cell[1]:1:6: illegal rune literal: a string has double quotes"},
		{"x := if a { 1 } else { 2 }", "cell[1]:1:6: expected operand, found 'if': if is a statement and has no value"},
		{"y := x++", "cell[1]:1:7: unexpected '++' at the end of a statement: x++ is a statement and has no value"},
		{"print \"hello\"", "cell[1]:1:7: unexpected \"hello\" at the end of a statement: a call has parentheses: fmt.Println(x)"},
		{"while := 3\nprint := while + while", ""},
	} {
		_, err := newTestChecker().Check(t.Context(), 1, row.in)
		got := ""
		if err != nil {
			got = err.(ErrorList)[0].Error()
		}
		if got != row.want {
			t.Errorf("%q\n got %s\nwant %s", row.in, got, row.want)
		}
	}
}
