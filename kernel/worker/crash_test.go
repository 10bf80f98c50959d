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
		if got := c.reason(false); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
