package worker

import (
	"io"
	"time"
)

// Pipes are what ties a worker process to the front.
type Pipes struct {
	Link           io.ReadWriteCloser
	Stdout, Stderr io.ReadCloser
}

// Runner is one worker process. Each is started once.
type Runner interface {
	// Start starts the process. Its environment holds token, with which it
	// marks its output.
	Start(token string) (Pipes, error)
	// Wait waits until the process has ended, ends what it started, and tells
	// how it ended, for a user to read: "exit status 3", "killed by signal …".
	// It is called once.
	Wait() string
	// Kill ends the process and all that it started. Killing twice, or what has
	// ended, is fine.
	Kill()
	// Usage returns the CPU time that the process has received, and whether a signal
	// has stopped it. known is false where the system does not say.
	Usage() (cpu time.Duration, stopped, known bool)
	// ID names the process in logs.
	ID() string
	// Diagnose tells what is known of a program that does not start.
	Diagnose() string
}
