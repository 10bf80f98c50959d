package wire

import "unicode/utf8"

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

// Inspect is the content of inspect_request.
type Inspect struct {
	Code   string `json:"code"`
	Cursor *int   `json:"cursor_pos"`   // as in Complete
	Detail int    `json:"detail_level"` // 0 or 1
}

// Offset returns the cursor as a byte offset.
func (i *Inspect) Offset() int { return cursorOffset(i.Code, i.Cursor) }

// Inspection is the content of inspect_reply.
type Inspection struct {
	Status   string         `json:"status"`
	Found    bool           `json:"found"`
	Data     map[string]any `json:"data"`
	Metadata map[string]any `json:"metadata"`
}

// NewInspection returns the content of inspect_reply. If data is empty, nothing was
// found.
func NewInspection(data map[string]any) Inspection {
	return Inspection{Status: statusOK, Found: len(data) > 0, Data: orEmpty(data), Metadata: map[string]any{}}
}

// IsComplete is the content of is_complete_request.
type IsComplete struct {
	Code string `json:"code"`
}

// Completeness is the content of is_complete_reply.
type Completeness struct {
	Status string `json:"status"`           // complete, incomplete, invalid or unknown
	Indent string `json:"indent,omitempty"` // for the next line of an incomplete cell
}

// NewCompleteness returns the content of is_complete_reply. A status that the protocol
// does not define becomes unknown.
func NewCompleteness(status, indent string) Completeness {
	switch status {
	case "incomplete":
		return Completeness{status, indent}
	case "complete", "invalid":
		return Completeness{Status: status}
	}
	return Completeness{Status: "unknown"}
}

// cursorOffset converts a cursor in code points to a byte offset. A cursor that is nil or
// after the end means the end, one before the start means the start.
func cursorOffset(code string, cursor *int) int {
	if cursor == nil {
		return len(code)
	}
	left := *cursor
	for offset := range code {
		if left <= 0 {
			return offset
		}
		left--
	}
	return len(code)
}

// codePoints converts a byte offset to code points.
func codePoints(code string, offset int) int {
	return utf8.RuneCountInString(code[:min(max(offset, 0), len(code))])
}
