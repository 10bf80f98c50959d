package interp_test

import "testing"

// A lock or a wait group that is declared again is a new one: goroutines of earlier cells
// continue with the old one, and functions of earlier cells use the new one.
func TestRedeclaredLocks(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	n.must(t, "hold := make(chan bool)", "")
	n.must(t, "var wg sync.WaitGroup", "")
	n.must(t, "func count() { wg.Go(func() {}) ; wg.Wait() }", "")
	for range 3 {
		n.must(t, "var wg sync.WaitGroup\nwg.Go(func() { <-hold })\nwaiting := &wg", "")
		n.must(t, "var wg sync.WaitGroup\nwaiting == &wg", "= false")
		n.must(t, "count()", "") // and does not wait for the other one
		n.must(t, "hold <- true\nwaiting.Wait()\nwg.Go(func() {})\nwg.Wait()", "")

		n.must(t, "var mu sync.Mutex\nmu.Lock()\nlocked := &mu", "")
		n.must(t, "var mu sync.Mutex\nlocked.Unlock()\nmu.TryLock()", "= true")

		n.must(t, "var guarded [2]struct { n int; mu sync.RWMutex }\nguarded[1].mu.RLock()\nread := &guarded[1]", "")
		n.must(t, "var guarded [2]struct { n int; mu sync.RWMutex }\nread.mu.RUnlock()\nguarded[1].mu.TryLock()", "= true")
	}
	// All other variables remain the same.
	n.must(t, "x := 1\np := &x\nvar a atomic.Int64\nq := &a", "")
	n.must(t, "x := 2\nvar a atomic.Int64\n*p, q == &a", "= 2, true")
}

// A cell with a wait group can be interrupted and run again, however late its goroutines end.
func TestInterruptedWaitGroup(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	n.must(t, "gate := make(chan bool)", "")
	const cell = "var wg sync.WaitGroup\nfor range 4 { wg.Go(func() { defer func() { <-gate }(); for { } }) }\nfmt.Println(\"go\")\nwg.Wait()"
	for range 3 {
		if e := interruptAt(t, n, cell); e.Name != "interrupted" {
			t.Fatal(e)
		}
		n.out.take()
	}
	n.must(t, "close(gate)", "")
	n.must(t, "var wg sync.WaitGroup\nfor range 4 { wg.Go(func() { }) }\nwg.Wait()", "")
}
