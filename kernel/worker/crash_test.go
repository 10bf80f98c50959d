package worker

import "testing"

func TestReason(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":              "",
		"some output\n": "",
		"panic: boom\n\ngoroutine 1 [running]:\n":                                               "panic: boom",
		"runtime: goroutine stack exceeds 1000000000-byte limit\nfatal error: stack overflow\n": "fatal error: stack overflow",
		// Two errors that end the process at the same time.
		"fatal error: \nfatal error: out of memory: 1 GiB\n": "fatal error: out of memory: 1 GiB",
		"fatal error: ": "fatal error:",
	} {
		c := newCrashFilter(func(int, []byte) {})
		c.filter(1, []byte(text))
		c.end()
		if got := c.reason("exit status 2: it ended itself"); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// A report that begins within a line is the reason too, and what a program has printed that only looks like
// a report is its output.
func TestReasonOrOutput(t *testing.T) {
	t.Parallel()
	const exited = ": the program ended itself"
	for _, row := range []struct{ name, how, text, want, shown string }{
		{"after a part of a line", "exit status 2", "abcfatal error: sync: unlock of unlocked mutex\n", "fatal error: sync: unlock of unlocked mutex", "abcfatal error: sync: unlock of unlocked mutex\n"},
		{"a panic after a part of a line", "exit status 2", "x\nabcpanic: boom\n\n", "panic: boom", "x\nabcpanic: boom\n\n"},
		{"after an empty line", "exit status 2", "\nfatal error: memory limit exceeded\n", "fatal error: memory limit exceeded", ""},
		{"after a line and an empty one", "exit status 2", "a\n\nfatal error: memory limit exceeded\n", "fatal error: memory limit exceeded", "a\n"},
		{"after a part of a line and its end", "exit status 2", "a\nfatal error: memory limit exceeded\n", "fatal error: memory limit exceeded", "a\n"},
		{"printed after an empty line", "exit status 3", "a\n\npanic: mine\n", "", "a\n\npanic: mine\n"},
		{"a signal", "killed by signal SIGABRT", "SIGABRT: abort\n", "SIGABRT: abort", ""},
		{"printed, and another status", "exit status 3", "a\npanic: mine\n", "", "a\npanic: mine\n"},
		{"printed within a line, and another status", "exit status 1", "this is a fatal error: mine\n", "", "this is a fatal error: mine\n"},
		{"something else", "exit status 2", "usage: x\n", "", "usage: x\n"},
	} {
		var shown string
		c := newCrashFilter(func(_ int, text []byte) { shown += string(text) })
		shown += string(c.filter(1, []byte(row.text)))
		c.end()
		if got := c.reason(row.how + exited); got != row.want || shown != row.shown {
			t.Errorf("%s: got %q and shows %q, want %q and %q", row.name, got, shown, row.want, row.shown)
		}
	}
}
