package worker

import (
	"errors"
	"os"
	"os/exec"
)

// errNoProcesses is returned in a browser: a worker there is not a Command.
var errNoProcesses = errors.New("there are no processes in a browser")

func inherit(*exec.Cmd, *os.File, *os.File) (string, error) { return "", errNoProcesses }

type group struct{}

func (*group) start(*exec.Cmd) error { return errNoProcesses }

func (*group) kill() {}

func (*group) end() {}

func describe(state *os.ProcessState) string { return exited(state) }

// descriptors returns 0: there is nothing to reserve.
func descriptors() int { return 0 }
