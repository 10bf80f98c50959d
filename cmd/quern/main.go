// Command quern is a Jupyter kernel for Go.
//
// Usage:
//
//	quern install      write the kernelspec with which Jupyter finds the kernel
//	quern uninstall    remove it
//	quern run nb.ipynb execute a notebook without Python and without a browser
//	quern submit NB    run a notebook as several ranks on a cluster
//	quern export NB    convert a notebook to a Go program
//	quern fmt NB       format the cells of a notebook
//	quern vet NB       report mistakes in the cells of a notebook
//	quern lsp          speak the Language Server Protocol with an editor
//	quern course DIR   begin a course with problem sets for nbgrader
//	quern build        build a program with additional packages compiled in
//	quern doctor       check what works on this machine
//	quern version      print the version
//	quern licenses     print the licenses of everything that the program contains
//	quern kernel -f F  serve the connection file F (Jupyter calls this)
//	quern launch       serve an Enterprise Gateway on another machine (it calls this)
//
// Results go to standard output, everything else to standard error. The exit
// status is 0 on success, 1 on failure and 2 when the command line is wrong.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

// A command is one subcommand. It consists of flags and output around a library package.
type command struct {
	name    string
	summary string // empty hides the command from the usage text
	run     func(ctx context.Context, args []string, std stdio) error
}

// stdio are the standard streams of a command.
type stdio struct {
	out, err io.Writer
}

var commands = []command{
	{"install", "write the kernelspec with which Jupyter finds the kernel", runInstall},
	{"uninstall", "remove the kernelspec", runUninstall},
	{"run", "execute a notebook without Python and without a browser", runRun},
	{"submit", "run a notebook as several ranks on a cluster", runSubmit},
	{"export", "convert a notebook to a Go program", runExport},
	{"fmt", "format the cells of notebooks", runFmt},
	{"vet", "report mistakes in the cells of notebooks", runVet},
	{"lsp", "speak the Language Server Protocol with an editor", runLSP},
	{"course", "begin a course with problem sets for nbgrader", runCourse},
	{"build", "build a program with additional packages compiled in", runBuild},
	{"doctor", "check what works on this machine", runDoctor},
	{"version", "print the version", runVersion},
	{"licenses", "print the licenses of everything that the program contains", runLicenses},
	{"kernel", "serve a connection file; Jupyter calls this", runKernel},
	{"launch", "serve an Enterprise Gateway on another machine; it calls this", runLaunch},
	{"worker", "", runWorker},
}

// usageError is an invalid command line. Its hint says what to type instead.
type usageError struct {
	message, hint string
}

func (e *usageError) Error() string { return e.message }

func run(args []string, std stdio) (status int) {
	if len(args) == 0 {
		printUsage(std.err)
		return 2
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		printUsage(std.out)
		return 0
	case "--version", "-version":
		args[0] = "version"
	}
	for _, c := range commands {
		if c.name == args[0] {
			return report(c.run(signalContext(c.name), args[1:], std), std)
		}
	}
	return report(&usageError{fmt.Sprintf("unknown command %q", args[0]), "quern help lists the commands"}, std)
}

// signalContext returns a context that ends at SIGINT, SIGTERM and SIGHUP, for the short
// commands. The kernel and the worker handle signals themselves.
func signalContext(name string) context.Context {
	ctx := context.Background()
	if name != "kernel" && name != "launch" && name != "worker" {
		ctx, _ = signal.NotifyContext(ctx, notIgnored(os.Interrupt, syscall.SIGTERM, hangup)...) // needed until the process ends
	}
	return ctx
}

// notIgnored returns the signals that the process was not started to ignore. nohup and
// background jobs of a shell ignore some.
func notIgnored(signals ...os.Signal) []os.Signal {
	return slices.DeleteFunc(signals, signal.Ignored)
}

// report prints err and returns the exit status.
func report(err error, std stdio) int {
	var usage *usageError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errReported):
		return 1
	case errors.As(err, &usage):
		// Names of files are in it, which must not begin a line of a CI system's log.
		fmt.Fprintf(std.err, "quern: %s\n", strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(usage.message))
		if usage.hint != "" {
			fmt.Fprintf(std.err, "quern: hint: %s\n", usage.hint)
		}
		return 2
	}
	fmt.Fprintf(std.err, "quern: %v\n", err)
	return 1
}

// newLogger returns a logger to w from a level on, which QUERN_LOG overrides. It is not
// the default logger: in the worker the default logger and package log belong to the
// cells.
func newLogger(w io.Writer, level slog.Level) *slog.Logger {
	// Ignore an unknown level: a log setting must not prevent the kernel from starting.
	_ = level.UnmarshalText([]byte(os.Getenv("QUERN_LOG")))
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
}

func printUsage(w io.Writer) {
	fmt.Fprint(w, "quern is a Jupyter kernel for Go.\n\nUsage:\n\n")
	for _, c := range commands {
		if c.summary != "" {
			fmt.Fprintf(w, "  quern %-10s %s\n", c.name, c.summary)
		}
	}
	fmt.Fprint(w, "\nquern COMMAND -h describes a command. QUERN_LOG=debug enables debug logs.\n")
}

// parse parses the flags of a command without arguments.
func parse(flags *flag.FlagSet, usage string, args []string, std stdio) error {
	flags.SetOutput(io.Discard)
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(std.out, usage)
		return err
	case err != nil:
		return &usageError{err.Error(), fmt.Sprintf("quern %s -h describes the flags", flags.Name())}
	case flags.NArg() > 0:
		return &usageError{fmt.Sprintf("%s: unexpected argument %q", flags.Name(), strings.Join(flags.Args(), " ")),
			fmt.Sprintf("quern %s -h describes the flags", flags.Name())}
	}
	return nil
}
