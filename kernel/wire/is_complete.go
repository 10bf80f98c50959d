package wire

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
