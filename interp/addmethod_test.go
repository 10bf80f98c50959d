package interp_test

import (
	"runtime"
	"testing"

	"github.com/quernlab/quern/interp"
)

// A type of the keys of a map gets a method while a goroutine, which could write to the map, runs.
func TestAddMethodBesideGoroutine(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	n.must(t, "type Key struct{ N int }\nstop := make(chan bool)\nm, same := map[any]int{Key{5}: 5}, []map[any]int{}\nnumbers, empty := map[Key]int{{5}: 5}, map[any]int(nil)", "")
	n.must(t, "same = append(same, m)\nvar shared sync.Map\ngo func() { <-stop }()", "")
	n.must(t, "func (k Key) String() string { return fmt.Sprint(\"key \", k.N) }\nm[Key{5}], numbers[Key{5}]",
		"stderr: note: values in maps of m, shared do not get the methods that this cell adds to their types, and such keys are not found, "+
			"because goroutines of cell[2] run: end them, and the next cell adds the methods; or make the maps again\n= 0, 5")
	n.must(t, "m[Key{5}]", "= 0") // the note is there once
	n.must(t, "close(stop)", "")
	for interp.HasStarted(n.Session) {
		runtime.Gosched()
	}
	n.must(t, "m[Key{5}], m", "= 5, map[key 5:5]")
	n.must(t, "func (k Key) Other() {}\nm[Key{5}]", "= 5") // no goroutine: no note
}
