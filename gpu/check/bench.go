package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// benchProgram is accel/bench, in the same folder as this program.
const benchProgram = "gpu-check-bench"

// runBench measures the device, beside PyTorch if there is one. The result is a file of its own.
func runBench(ctx context.Context, o options, _ *report, out io.Writer) error {
	program, err := o.program(benchProgram)
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, program, "-device", o.device, "-python", o.python, "-slice", "0.5", "-save", "-results", o.out)
	if o.quick {
		command.Args = append(command.Args, "-quick")
	}
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = gracePeriod
	said := &tail{}
	command.Stdout, command.Stderr = out, said
	fmt.Fprintln(out)
	if err := command.Run(); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(said.String()))
	}
	fmt.Fprint(out, said)
	return nil
}
