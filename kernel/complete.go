package kernel

import (
	"context"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/wire"
)

// complete answers complete_request with complete_reply.
func (k *Kernel) complete(ctx context.Context, _ *request, in wire.Complete) (wire.Completions, error) {
	completion, err := link.Ask(ctx, k.worker, link.Complete{Code: in.Code, Offset: in.Offset()})
	if err != nil {
		return wire.Completions{}, err
	}
	matches := make([]wire.Match, len(completion.Matches))
	for i, m := range completion.Matches {
		matches[i] = wire.Match{Text: m.Text, Type: m.Kind, Signature: m.Type}
	}
	return wire.NewCompletions(in.Code, completion.Start, completion.End, matches), nil
}
