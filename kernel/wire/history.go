package wire

import "fmt"

// The ways to ask for history.
const (
	HistoryTail   = "tail"
	HistoryRange  = "range"
	HistorySearch = "search"
)

// History is the content of history_request.
type History struct {
	Output  bool   `json:"output"` // entries with their output
	Raw     bool   `json:"raw"`    // no difference here: cells are kept as they were written
	Access  string `json:"hist_access_type"`
	N       int    `json:"n"`       // tail, search: at most so many; 0 is no limit for a search
	Session int    `json:"session"` // range: a session number, or how many before this one when not above 0
	Start   int    `json:"start"`   // range: first line
	Stop    *int   `json:"stop"`    // range: the line after the last; absent, to the end
	Pattern string `json:"pattern"` // search: a glob with * and ?
	Unique  bool   `json:"unique"`  // search: each input once
}

func (h *History) check() error {
	switch h.Access {
	case HistoryTail, HistoryRange, HistorySearch:
		return nil
	}
	return fmt.Errorf("hist_access_type %q, want %s, %s or %s", h.Access, HistoryTail, HistoryRange, HistorySearch)
}

// HistoryEntries is the content of history_reply.
type HistoryEntries struct {
	Status  string `json:"status"`
	History []any  `json:"history"`
}

// HistoryEntry is a cell that has run.
type HistoryEntry struct {
	Session int // number of the session
	Line    int // execution count
	Input   string
	Output  string // text of the result, empty if it had none
}

// NewHistory returns the content of history_reply.
func NewHistory(entries []HistoryEntry, output bool) HistoryEntries {
	reply := HistoryEntries{Status: statusOK, History: make([]any, len(entries))}
	for i, e := range entries {
		var cell any = e.Input
		if output {
			pair := [2]any{e.Input, nil}
			if e.Output != "" {
				pair[1] = e.Output
			}
			cell = pair
		}
		reply.History[i] = [3]any{e.Session, e.Line, cell}
	}
	return reply
}
