package interp_test

import "testing"

// TestDataFrames converts data frames from and to structs of cells, which have other names of fields in lowered code.
func TestDataFrames(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	for _, cell := range []struct{ in, want string }{
		{"import \"github.com/quernlab/quern/accel/frame\"\ntype Person struct {\n\tName string `frame:\"name\"`\n\tAge *int `frame:\"age\"`\n\tcity string\n}\nage := 7\nf, err := frame.FromStructs([]Person{{\"a\", &age, \"\"}, {Name: \"b\"}})\nfmt.Println(f.Columns(), f.Column(\"age\").CountMissing(), err)", "[name age] 1 <nil>\n"},
		{"var back []Person\nerr = f.Structs(&back)\nfmt.Println(len(back), back[0].Name, *back[0].Age, back[1].Age == nil, err)", "2 a 7 true <nil>\n"},
		{"f.Filter(func(r frame.Row) bool { return r.Float(\"age\") > 1 }).Len()", "= 1"},
		{"f.Filter(func(r frame.Row) bool { return r.Float(\"agee\") > 1 })", "! panic: frame: no column is named \"agee\"; did you mean \"age\"? (*frame.ColumnError)"},
	} {
		if got := n.run(cell.in); got != cell.want {
			t.Errorf("%s\n got %q\nwant %q", cell.in, got, cell.want)
		}
	}
}
