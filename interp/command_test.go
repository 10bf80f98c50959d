package interp_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

func skipWithoutShell(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs sh and bash")
	}
}

// TestWhoCallsNoMethods lists variables whose methods would print.
func TestWhoCallsNoMethods(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	n.must(t, "type P struct{ X int }\nfunc (p P) String() string { fmt.Print(\"called\"); return \"\" }\ntype E struct{ Code int }\n"+
		"func (e *E) Error() string { panic(\"called\") }", "")
	n.must(t, "a, b, c := P{1}, []any{P{2}, 3}, map[string]*E{\"k\": nil}\nvar d error = &E{4}\n_ = d\n"+
		"e, f, g := make([]float64, 250_000), time.Unix(0, 0).UTC(), []error{errors.New(\"x\")}", "")
	n.must(t, "%who", strings.Join([]string{
		"a  P              8 B            {X:1}",
		"b  []any          2, 48 B        [{X:2} 3]",
		"c  map[string]*E  1, 25 B        map[k:<nil>]",
		"d  error          8 B            &{Code:4}",
		"e  []float64      250\u00a0000, 2 MB  [" + strings.Repeat("0 ", 29) + "0…",
		"f  time.Time                     1970-01-01 00:00:00 +0000 UTC",
		"g  []error        1, 16 B        [x]\n",
	}, "\n"))
}

