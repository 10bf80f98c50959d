package cuda

import (
	"fmt"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/kernel/internal/compile"
)

const log = `cell[3](3): error: identifier "foo" is undefined
  	y[n] = foo(x);
  	       ^

cell[3](4): warning #177-D: variable "i" was declared but never referenced
  	int i;
  	    ^

Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"

cell[3](6): error: expected a ";"
  }
  ^

cell[3](7): error: no instance of overloaded function "atomicAdd" matches the argument list
            argument types are: (half *, int)
  	atomicAdd(h, 1);
  	^

/usr/include/mma.h(12): catastrophic error: cannot open source file "crt/mma.h"

4 errors detected in the compilation of "cell[3]".
`

func TestErrors(t *testing.T) {
	var got []string
	for _, e := range Errors(log) {
		got = append(got, fmt.Sprintf("%v|%s|%s", e.Error, e.Source, e.Caret))
	}
	want := []string{
		"cell[3]:3:9: identifier \"foo\" is undefined|\ty[n] = foo(x);|\t       ^",
		"cell[3]:6:1: expected a \";\"|}|^",
		"cell[3]:7:2: no instance of overloaded function \"atomicAdd\" matches the argument list argument types are: (half *, int)|\tatomicAdd(h, 1);|\t^",
		"/usr/include/mma.h:12: cannot open source file \"crt/mma.h\"||",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestLines(t *testing.T) {
	got := Lines("a\n#line 7 \"cell[3]\"\nb\nc \n# 2 \"x\"\nd", "kernel.cu")
	want := map[compile.Line]string{{File: "kernel.cu", Line: 1}: "a", {File: "cell[3]", Line: 7}: "b", {File: "cell[3]", Line: 8}: "c", {File: "x", Line: 2}: "d"}
	if len(got) != len(want) {
		t.Errorf("got %v", got)
	}
	for at, text := range want {
		if got[at] != text {
			t.Errorf("%v: %q", at, got[at])
		}
	}
}
