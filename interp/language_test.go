package interp_test

import (
	"path/filepath"
	"strings"
	"testing"
)

const languageFiles = `
-- go.mod --
module example.com/old

go 1.21
-- loops/loops.go --
package loops

type counter int

func (c *counter) get() int { return int(*c) }

// Old has one variable for all iterations.
func Old() (list []int) {
	var read []func() int
	for i := 0; i < 2; i++ {
		read = append(read, func() int { return i })
	}
	for i, x := range []int{4, 5} {
		read = append(read, func() int { return i }, func() int { return x })
	}
	for c := counter(0); c < 3; c++ {
		read = append(read, c.get)
	}
outer:
	for k := range map[string]int{"a": 1} {
	inner:
		for i := 7; ; i++ {
			read = append(read, func() int { return i + len(k) })
			switch {
			case i < 8:
				continue inner
			case i < 9:
				continue
			}
			break outer
		}
	}
	i := 0
again:
	for j := range [2]int{} {
		read = append(read, func() int { return j })
		if i++; i < 2 {
			goto again
		}
	}
	for _, f := range read {
		list = append(list, f())
	}
	return list
}

// Each is generic.
func Each[T any](list []T) (read []func() T) {
	for _, x := range list {
		read = append(read, func() T { return x })
	}
	return read
}

var Table = func() (read []func() int) {
	for i := 0; i < 2; i++ {
		read = append(read, func() int { return i })
	}
	return read
}()
-- loops/new.go --
//go:build go1.22

package loops

func New() (list []int) {
	var read []func() int
	for i := range 2 {
		read = append(read, func() int { return i })
	}
	return []int{read[0](), read[1]()}
}
-- newer/newer.go --
package newer

func F() {
	for range 3 {
	}
}
-- nested/go.mod --
module example.com/nested
-- nested/nested.go --
package nested
-- tests/a_test.go --
package tests
`

// TestLanguageVersion says that packages have the language of their go.mod file, in which loop variables exist once before
// Go 1.22, and that files may have another one. The values are those of compiled Go.
func TestLanguageVersion(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, languageFiles)
	t.Chdir(dir)
	n := newNotebook(t, modules(t, nil))
	n.must(t, "import \"example.com/old/loops\"\nloops.Old(), loops.New()", "= [2 2 1 5 1 5 3 3 3 10 10 10 0 1 1], [0 1]")
	n.must(t, "each := loops.Each([]string{\"a\", \"b\"})\neach[0](), loops.Table[0]()", "= \"b\", 2")
	n.must(t, "var mine []func() int\nfor i := range 2 {\n\tmine = append(mine, func() int { return i })\n}\nmine[0]()", "= 0")
	for path, want := range map[string]string{
		"newer":  "newer/newer.go:4:12: cannot range over 3 (untyped int constant): requires go1.22 or later (the go line of go.mod is 1.21)",
		"nested": "module example.com/old has no package example.com/old/nested",
		"tests":  "it has only test files",
		"loops/": "trailing slash",
	} {
		if got := n.run("import \"example.com/old/" + path + "\""); !strings.Contains(filepath.ToSlash(got), want) {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}
