package interp_test

import "testing"

// Methods of the standard files use the streams of the session, and a cell may set os.Stdout. The
// test is not parallel because os.Stdout is global.
func TestFiles(t *testing.T) {
	n := newNotebook(t)
	for _, row := range []struct{ in, want string }{
		{"fmt.Print(1)\nos.Stdout.WriteString(\"2\")\nos.Stdout.Write([]byte(\"3\"))\nfmt.Fprint(os.Stdout, 4)\nos.Stderr.WriteString(\"5\")", "1234stderr: 5"},
		{"f := os.Stdout\nf.WriteString(\"a\")\nfunc p(f *os.File) { f.WriteString(\"b\") }\np(f)", "ab"},
		{"before := os.Stdout\nr, w, _ := os.Pipe()\nos.Stdout = w\nfmt.Print(\"in the pipe \")\nos.Stdout.WriteString(\"too\")\nw.Close()\nos.Stdout = before\ntext, _ := io.ReadAll(r)\nstring(text)", "= \"in the pipe too\""},
		{"fmt.Print(\"back\")", "back"},
		{"file, _ := os.CreateTemp(\"\", \"\")\ndefer os.Remove(file.Name())\nfile.WriteString(\"abc\")\nfile.Seek(1, 0)\np2 := make([]byte, 2)\nm, err := file.Read(p2)\nm, err, string(p2)", "= 2, <nil>, \"bc\""},
		{"var none *os.File\n_, err = none.Write(nil)\nerr != nil", "= true"},
	} {
		n.must(t, row.in, row.want)
	}
}
