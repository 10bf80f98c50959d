package wire

// Complete is the content of complete_request.
type Complete struct {
	Code string `json:"code"`
	// Cursor is in code points from the start of Code; nil means its end.
	Cursor *int `json:"cursor_pos"`
}

// Offset returns the cursor as a byte offset.
func (c *Complete) Offset() int { return cursorOffset(c.Code, c.Cursor) }

// Completions is the content of complete_reply.
type Completions struct {
	Status  string   `json:"status"`
	Matches []string `json:"matches"`
	// Matches replace the code points from Start to End.
	Start    int            `json:"cursor_start"`
	End      int            `json:"cursor_end"`
	Metadata map[string]any `json:"metadata"`
}

// Match is a completion with its kind, for which front ends show an icon.
type Match struct {
	Text      string `json:"text"`
	Type      string `json:"type"`
	Signature string `json:"signature,omitempty"`
	Start     int    `json:"start"`
	End       int    `json:"end"`
}

// typesKey is the metadata key for the kinds of completions, introduced by IPython and
// read by JupyterLab.
const typesKey = "_jupyter_types_experimental"

// NewCompletions returns the content of complete_reply for matches that replace
// the bytes from start to end of code.
func NewCompletions(code string, start, end int, matches []Match) Completions {
	reply := Completions{
		Status:   statusOK,
		Matches:  make([]string, len(matches)),
		Start:    codePoints(code, start),
		End:      codePoints(code, end),
		Metadata: map[string]any{},
	}
	for i := range matches {
		matches[i].Start, matches[i].End = reply.Start, reply.End
		reply.Matches[i] = matches[i].Text
	}
	if len(matches) > 0 {
		reply.Metadata[typesKey] = matches
	}
	return reply
}
