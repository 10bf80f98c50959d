package interp_test

import (
	"os"
	"path/filepath"
	"testing"
)

// Lines of a command's output, and values of Go in commands.
func TestShellValues(t *testing.T) {
	skipWithoutShell(t)
	t.Parallel()
	for _, row := range []struct{ name, in, want string }{
		{"lines", "lines := !printf 'a\\nb c\\n'\nfmt.Printf(\"%q\", lines)", "[\"a\" \"b c\"]"},
		{"without a newline at the end", "lines := !printf 'a\\nb'\nfmt.Printf(\"%q\", lines)", "[\"a\" \"b\"]"},
		{"empty lines", "lines := !printf '\\na\\n\\n'\nfmt.Printf(\"%q\", lines)", "[\"\" \"a\" \"\"]"},
		{"carriage returns", "lines := !printf 'a\\r\\nb\\r\\n'\nfmt.Printf(\"%q\", lines)", "[\"a\" \"b\"]"},
		{"nothing", "lines := !:\nlen(lines), lines != nil", "= 0, true"},
		{"one word", "here := !pwd\nlen(here)", "= 1"},
		{"assigned", "var lines []string\nlines = !echo a\nfmt.Printf(\"%q\", lines)", "[\"a\"]"},
		{"assigned to another type", "lines := 1\nlines = !echo a", "! compile error: cell[1]:2:9: cannot use the output of a command (value of type []string) as int value in assignment\n    lines = !echo a\n            ^"},
		{"an argument that looks like Go", "lines := !echo -l\nfmt.Printf(\"%q\", lines)", "[\"-l\"]"},
		{"standard error is shown", "lines := !echo a; echo b >&2\nfmt.Printf(\"%q\", lines)", "[\"a\"]stderr: b\n"},
		{"background process", "lines := !(sleep 0.01; echo b) & echo a\nfmt.Printf(\"%q\", lines)", "[\"a\" \"b\"]"},
		{"over two lines", "lines := !echo a \\\n  b\nfmt.Printf(\"%q\", lines)", "[\"a b\"]"},
		{"below a statement", "x := 2\nlines := !echo a\nx, lines", "= 2, [a]"},
		{"twice", "a := !echo 1\nb := !echo 2\na, b", "= [1], [2]"},
		{"in an expression of the next statement", "a := !echo 1; echo 2\nstrings.Join(a, \"+\")", "= \"1+2\""},
		{"failure", "lines := !echo a; exit 3", "! error: !echo a; exit 3: exit status 3"},
		{"nothing runs after a failure", "lines := !exit 1\nfmt.Println(1)", "! error: !exit 1: exit status 1"},
		{"unknown command", "lines := !nosuchprogram 2>/dev/null", "! error: !nosuchprogram 2>/dev/null: exit status 127"},
		{"name of an earlier value", "ok := true\nno := !ok\nno", "= false"},
		{"literal", "no := !true\nno", "= false"},
		{"call", "s := \"ab\"\nno := !strings.HasPrefix(s, \"a\")\nno", "= false"},
		{"call over two lines", "no := !strings.HasPrefix(\"ab\",\n\t\"a\")\nno", "= false"},
		{"and over two lines", "a, b := true, false\nno := !a &&\n\t!b\nno", "= false"},
		{"parentheses", "no := !(1 > 2)\nno", "= true"},
		{"twice not", "ok := true\nyes := !!ok\nyes", "= true"},
		{"element", "m := map[string]bool{}\nno := !m[\"a\"]\nno", "= true"},
		{"receive", "c := make(chan bool, 1)\nc <- true\nno := !<-c\nno", "= false"},
		{"call of an unknown function", "no := !isReady()", "! compile error: cell[1]:1:8: undefined: isReady\n    no := !isReady()\n           ^"},
		{"variable of a package", "no := !flag.Parsed()\nno == !flag.Parsed()", "= true"},
		{"in a block", "if true {\n\tlines := !ls -l\n}", "! compile error: cell[1]:2:12: undefined: ls; a shell command begins with !\n     lines := !ls -l\n               ^\ncell[1]:2:16: undefined: l\n     lines := !ls -l\n                   ^"},

		{"text", "name := \"a b\"\n!echo x{name}y", "xa by\n"},
		{"number", "n := 3\n!echo {n} {n+1} {-n}", "3 4 -3\n"},
		{"several kinds", "f, ok, r, e := 1.5, true, 'x', errors.New(\"no\")\n!echo {f} {ok} {r} {e} {2*time.Second*time.Duration(f)}", "1.5 true 120 no 2s\n"},
		{"own type", "type Name string\nn := Name(\"x\")\n!echo {n}", "x\n"},
		{"own String", "type Point struct{ X int }\nfunc (p Point) String() string { return fmt.Sprint(\"at \", p.X) }\np := Point{2}\n!echo {p}", "at 2\n"},
		{"call", "s := []string{\"a\", \"b\"}\n!echo {strings.Join(s, \" \")} {len(s)}", "a b 2\n"},
		{"call of a package", "!echo {strings.Repeat(\"}\", 2)} {math.MaxInt8}", "}} 127\n"},
		{"element", "m := map[string]int{\"a\": 1}\n!echo {m[\"a\"]}", "1\n"},
		{"name of an earlier cell", "!echo {earlier}", "7\n"},
		{"in quotes", "name := \"a  b\"\n!echo '{name}' \"{name}\"", "a  b a  b\n"},
		{"side by side", "a, b := 1, 2\n!echo {a}{b}", "12\n"},
		{"over two lines", "a, b := 1, 2\n!echo {a} \\\n  {b}\na", "1 2\n= 1"},
		{"whole command", "c := \"echo a\"\n!{c}", "a\n"},
		{"lines", "n := 2\nlines := !seq {n}\nfmt.Printf(\"%q\", lines)", "[\"1\" \"2\"]"},
		{"doubled", "name := \"a\"\n!echo {{name}} {{{name}}} {{{{name}}}}", "{name} {a} {{name}}\n"},

		{"variable of the shell", "x := 1\n!x=2; echo ${x} ${x}", "2 2\n"},
		{"unknown name", "!echo {nobody}", "{nobody}\n"},
		{"program of awk", "!echo a b | awk '{print $2}'; echo c | awk '{print}'", "b\nc\n"},
		{"program of awk with the name of a variable", "n := 1\n!echo a | awk '{n++} END {print n}'", "1\n"},
		{"alternatives", "a, b := 1, 2\n!echo {a,b} {a..b} {1..3} {}", "{a,b} {a..b} {1..3} {}\n"},
		{"group", "n := 1\n!{ echo {n}; }", "1\n"},
		{"spaces", "n := 1\n!echo { n }", "{ n }\n"},
		{"template", "Name := 1\n!echo '{{.Name}}' '{{ Name }}'", "{{.Name}} {{ Name }}\n"},
		{"JSON", "a := 1\n!echo '{\"a\": 1}' '{\"a\": {a}}'", "{\"a\": 1} {\"a\": 1}\n"},
		{"repetition", "!echo aa | grep -cE '^a{2}$'", "1\n"},

		{"a slice", "s := []int{1}\n!echo {s}", "! error: the value of {s} is a []int, not a text or a number: make it a string, or write {{s}} to pass the braces to the shell"},
		{"nil", "var e error\n!echo {e}", "! error: the value of {e} is a <nil>, not a text or a number: make it a string, or write {{e}} to pass the braces to the shell"},
		{"error in an expression", "n := 1\n!echo {n + \"a\"}", "! compile error: cell[1]:2:8: invalid operation: n + \"a\" (mismatched types int and untyped string); fmt.Sprint converts a value to a string\n    !echo {n + \"a\"}\n           ^"},
		{"error in the second line", "n := 1\n!echo \\\n  {n.x}", "! compile error: cell[1]:3:6: n.x undefined (type int has no field or method x)\n      {n.x}\n         ^"},
		{"panic in an expression", "s := []int{}\n!echo {s[0]}", "! runtime error: index out of range [0] with length 0"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			n := newNotebook(t)
			n.cell = -1
			n.must(t, "earlier := 7", "")
			got := n.run(row.in)
			if got != row.want {
				t.Errorf("%s\n got %q\nwant %q", row.in, got, row.want)
			}
			n.must(t, "1", "= 1") // the session goes on
		})
	}
}

// A variable keeps its value if the command fails whose output it would have got.
func TestShellFailureKeeps(t *testing.T) {
	skipWithoutShell(t)
	t.Parallel()
	n := newNotebook(t)
	n.must(t, "lines := []string{\"a\"}", "")
	n.must(t, "lines = !echo b; false", "! error: !echo b; false: exit status 1")
	n.must(t, "lines", "= [a]")
	file := filepath.ToSlash(filepath.Join(t.TempDir(), "f"))
	if err := os.WriteFile(file, []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	n.must(t, "file := \""+file+"\"", "")
	n.must(t, "lines = !cat {file}", "")
	n.must(t, "lines", "= [x]")
}
