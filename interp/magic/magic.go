package magic

import (
	"context"
	"fmt"
	"io"
	"slices"
)

// Name is the function that takes the place of a command in the Go of a cell:
// func(number int, values ...any).
const Name = "ʹ"

// A Variable is one of the session.
type Variable struct {
	Name, Type string
}

// A Session is what commands work on.
type Session interface {
	Stdout() io.Writer
	Stderr() io.Writer
	Variables() []Variable // by name
	Known(name string) bool
	Text(value any) string     // a value as a result shows it
	Module(path string) string // a module with its version
	Ranks() Ranks
}

// An action is a command that is ready to run.
type action func(ctx context.Context, r *Run, values []any) error

// A command is a row of the table.
type command struct {
	name  string // with its %, %% or !
	usage string
	doc   string
	alone bool // with nothing else in its cell
	// prepare reads the rest of the line, and of a %% command the rest of the cell.
	prepare func(text string) (action, error)
}

// commands returns the table, in the order of %help.
func commands() []command {
	return []command{timeLine, timeCell, who, reset, cd, env, shell, bash, get, ranks, help()}
}

func find(name string) (command, error) {
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

// noArgument refuses what follows a command that takes nothing.
func noArgument(name, text string) error {
	if text != "" {
		return fmt.Errorf("%s takes no argument, and has %q", name, text)
	}
	return nil
}
