package control

import (
	"bytes"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"

	"github.com/quernlab/quern/interp/stack"
	"github.com/quernlab/quern/interp/vm"
	"github.com/quernlab/quern/interp/yaegi"
)

// Which goroutines are panicking.
//
// From the moment when a goroutine begins to panic until a deferred call that recovers has returned, the runtime's function
// gopanic is on its stack: also between two deferred calls, in deferred calls of compiled code, and in Protect, which records
// the panic. The goroutine profile shows that, and so how many there are. A stack trace, which has the number of a goroutine,
// omits gopanic between two deferred calls, like all functions of the runtime at the top of a stack. On the other hand, the
// profile only has the top of a deep stack, and a stack trace has the bottom too.

// countPanicking counts the goroutines of cells that are panicking, or run a deferred call that has recovered. deep says that
// there may be more, with stacks that are too deep for the profile.
func countPanicking() (panicking int, deep bool) {
	var profile bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&profile, 1) // a buffer returns no error
	for line := range bytes.Lines(profile.Bytes()) {
		n, pcs := parseStack(string(line))
		panics, ofCell, last := false, false, "runtime.goexit"
		for _, pc := range pcs {
			frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
			last = frame.Function
			panics = panics || last == "runtime.gopanic"
			ofCell = ofCell || last == protect || last == vm.Activation
		}
		switch {
		case ofCell && panics:
			panicking += n
		case last != "runtime.goexit":
			deep = true
		}
	}
	return panicking, deep
}

// parseStack parses a line "3 @ 0x47a1 0x47b2" of a goroutine profile: how many goroutines have a stack, and its return
// addresses. n is 0 if it is another line.
func parseStack(line string) (n int, pcs []uintptr) {
	count, addresses, found := strings.Cut(line, " @ ")
	if n, err := strconv.Atoi(count); found && err == nil {
		for address := range strings.FieldsSeq(addresses) {
			pc, _ := strconv.ParseUint(address, 0, 64)
			pcs = append(pcs, uintptr(pc))
		}
		return n, pcs
	}
	return 0, nil
}

// visiblePanicking returns the numbers of the goroutines of cells that are panicking according to stack traces, and whether
// the trace has the whole stack. runnable is the number of all goroutines that are not blocked, except the calling one, which is
// the first: they share the CPU time.
func visiblePanicking(stacks []byte) (whole map[uint64]bool, runnable int) {
	whole, runnable = map[uint64]bool{}, -1
	for text := range bytes.SplitSeq(stacks, []byte("\n\n")) {
		if !stack.IsWaiting(string(text)) {
			runnable++
		}
		if bytes.Contains(text, []byte("\npanic(")) && (bytes.Contains(text, []byte(protected)) || yaegi.RunsCells(text)) {
			whole[stack.Goroutine(string(text))] = !bytes.Contains(text, []byte(" frames elided...\n"))
		}
	}
	return whole, runnable
}
