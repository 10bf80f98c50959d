package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp/internal/harness"
)

const oracleOfTest = "# release go1.26\n" +
	"fails.go\tfails\n" +
	"golden.go\t.out\n" +
	"hashed.go\tsha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\n" +
	"literal.go\t\"a\\tb\\n\"\n" +
	"varies.go\t*\n"

func TestClassify(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "golden.out"), []byte("golden\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	o, err := readOracle(oracleOfTest, root)
	if err != nil {
		t.Fatal(err)
	}
	if o.text() != strings.Split(o.text(), "\n")[0]+"\n"+oracleOfTest {
		t.Errorf("the oracle does not keep its text:\n%s", o.text())
	}
	if got := o.works([]string{"fails.go", "golden.go", "silent.go"}); !slices.Equal(got, []string{"golden.go", "silent.go"}) {
		t.Errorf("of the tests, %v work", got)
	}
	for _, row := range []struct {
		name string
		file string
		e    harness.Ending
		r    *report
		want outcome
	}{
		{"silent", "silent.go", harness.Ending{}, &report{}, pass},
		{"golden", "golden.go", harness.Ending{Output: "golden\n"}, &report{}, pass},
		{"not golden", "golden.go", harness.Ending{Output: "golden"}, &report{}, wrong},
		{"hash", "hashed.go", harness.Ending{Output: "hello"}, &report{}, pass},
		{"another hash", "hashed.go", harness.Ending{Output: "Hello"}, &report{}, wrong},
		{"should be silent", "silent.go", harness.Ending{Output: "x"}, &report{}, wrong},
		{"literal", "literal.go", harness.Ending{Output: "a\tb\n"}, &report{}, pass},
		{"another literal", "literal.go", harness.Ending{Output: "a b\n"}, &report{}, wrong},
		{"varies", "varies.go", harness.Ending{Output: "?"}, &report{}, pass},
		{"varies but for its status", "varies.go", harness.Ending{Status: 3, Output: "?"}, nil, wrong},
		{"exit", "silent.go", harness.Ending{Status: 1}, nil, wrong},
		{"exit 0", "silent.go", harness.Ending{}, nil, pass},
		{"panic", "silent.go", harness.Ending{Status: 2, Output: "panic: x"}, &report{Kind: "panic", Running: true}, panics},
		{"panic in an initializer", "silent.go", harness.Ending{Status: 2}, &report{Kind: "runtime error"}, panics},
		{"refused", "silent.go", harness.Ending{Status: 2}, &report{Kind: "compile error"}, refused},
		{"fault", "silent.go", harness.Ending{Status: 2}, &report{Kind: "internal error", Running: true}, fault},
		{"host panic", "silent.go", harness.Ending{Status: 2, Output: "panic: x\n"}, nil, crash},
		{"fatal error", "silent.go", harness.Ending{Status: 2, Output: "a\nfatal error: stack overflow\n"}, nil, crash},
		{"signal", "silent.go", harness.Ending{Status: -1}, nil, crash},
		{"exit 2 of its own", "silent.go", harness.Ending{Status: 2, Output: "failed\n"}, nil, wrong},
		{"late", "silent.go", harness.Ending{Timeout: true}, nil, timeout},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			v, err := o.classify(row.file, row.e, row.r)
			if err != nil {
				t.Fatal(err)
			}
			if v.Outcome != row.want {
				t.Errorf("%s, %+v, %+v\n got %s (%s)\nwant %s", row.file, row.e, row.r, v.Outcome, v.Message, row.want)
			}
		})
	}
}

func TestGuess(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, in, want string }{
		{"place", "cell[1]:12:3: undefined: x\n\tx\n\t^", "?undefined: x"},
		{"engine's place", "3:5: bad", "?bad"},
		{"numbers", "index 7 of 0xc000123", "?index N of N"},
		{"tabs", "a\tb", "?a b"},
		{"long", strings.Repeat("é", 200), "?" + strings.Repeat("é", 100) + "…"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := guess(result{Outcome: panics, Message: row.in}); got != row.want {
				t.Errorf("%q\n got %q\nwant %q", row.in, got, row.want)
			}
		})
	}
}
