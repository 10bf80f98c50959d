package interp_test

import "testing"

// A later cell may declare a method of a generic type. An error in it has a clear message.
func TestLaterGenericMethod(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	n.must(t, "type Box[T any] struct{ v T }\nb := Box[int]{1}", "")
	n.must(t, "func (b Box[T]) Get() T { return b.v }\nb.Get()", "= 1")
	n.must(t, "func (b Box) Get() int { return 1 }\nfunc (b []int) Len() int { return 1 }", "! compile error: cell[3]:1:6: cannot use generic type Box without instantiation"+
		"\n    func (b Box) Get() int { return 1 }\n         ^\n"+
		"cell[3]:2:9: invalid receiver type []int\n    func (b []int) Len() int { return 1 }\n            ^")
	n.must(t, "Box[int]{1}.Get()", "= 1")
}

// Locks and wait groups behave as in compiled Go.
func TestWaits(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, in, want string }{
		{"mutex", "var mu sync.Mutex\nvar wg sync.WaitGroup\nn := 0\nfor range 20 {\n\twg.Go(func() { mu.Lock(); defer mu.Unlock(); n++ })\n}\nwg.Wait()\nn", "= 20"},
		{"embedded", "type counter struct {\n\tsync.RWMutex\n\tn int\n}\nfunc (c *counter) add() { c.Lock(); c.n++; c.Unlock() }\n" +
			"func (c *counter) get() int { c.RLock(); defer c.RUnlock(); return c.n }\nvar c counter\nvar wg sync.WaitGroup\n" +
			"for range 20 { wg.Go(c.add) }\nwg.Wait()\nc.get()", "= 20"},
		{"pointer in a map", "m := map[string]*sync.Mutex{\"a\": {}}\nm[\"a\"].Lock()\nm[\"a\"].TryLock()", "= false"},
		{"field of an element", "type s struct{ mu sync.Mutex }\nl := make([]s, 2)\nl[1].mu.Lock()\nl[1].mu.TryLock(), l[0].mu.TryLock()", "= false, true"},
		{"nil", "var mu *sync.Mutex\nmu.Lock()", "! runtime error: invalid memory address or nil pointer dereference"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			newNotebook(t).must(t, row.in, row.want)
		})
	}
}
