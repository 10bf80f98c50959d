package main

import "testing"

func TestWithoutPackage(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, in, want string }{
		{"usual", "// run\n\npackage main\n\nimport \"fmt\"\n", "// run\n\n            \n\nimport \"fmt\"\n"},
		{"first line", "package main\nvar x int", "            \nvar x int"},
		{"semicolon", "package main; var x int", "              var x int"},
		{"comment after", "package main // hello\n", "             // hello\n"},
		{"in a comment", "// package main\npackage main\n", "// package main\n            \n"},
		{"none", "var x int", "var x int"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := withoutPackage(row.in); got != row.want {
				t.Errorf("%q\n got %q\nwant %q", row.in, got, row.want)
			}
		})
	}
}
