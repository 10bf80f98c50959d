package wire

// CreateSubshell is the content of create_subshell_reply (JEP 91).
type CreateSubshell struct {
	Status string `json:"status"`
	ID     string `json:"subshell_id"`
}

// NewCreateSubshell returns the content of create_subshell_reply.
func NewCreateSubshell(id string) CreateSubshell { return CreateSubshell{Status: statusOK, ID: id} }

// DeleteSubshell is the content of delete_subshell_request; its reply is an
// EmptyReply.
type DeleteSubshell struct {
	ID string `json:"subshell_id"`
}

// Subshells is the content of list_subshell_reply.
type Subshells struct {
	Status string   `json:"status"`
	IDs    []string `json:"subshell_id"`
}

// NewSubshells returns the content of list_subshell_reply.
func NewSubshells(ids []string) Subshells {
	return Subshells{Status: statusOK, IDs: append([]string{}, ids...)}
}
