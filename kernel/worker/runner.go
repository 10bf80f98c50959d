package worker

import (
	"io"
	"time"
)

// Pipes connect a worker process with the kernel process.
type Pipes struct {
	Link           io.ReadWriteCloser
	Stdout, Stderr io.ReadCloser
}

// Runner is one worker process. Each is started once.
type Runner interface {
	// Start starts the process. The token is passed in its environment; marks in its
	// output contain it.
	Start(token string) (Pipes, error)
	// Wait waits until the process has ended, kills what it started, and returns how it
	// ended as text for the user, such as "exit status 3" or "killed by signal …". It is
	// called once.
	Wait() string
	// Kill ends the process and everything that it started. Calling it twice, or after
	// the process has ended, is allowed.
	Kill()
	// Usage returns the CPU time that the process has used and whether a signal has
	// stopped it. known is false if the system does not report it.
	Usage() (cpu time.Duration, stopped, known bool)
	// ID identifies the process in logs.
	ID() string
	// Diagnose describes the program, for the error when it does not start.
	Diagnose() string
}
