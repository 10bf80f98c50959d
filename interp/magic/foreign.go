package magic

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Commands of IPython and of other kernels for Go. Those that are not needed here are accepted, with a note. For the others,
// the error names the equivalent in Quern.

// unneeded are the commands of gonb that make the rest of the cell a function main.
var unneeded = []string{"%%", "%main"}

// unneededCommand returns a command that does nothing but print a note.
func unneededCommand(name string) command {
	return command{name: name, prepare: func(text string) (action, error) {
		if text != "" {
			return nil, fmt.Errorf("%s is not needed, and a cell has no arguments: remove the line, and set os.Args = append(os.Args[:1], %s) before flag.Parse()",
				name, quotedList(text))
		}
		return func(_ context.Context, r *Run, _ []any) error {
			// If the output is closed, nobody reads the note.
			_, _ = fmt.Fprintf(r.session.Stderr(), "note: %s is not needed: a cell may contain both statements and declarations\n", name)
			return nil
		}, nil
	}}
}

// quotedList returns the fields of text as a list of Go strings.
func quotedList(text string) string {
	if strings.ContainsAny(text, "\"'\\") {
		return "…" // as a shell would split it
	}
	var list []string
	for _, field := range strings.Fields(text) {
		list = append(list, fmt.Sprintf("%q", field))
	}
	return strings.Join(list, ", ")
}

// instead describes, for commands of other kernels, the equivalent in Quern.
var instead = map[string]string{
	"%list": "%who lists the variables", "%whos": "%who lists the variables", "%who_ls": "%who lists the variables",
	"%pip": "%get downloads a module, so that cells can import its packages", "%conda": "%get downloads a module, so that cells can import its packages",
	"%go":          "%get downloads a module, so that cells can import its packages, and !go runs the go command",
	"%go111module": "%get downloads a module, so that cells can import its packages", "%goflags": "a cell is not compiled by the go command",
	"%matplotlib": "package plots shows its figures without it", "%load_ext": "there are no extensions", "%config": "there is nothing to configure",
	"%%file": "%%writefile writes a file", "%%script": "%%bash runs a script", "%%!": "%%bash runs a script",
	"%%html": "display.HTML shows a text as HTML", "%%markdown": "display.Markdown shows a text as Markdown", "%%latex": "display.LaTeX shows a formula", "%%svg": "display.SVG shows an image",
	"%%capture": "assign to os.Stdout, or end the cell with a semicolon to hide its value",
	"%lsmagic":  "%help lists the commands", "%magic": "%help lists the commands", "%quickref": "%help lists the commands", "%h": "%help lists the commands",
	"%set_env": "%env name=value sets an environment variable", "%run": "!go run runs a program, and a cell may hold one", "%exec": "call the function in the cell",
	"%with_inputs": "fmt.Scan asks for a line", "%with_password": "fmt.Scan asks for a line", "%reset_selective": "%reset forgets everything", "%rm": "%reset forgets everything",
	"%capture": "a program writes to a file with fmt.Fprintln, and a shell command with !command > file",
	"%args":    "set os.Args = append(os.Args[:1], …) before flag.Parse()", "%version": "quern version prints it in a shell",
	"%track":     "packages of the notebook's module are used as saved, and %get ../lib adds another directory",
	"%untrack":   "packages of the notebook's module are used as saved, and %get ../lib adds another directory",
	"%goworkfix": "a notebook in a workspace uses its go.work", "%wasm": "a cell is not compiled to WebAssembly",
	"%widgets": "package widgets shows its controls without it",
	"%remove":  "%reset forgets everything", "%reset_go_mod": "%reset forgets everything",
}

// shellNames are shell commands that IPython has as commands of its own.
var shellNames = []string{"ls", "pwd", "cat", "cp", "mv", "mkdir", "rmdir", "less", "more", "man", "echo", "ll", "sx", "system"}

// otherwise returns the error for the name of a command that does not exist.
func otherwise(name string) error {
	if hint := instead[name]; hint != "" {
		return fmt.Errorf("there is no command %s: %s", name, hint)
	}
	for _, shell := range shellNames {
		if name == "%"+shell {
			return fmt.Errorf("there is no command %s: !%s runs the shell command", name, shell)
		}
	}
	var names []string
	best, least := "", 2
	if len(name) > len("%time") {
		least = 3
	}
	for _, c := range commands() {
		names = append(names, c.name)
		if d := levenshtein.ComputeDistance(name, c.name); d < least {
			best, least = c.name, d
		}
	}
	if best != "" {
		return fmt.Errorf("there is no command %s; did you mean %s?", name, best)
	}
	if name == "%" {
		return errors.New("the name of the command is missing: %help lists the commands")
	}
	return fmt.Errorf("there is no command %s: the commands are %s", name, strings.Join(names, ", "))
}
