package magic

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

var cd = command{
	name: "%cd", usage: "%cd [directory]", doc: "changes the working directory; without an argument, to the home directory",
	prepare: func(text string) (action, error) {
		return func(_ context.Context, r *Run, _ []any) error {
			dir, err := expand(unquote(text))
			if err != nil {
				return fmt.Errorf("%%cd: %w", err)
			}
			if err := os.Chdir(dir); err != nil {
				return fmt.Errorf("%%cd: %w", err)
			}
			if dir, err = os.Getwd(); err != nil {
				return fmt.Errorf("%%cd: %w", err)
			}
			_, err = fmt.Fprintln(r.session.Stdout(), dir)
			return err
		}, nil
	},
}

// expand replaces "", and ~ at the start, by the home directory.
func expand(dir string) (string, error) {
	rest, ok := strings.CutPrefix(dir, "~")
	if dir != "" && (!ok || rest != "" && !os.IsPathSeparator(rest[0])) {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, rest), err
}

// unquote removes the quotes around a name, which may be there because of spaces in it.
func unquote(text string) string {
	if n := len(text); n > 1 && (text[0] == '"' || text[0] == '\'') && text[n-1] == text[0] {
		return text[1 : n-1]
	}
	return text
}