// TestWhoHasShapes lists values with several dimensions, and tensors, whose ops are not run.
func TestWhoHasShapes(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	n.must(t, "import \"github.com/quernlab/quern/accel/tensor\"\nimport \"github.com/quernlab/quern/accel/frame\"\n"+
		"type Node struct{ Next *Node }\na := &Node{}\na.Next = a\n"+
		"b := [][]float64{make([]float64, 500), make([]float64, 500)}\nc := [][]int{{1}, {1, 2}, nil}\nd := [2][3][]byte{}\n"+
		"e := tensor.Zeros(3, 224).Add(tensor.Ones(224))\nf := []*tensor.Tensor{e, e, nil}\ng := struct{ W *tensor.Tensor }{e}\n"+
		"h := frame.New(frame.Ints(\"x\", 1, 2), frame.Texts(\"name\", \"a\", \"b\"))\nvar i *tensor.Tensor\nj := []string{\"ab\", \"c\"}", "")
	got := regexp.MustCompile("0x[0-9a-f]+").ReplaceAllString(n.run("%who"), "0x…")
	if want := strings.Join([]string{
		"a  *Node                     8 B             &{Next:0x…}",
		"b  [][]float64               2×500, 8.05 kB  [[0 0 0 0 0 0 … 0 0 0 0 0 0] [0 0 0 0 0 0 … 0 0 0 0 0 0]] (2…",
		"c  [][]int                   3, 96 B         [[1] [1 2] []]",
		"d  [2][3][]byte              2×3×0, 144 B    [[[] [] []] [[] [] []]]",
		"e  *tensor.Tensor            3×224, 2.69 kB  float32",
		"f  []*tensor.Tensor          3, 2.71 kB      [float32[3×224] float32[3×224] <nil>]",
		"g  struct{W *tensor.Tensor}  2.7 kB          {W:0x…}",
		"h  *frame.Frame              2×2             x, name",
		"i  *tensor.Tensor                            <nil>",
		"j  []string                  2, 35 B         [ab c]\n",
	}, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestWhoOfLargeValues shows values whose text has several lines as one.
func TestWhoOfLargeValues(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	n.must(t, "type Base struct{ X, Y int }\na := make([]Base, 40)\nb := map[string]string{}\nfor i := range 40 { b[fmt.Sprint(10+i)] = \"v\" }\n"+
		"c := &struct{ Text string }{strings.Repeat(\"a\", 200)}\nd := map[string]Base{strings.Repeat(\"k\", 100): {}}", "")
	n.must(t, "%who", strings.Join([]string{
		"a  []Base                40, 640 B   {0: {X:0 Y:0} 1: {X:0 Y:0} 2: {X:0 Y:0} 3: {X:0 Y:0} 4: {X:0…",
		"b  map[string]string     40, 1.4 kB  {10: v 11: v 12: v 13: v 14: v 15: v 16: v 17: v 18: v 19: v…",
		"c  *struct{Text string}  216 B       &{Text: " + strings.Repeat("a", 52) + "…",
		"d  map[string]Base       1, 132 B    {" + strings.Repeat("k", 59) + "…\n",
	}, "\n"))
}

// TestQuestion is a cell that asks for help.
func TestQuestion(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	if got := n.run(" ?\n"); !strings.Contains(got, "name?     shows the documentation") || got != n.run("%help") || got != n.run("??") {
		t.Errorf("got %s", got)
	}
}

func TestCommands(t *testing.T) {
	skipWithoutShell(t)
	n := newNotebook(t)
	for _, row := range []struct{ name, in, want string }{
		{"shell", "!echo a; echo b >&2", "a\nstderr: b\n"},
		{"quotes", "!echo \"it's\" # `", "it's\n"},
		{"in its turn", "fmt.Println(1)\n!echo 2\nfmt.Println(3)", "1\n2\n3\n"},
		{"before the result", "!echo 1\n2", "1\n= 2"},
		{"status", "!exit 3", "! error: !exit 3: exit status 3"},
		{"nothing runs after a failure", "!false\nfmt.Println(1)", "! error: !false: exit status 1"},
		{"unknown program", "!no-such-program-here 2>/dev/null", "! error: !no-such-program-here 2>/dev/null: exit status 127"},
		{"checked as a whole", "!echo 1\nundefinedName", "! compile error: cell[8]:2:1: undefined: undefinedName\n    undefinedName\n    ^"},
		{"expression", "ok := true\n!ok", "= false"},
		{"continued expression", "ok &&\n!ok", "= false"},
		{"in a string", "s := `\n%who\n!ls`\nlen(s)", "= 9"},
		{"in a comment", "/*\n%who\n*/ 1", "= 1"},
		{"in a block", "func g() {\n%who\n}", "! compile error: cell[13]:2:1: expected statement, found '%': a command must be at the beginning of a line, outside of blocks\n    %who\n    ^"},
		{"script", "%%bash\nfor i in 1 2; do\n  echo $i\ndone", "1\n2\n"},
		{"empty script", "%%bash\n", "! compile error: cell[15]:1:1: %%bash needs a script in the lines below it\n    %%bash\n    ^"},
		{"unknown", "1\n%foo bar", "! compile error: cell[16]:2:1: there is no command %foo: the commands are %time, %%time, %timeit, %%timeit, %test, %who, %stale, %run, %reset, %cd, %env, !, %%bash, %%sh, %%writefile, %%cuda, %get, %autoget, %restart, %ranks, %fmt, %explain, %help\n    %foo bar\n    ^"},
		{"who", "%who", "ok  bool            true\ns   string  9, 9 B  \"\\n%who\\n!ls\"\n"},
		{"who with company", "x := 1\n%who", "! compile error: cell[18]:2:1: %who must be alone in its cell\n    %who\n    ^"},
		{"environment", "%env QUERN_TEST_NAME = 'a b'\n%env QUERN_TEST_NAME\n!echo $QUERN_TEST_NAME\nos.Getenv(\"QUERN_TEST_NAME\")", "a b\na b\n= \"a b\""},
		{"no such variable", "%env QUERN_TEST_NONE", "! error: %env: QUERN_TEST_NONE is not set"},
		{"get nothing", "%get", "! compile error: cell[21]:1:1: %get needs one module: %get github.com/dustin/go-humanize@v1.0.1\n    %get\n    ^"},
		{"call by hand", "ʹ(7)", ""},
		{"reserved", "ʹx := 1", "! compile error: cell[23]:1:1: the letter ʹ in ʹx is reserved: choose another name\n    ʹx := 1\n    ^"},
		{"time needs a statement", "%time", "! compile error: cell[24]:1:1: %time needs a statement: %time f(), or %%time for the whole cell\n    %time\n    ^"},
		{"error behind time", "%time x := undefinedName", "! compile error: cell[25]:1:12: undefined: undefinedName\n    %time x := undefinedName\n               ^"},
		{"reset", "%reset", ""},
		{"after reset", "ok", "! compile error: cell[27]:1:1: undefined: ok\n    ok\n    ^"},
		{"nothing left", "%who", "no variables\n"},
		{"shell in a block", "for range 2 {\n\t!echo a b\n}", "! compile error: cell[29]:2:8: unexpected a at the end of a statement: a command must be at the beginning of a line, outside of blocks\n     !echo a b\n           ^"},
		{"over two lines", "!echo a \\\n  b\n1", "a b\n= 1"},
		{"script with an option", "%%bash -e\nfalse\necho 1", "! compile error: cell[31]:1:1: %%bash takes no argument, but has \"-e\"\n    %%bash -e\n    ^"},
		{"goes on", "ok := 1\nctx.Err() == nil && ok == 1", "= true"},
	} {
		t.Run(row.name, func(t *testing.T) { n.must(t, row.in, row.want) })
	}
}

func TestTime(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	for _, row := range []struct {
		in    string
		times int
		value string
	}{
		{"%time 1 + 1", 1, "= 2"},
		{"%time x := 3 // comment\nx", 1, "= 3"},
		{"%time for i := 0; i < 3; i++ {\n\tx += i\n}\nx", 1, "= 6"},
		{"%time x++\n%time x++\nx", 2, "= 8"},
		{"%%time\nx++\nx", 1, "= 9"},
		{"// about it\n%%time\nx", 1, "= 9"},
	} {
		got := n.run(row.in)
		if strings.Count(got, "time: ") != row.times || !strings.HasSuffix(got, "\n"+row.value) {
			t.Errorf("%q: got %q, want %d times and %s", row.in, got, row.times, row.value)
		}
	}
}

func TestChangeDirectory(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(".") // restores the directory at the end
	if err := os.Mkdir(filepath.Join(dir, "a b"), 0o700); err != nil {
		t.Fatal(err)
	}
	n := newNotebook(t)
	n.must(t, "%cd "+dir, dir+"\n")
	n.must(t, "%cd 'a b'", filepath.Join(dir, "a b")+"\n")
	n.must(t, "%cd ..", dir+"\n")
	n.must(t, "%cd none", "! error: %cd: chdir none: no such file or directory")
}

// %fmt does not run its cell.
func TestFormat(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	n.must(t, "done := false", "")
	for _, row := range []struct{ in, want, replacement string }{
		{"%fmt\ndone=true;f( )\n!done  &&true\n!ls  .\n%who", "done = true\nf()\n!done && true\n!ls  .\n%who\n", "done = true\nf()\n!done && true\n!ls  .\n%who"},
		{"// c\n\n%fmt\nx:=1", "// c\n\nx := 1\n", "// c\n\nx := 1"},
		{"%fmt", "", ""},
		{"\n  %fmt\n\n", "", ""},
		{"%fmt\nx := := 1", "! error: %fmt: 2:6: expected operand, found ':='", ""},
		{"x := 1\n%fmt x", "! compile error: cell[7]:2:1: %fmt takes no argument, but has \"x\"\n    %fmt x\n    ^", ""},
		{"done", "= false", ""},
	} {
		n.cell++
		result, _ := n.Execute(context.Background(), n.cell, row.in)
		n.out.take()
		if result.Replacement != row.replacement {
			t.Errorf("%q: replaced by %q", row.in, result.Replacement)
		}
		n.cell--
		n.must(t, row.in, row.want)
	}
}

// TestHelp checks that %help describes all commands and the other features that beginners need.
func TestHelp(t *testing.T) {
	t.Parallel()
	got := newNotebook(t).run("%help")
	for _, want := range []string{"%time statement", "%get [-compiled] module@version", "name?", "ctx ", "imports ", "errors ", "tutorials ", "          quickstart.ipynb"} {
		if !strings.Contains(got, "\n  "+want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	for line := range strings.Lines(got) {
		if len(line) > 140 {
			t.Errorf("too long to read: %s", line)
		}
	}
}

// An interrupt kills a command with its children.
func TestInterruptCommand(t *testing.T) {
	skipWithoutShell(t)
	n := newNotebook(t)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	go func() {
		for n.out.peek() == "" && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		n.Interrupt()
	}()
	// The child holds the pipe open, so the wait for output ends only when the child ends.
	start := time.Now()
	got := n.run("!echo begun; sleep 900 & sleep 900; echo not reached")
	if want := "begun\n! interrupted: the cell was interrupted"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if took := time.Since(start); took > limit {
		t.Errorf("it took %v", took)
	}
	n.must(t, "1", "= 1")
}

// A cell does not wait for a command that continues in the background.
func TestBackgroundCommand(t *testing.T) {
	skipWithoutShell(t)
	n := newNotebook(t)
	n.must(t, "!sleep 300 & echo $! > /dev/null; echo on; kill $!", "on\n")
}

func TestCommandTools(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	for src, want := range map[string]string{
		"%who": "complete", "!ls": "complete", "%%time\nx := 1": "complete", "%time for {": "incomplete",
		"%%bash": "incomplete", "%%bash\necho": "incomplete", "%%bash\necho\n\n": "complete", "%none": "invalid",
		"!echo \\": "incomplete", "!echo \\\na": "complete", "!echo \\\n": "complete",
	} {
		if got, _ := n.IsComplete(src); got != want {
			t.Errorf("IsComplete(%q) is %s, want %s", src, got, want)
		}
	}
	start, end, items := n.Complete("x := 1\n%ti", 10)
	if start != 7 || end != 10 || len(items) != 2 || items[0].Text != "%time" || items[1].Text != "%timeit" {
		t.Errorf("completion of %%ti: %d to %d, %v", start, end, items)
	}
	if _, _, items = n.Complete("!ls\nstrings.ToUpp", 17); len(items) == 0 || items[0].Text != "ToUpper" {
		t.Errorf("completion below a command: %v", items)
	}
	if data := n.Inspect("%who", 2, 0); data == nil || !strings.Contains(data["text/plain"].(string), "lists the variables") {
		t.Errorf("inspection of %%who: %v", data)
	}
}

// %explain shows what a cell is compiled to, and defines and runs nothing.
func TestExplain(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	got := n.run("%explain\nfunc double(n int) int { return 2 * n }\ntotal := 0\nfor i := range 3 {\n\ttotal += double(i)\n}\nfmt.Println(strings.ToUpper(\"a\"))\n!echo no")
	for _, want := range []string{
		"yaegi declares the variables total int\n", "double: 2 instructions\n   2  func double(n int) int { return 2 * n }\n            0 MulK n0, n0, 2\n            1 Ret\n",
		"the statements of the cell: ", ", calls double, strings.ToUpper, fmt.Println", "\n   5  total += double(i)\n", "Call ", "\n   8  !echo no\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%%explain does not show %q:\n%s", want, got)
		}
	}
	n.must(t, "total := 5", "")
	for _, row := range []struct{ in, want string }{
		{"%explain\ntotal++\ndouble(1)", "! error: %explain: "},
		{"%explain all\n1", "! compile error: "},
		{"total", "= 5"},
		{"// nothing\n%explain", ""},
	} {
		if got := n.run(row.in); !strings.HasPrefix(got, row.want) {
			t.Errorf("%q: got %q, want %q", row.in, got, row.want)
		}
	}
}
