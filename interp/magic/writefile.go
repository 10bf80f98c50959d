package magic

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
)

const writeFileUsage = "%%writefile [-a] file"

var writeFile = command{
	name: "%%writefile", usage: writeFileUsage, doc: "writes the rest of the cell to a file; -a appends it",
	prepareLine: func(arguments, text string) (action, error) {
		name, mode, verb := arguments, os.O_TRUNC, "wrote"
		for _, option := range []string{"-a", "--append"} {
			if rest, ok := strings.CutPrefix(arguments, option); ok && (rest == "" || rest[0] == ' ' || rest[0] == '\t') {
				name, mode, verb = strings.TrimSpace(rest), os.O_APPEND, "appended to"
			}
		}
		if name = unquote(name); name == "" || name[0] == '-' {
			return nil, errors.New("%%writefile needs the name of a file: " + writeFileUsage)
		}
		return func(ctx context.Context, r *Run, _ []any) error {
			_, err := r.session.Ranks().Once(ctx, r.first+r.number, func() (string, error) { return "", r.write(name, mode, verb, text) })
			return err
		}, nil
	},
}

// write writes text to a file and prints that it has.
func (r *Run) write(name string, mode int, verb, text string) error {
	path, err := name, error(nil)
	if strings.HasPrefix(name, "~") {
		path, err = expand(name)
	}
	if err != nil {
		return fmt.Errorf("%%%%writefile: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|mode, 0o644)
	if err != nil {
		return fmt.Errorf("%%%%writefile: %w", err)
	}
	_, err = f.WriteString(text)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("%%%%writefile: %w", err)
	}
	_, err = fmt.Fprintf(r.session.Stdout(), "%s %s\n", verb, name)
	return err
}
