package wire

import "fmt"

// Values of hist_access_type.
const (
	HistoryTail   = "tail"
	HistoryRange  = "range"
	HistorySearch = "search"
)

// History is the content of history_request.
type History struct {
	Output  bool   `json:"output"` // include the output
	Raw     bool   `json:"raw"`    // ignored: only the raw input is stored
	Access  string `json:"hist_access_type"`
	N       int    `json:"n"`       // tail and search: maximum number; for search, 0 means no limit
	Session int    `json:"session"` // range: session number; 0 or less is relative to the current session
	Start   int    `json:"start"`   // range: first line
	Stop    *int   `json:"stop"`    // range: line after the last one; nil means to the end
	Pattern string `json:"pattern"` // search: glob with * and ?
	Unique  bool   `json:"unique"`  // search: omit duplicate inputs
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

// HistoryEntry is a cell in the history.
type HistoryEntry struct {
	Session int // number of the session
	Line    int // execution count
	Input   string
	Output  string // text of the result; empty if there was none
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
