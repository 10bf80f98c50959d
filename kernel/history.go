package kernel

import (
	"context"

	"github.com/quernlab/quern/kernel/history"
	"github.com/quernlab/quern/kernel/wire"
)

// searchHistory answers history_request with history_reply.
func (k *Kernel) searchHistory(_ context.Context, _ *request, in wire.History) (wire.HistoryEntries, error) {
	var entries []history.Entry
	switch in.Access {
	case wire.HistoryTail:
		entries = k.history.Tail(in.N)
	case wire.HistoryRange:
		entries = k.history.Range(in.Session, in.Start, in.Stop)
	case wire.HistorySearch:
		entries = k.history.Search(in.Pattern, in.N, in.Unique)
	}
	found := make([]wire.HistoryEntry, len(entries))
	for i, e := range entries {
		found[i] = wire.HistoryEntry(e)
	}
	return wire.NewHistory(found, in.Output), nil
}

// remember adds a cell to the history.
func (k *Kernel) remember(line int, input, output string) {
	k.history.Add(line, input, output)
}
