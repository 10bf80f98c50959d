package interp

import "time"

// SweepLeast is after how many cells the first sweep is.
const SweepLeast = sweepLeast

// BePatient has a session wait long for the end of an interrupted cell: a busy
// machine may need it to end what can be ended.
func BePatient(s *Session) { s.patience = func(activity) time.Duration { return 20 * time.Second } }

// BePrompt gives a session the patience that it has outside of tests.
func BePrompt(s *Session) { s.patience = patience }

// AskLate has a session ask for the input of a child only when that has run for long.
func AskLate(s *Session) { s.askChild = 20 * time.Second }

// Abandoned is the number of cells whose compiled code goes on.
func Abandoned(s *Session) int {
	s.flag.Lock()
	defer s.flag.Unlock()
	return s.abandoned
}

// Doing is the function of compiled code that a stack says a goroutine is in, and
// whether it ends by itself.
func Doing(stack string) (function string, ends bool) {
	a := activityOf(stack)
	return a.function, a.ends
}
