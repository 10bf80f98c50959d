package kernel

import (
	"context"
	"fmt"
	"regexp"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/wire"
)

// question is a cell that asks what a name means, as in IPython: a name, with
// its package or value, and one question mark, or two for more. It is no Go.
var question = regexp.MustCompile(`^\s*([\pL_][\pL\p{Nd}_]*(?:\.[\pL_][\pL\p{Nd}_]*)*)(\?\??)\s*$`)

// asksForHelp reports whether a cell asks what a name means, and in which
// detail.
func asksForHelp(code string) (name string, detail int, ok bool) {
	m := question.FindStringSubmatch(code)
	if m == nil {
		return "", 0, false
	}
	return m[1], len(m[2]) - 1, true
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
