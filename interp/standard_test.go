package interp_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp"
)

func TestStdin(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ in, want string }{
		{"s := bufio.NewScanner(os.Stdin)\nfor s.Scan() { fmt.Print(s.Text(), \";\") }", "1 2;three;"},
		{"text, _ := io.ReadAll(os.Stdin)\nstring(text)", "= \"1 2\\nthree\\n\""},
		{"var a, b int\nvar c string\nfmt.Fscan(os.Stdin, &a, &b)\nfmt.Scan(&c)\na, b, c", "= 1, 2, \"three\""},
		{"line, _ := bufio.NewReader(os.Stdin).ReadString('\\n')\nline", "= \"1 2\\n\""},
		{"var r io.Reader = os.Stdin\nvar a int\nfmt.Fscanln(r, &a)\na", "= 1"},
		{"b := make([]byte, 3)\nn, err := os.Stdin.Read(b)\nn, err, string(b)", "= 3, <nil>, \"1 2\""},
		{"_, err := os.Stdin.Stat()\n_, err = os.Stdin.ReadAt(make([]byte, 1), 0)\nstrings.Contains(err.Error(), \"fmt.Scan\")", "= true"},
	} {
		n := newNotebook(t, interp.Stdin(strings.NewReader("1 2\nthree\n")))
		n.must(t, row.in, row.want)
	}
}

// TestStdinAssigned sets os.Stdin, as programs do to test code that reads it, and sets it back.
func TestStdinAssigned(t *testing.T) {
	t.Parallel()
	const pipe = "own := os.Stdin\nr, w, err := os.Pipe()\nif err != nil { panic(err) }\nfmt.Fprint(w, \"7 8\\nnine\\n\")\nw.Close()\nos.Stdin = r\n"
	for _, row := range []struct{ in, want string }{
		{"var a, b int\nfmt.Scanln(&a, &b)\na, b", "= 7, 8"},
		{"var a, b int\nvar c string\nn, err := fmt.Scan(&a, &b, &c)\na, b, c, n, err", `= 7, 8, "nine", 3, <nil>`},
		{"var a, b int\nfmt.Scanf(\"%d %d\", &a, &b)\na, b", "= 7, 8"},
		{"var a int\nfmt.Fscan(os.Stdin, &a)\na", "= 7"},
		{"line, _ := bufio.NewReader(os.Stdin).ReadString('\\n')\nline", `= "7 8\n"`},
		{"s := bufio.NewScanner(os.Stdin)\nfor s.Scan() { fmt.Print(s.Text(), \";\") }", "7 8;nine;"},
		{"text, _ := io.ReadAll(os.Stdin)\nstring(text)", `= "7 8\nnine\n"`},
		{"b := make([]byte, 3)\nn, _ := os.Stdin.Read(b)\nstring(b[:n])", `= "7 8"`},
		{"func() string { var a, b int; var c string; fmt.Scan(&a, &b, &c); return fmt.Sprint(a, b, c) }()", `= "7 8nine"`},
		{"var i io.Reader = os.Stdin\nvar a int\nfmt.Fscan(i, &a)\na", "= 7"},
		{"var f = fmt.Scan\nvar a int\nf(&a)\na", "= 7"},
		{"os.Stdin = own\nvar a int\nfmt.Scan(&a)\na", "= 1"},
		{"var a, b int\nfmt.Fscan(own, &a)\nfmt.Scan(&b)\na, b", "= 1, 7"},
		{"os.Stdin = nil\nvar a int\n_, err = fmt.Scan(&a)\nfmt.Println(err)", "invalid argument\n"},
		{"r.Close()\nvar a int\n_, err = fmt.Scan(&a)\nfmt.Println(errors.Is(err, os.ErrClosed))", "true\n"},
	} {
		n := newNotebook(t, interp.Stdin(strings.NewReader("1 2\nthree\n")))
		n.must(t, pipe+row.in, row.want)
	}
	n := newNotebook(t, interp.Stdin(strings.NewReader("1 2\nthree\n")))
	n.must(t, pipe, "")
	n.must(t, "var a int\nfmt.Scan(&a)\na", "= 7") // a later cell
	if runtime.GOOS != "windows" {
		n.must(t, "c := exec.Command(\"cat\")\nc.Stdin = os.Stdin\nout, err := c.Output()\nstring(out), err", `= "8\nnine\n", <nil>`)
	}
}

// refusal is an input whose reads fail.
type refusal struct{}

func (refusal) Read([]byte) (int, error) { return 0, errors.New("nobody is there") }

func TestStdinRefused(t *testing.T) {
	t.Parallel()
	n := newNotebook(t, interp.Stdin(refusal{}))
	for _, src := range []string{
		"var a int\nfmt.Scan(&a)\nfmt.Println(1)",
		"bufio.NewScanner(os.Stdin).Scan()",
		"text, err := io.ReadAll(os.Stdin)\nlen(text)",
	} {
		n.must(t, src, "! error: standard input: nobody is there")
	}
}

func TestStandardStreams(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	n.must(t, "fmt.Println(1)\nw := bufio.NewWriter(os.Stdout)\nw.WriteString(\"2\\n\")\nw.Flush()\nfmt.Fprintln(os.Stdout, 3)\n"+
		"io.WriteString(os.Stdout, \"4\\n\")\n_ = json.NewEncoder(os.Stdout).Encode(5)\nlog.New(os.Stderr, \"\", 0).Print(6)", "1\n2\n3\n4\n5\nstderr: 6\n")
}
