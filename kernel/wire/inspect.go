package wire

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
