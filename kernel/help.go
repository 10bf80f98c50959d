package kernel

import (
	"context"
	"fmt"
	"go/token"
	"strings"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/wire"
)

// asksForHelp reports whether a cell asks what a name means, and in which
// detail. As in IPython it is a name, with its package or value, or that of a
// command, and behind or before it one question mark, or two for more; it is no Go.
func asksForHelp(code string) (name string, detail int, ok bool) {
	code = strings.TrimSpace(code)
	name = strings.TrimRight(code, "?")
	if name == code {
		name = strings.TrimLeft(code, "?")
	}
	marks := len(code) - len(name)
	if marks < 1 || marks > 2 {
		return "", 0, false
	}
	plain := strings.TrimPrefix(strings.TrimPrefix(name, "%"), "%")
	for part := range strings.SplitSeq(plain, ".") {
		if !token.IsIdentifier(part) {
			return "", 0, false
		}
	}
	return name, marks - 1, true
}

// help answers a cell that asks what a name means: with a page, or with an
// error if nothing is known.
func (k *Kernel) help(ctx context.Context, r *request, in wire.Execute, count int, name string, detail int) any {
	inspection, err := k.worker.Inspect(ctx, link.Inspect{Code: name, Offset: len(name), Detail: detail})
	switch {
	case err != nil:
		return k.cellFailed(r, in, count, workerError(err))
	case len(inspection.Data) == 0:
		text := fmt.Sprintf("nothing is known of %s", name)
		return k.cellFailed(r, in, count, &link.CellError{Name: "not found", Value: text, Traceback: []string{text}})
	}
	return wire.NewExecuteOK(count, nil, wire.NewPage(inspection.Data))
}
