package magic

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/stale"
)

// Name is the name of the function by whose calls Parse replaces commands:
// func(number int, values ...any).
const Name = "ʹ"

// OutputName is the name of the function for commands whose output is assigned: func(number int, values ...any) []string.
const OutputName = check.OutputCommand

// Predeclared is the source of the variables of a session before the first cell.
const Predeclared = "var ctx context.Context\nvar " + Name + " func(int, ...any)\nvar " + OutputName + " func(int, ...any) []string"

// A Variable is a variable of the session.
type Variable struct {
	Name, Type string
}

// A Session is the part of a session that commands use.
type Session interface {
	Stdout() io.Writer
	Stderr() io.Writer
	Variables() []Variable // sorted by name
	Known(name string) bool
	Text(value any) string // a value, as in a result
	// Word returns a string, a number or a value with a method String or Error as text of a shell command.
	Word(value any) (string, error)
	Module(m Module) string // the path of a module, with its version
	Stale() []stale.Cell
	Ranks() Ranks
	Program() string                   // the path of the program of the next worker; empty for the present one
	Format(src string) (string, error) // a cell with the layout of gofmt
	// Explain describes what the source of a parsed cell is compiled to. text is the cell itself.
	Explain(ctx context.Context, src, text string) (string, error)
	// TestFunctions returns the test functions of the session and of a cell that is about to run.
	TestFunctions(src string) []check.TestFunction
	Test(ctx context.Context, run TestRun) error // runs tests; the error names those that fail
}

// An action runs a command.
type action func(ctx context.Context, r *Run, values []any) error

// A command is a row of the table.
type command struct {
	name  string // with its %, %% or !
	usage string
	doc   string
	alone bool // the cell must have nothing else
	// prepare parses the rest of the line; for a %% command, the rest of the cell.
	prepare func(text string) (action, error)
	// prepareLine is set, instead of prepare, for a %% command with arguments in its line. text is the rest of the cell.
	prepareLine func(arguments, text string) (action, error)
}

// commands returns the table, in the order of %help.
func commands() []command {
	return []command{timeLine, timeCell, timeitLine, timeitCell, test, who, staleCells, runStale, reset, cd, env, shell, bash, sh, writeFile, cudaCell, get, autoget, restart, ranks, format, explain, help()}
}

func find(name string) (command, error) {
	if name == question {
		return help(), nil
	}
	for _, c := range commands() {
		if c.name == name {
			return c, nil
		}
	}
	if slices.Contains(unneeded, name) {
		return unneededCommand(name), nil
	}
	return command{}, otherwise(name)
}

// noArgument returns an error if a command without arguments has one.
func noArgument(name, text string) error {
	if text != "" {
		return fmt.Errorf("%s takes no argument, but has %q", name, text)
	}
	return nil
}
