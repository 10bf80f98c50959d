package magic

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// A Module is one that a cell asks for.
type Module struct {
	Offset int    // of the command in the cell
	Query  string // "path@version", or "path" for the latest version
}

var get = command{
	name: "%get", usage: "%get module@version",
	doc: "makes the packages of a module importable, interpreted from source; without a version the latest",
	// The session has got it before the cell was checked.
	prepare: func(text string) (action, error) {
		if text == "" || strings.ContainsAny(text, " \t") {
			return nil, errors.New("%get needs one module: %get github.com/dustin/go-humanize@v1.0.1")
		}
		return func(_ context.Context, r *Run, _ []any) error {
			path, _, _ := strings.Cut(text, "@")
			_, err := fmt.Fprintln(r.session.Stdout(), r.session.Module(path))
			return err
		}, nil
	},
}
