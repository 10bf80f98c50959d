package interp_test

import (
	"errors"
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
