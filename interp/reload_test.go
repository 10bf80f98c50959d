package interp_test

import (
	"strings"
	"testing"
)

// TestLocalPackageRunsOnce says that a saved package whose init functions can run only once fails only in the cells that use
// it, and that it does not run again before they do.
func TestLocalPackageRunsOnce(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, `
-- go.mod --
module example.com/once

go 1.26
-- log/log.go --
package log

var Calls []string
-- web/mux/mux.go --
package mux

import "net/http"

var Mux = http.NewServeMux()
-- page/page.go --
package page

import "example.com/once/web"

func Version() string { return web.Version }
-- free/free.go --
package free

const Version = "first"
`)
	saveWeb := func(old, now string) {
		t.Helper()
		writeFiles(t, dir, "-- web/web.go --\n"+strings.Replace(onceWeb, old, now, 1))
	}
	saveWeb("", "")
	t.Chdir(dir)
	n := newNotebook(t, modules(t, nil))
	n.must(t, "import (\n\t\"example.com/once/free\"\n\t\"example.com/once/log\"\n\t\"example.com/once/page\"\n\t\"example.com/once/web\"\n)\n"+
		"version := func() string { return web.Version }\npage.Version(), free.Version, log.Calls", "= \"first\", \"first\", [first]")

	saveWeb("first", "second")
	writeFiles(t, dir, "-- free/free.go --\npackage free\n\nconst Version = \"second\"\n")
	n.must(t, "free.Version, log.Calls", "= \"second\", [first second]")
	n.must(t, "free.Version, log.Calls, version()", "= \"second\", [first second], \"first\"")
	for _, cell := range []string{"web.Version", "page.Version()"} {
		if got := n.run(cell); !strings.Contains(got, "conflicts with pattern") || !strings.Contains(got, "%restart starts a new worker") {
			t.Errorf("%s: %s", cell, got)
		}
	}
	n.must(t, "log.Calls", "= [first second second second]")

	saveWeb("mux.Mux.Handle(\"/\", ", "_, _ = mux.Mux, (")
	n.must(t, "web.Version, page.Version()", "= \"first\", \"first\"")
}

const onceWeb = `package web

import (
	"net/http"

	"example.com/once/log"
	"example.com/once/web/mux"
)

func init() {
	log.Calls = append(log.Calls, Version)
	mux.Mux.Handle("/", http.NotFoundHandler())
}

const Version = "first"
`

// TestLocalTypeChanges says that an error about a value of a type that was saved again says so.
func TestLocalTypeChanges(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, "-- go.mod --\nmodule example.com/geo\n-- point/point.go --\npackage point\n\ntype Point struct{ X int }\n")
	t.Chdir(dir)
	n := newNotebook(t, modules(t, nil))
	n.must(t, "import \"example.com/geo/point\"\np := point.Point{1}\np", "= {X:1}")
	writeFiles(t, dir, "-- point/point.go --\npackage point\n\ntype Point struct{ X, Y int }\n")
	n.must(t, "q := point.Point{1, 2}\nq", "= {X:1 Y:2}")
	if got := n.run("p = q"); !strings.Contains(got, "the files of package point have changed since the value was made: run the cell that made it again") {
		t.Error(got)
	}
}
