package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Version is the protocol version of this package.
const Version = "5.5"

// Type is the msg_type of a message.
type Type string

// Requests and their replies.
const (
	KernelInfoRequest     Type = "kernel_info_request"
	KernelInfoReply       Type = "kernel_info_reply"
	ExecuteRequest        Type = "execute_request"
	ExecuteReply          Type = "execute_reply"
	CompleteRequest       Type = "complete_request"
	CompleteReply         Type = "complete_reply"
	InspectRequest        Type = "inspect_request"
	InspectReply          Type = "inspect_reply"
	IsCompleteRequest     Type = "is_complete_request"
	IsCompleteReply       Type = "is_complete_reply"
	HistoryRequest        Type = "history_request"
	HistoryReply          Type = "history_reply"
	CommInfoRequest       Type = "comm_info_request"
	CommInfoReply         Type = "comm_info_reply"
	InterruptRequest      Type = "interrupt_request"
	InterruptReply        Type = "interrupt_reply"
	ShutdownRequest       Type = "shutdown_request"
	ShutdownReply         Type = "shutdown_reply"
	UsageRequest          Type = "usage_request"
	UsageReply            Type = "usage_reply"
	CreateSubshellRequest Type = "create_subshell_request"
	CreateSubshellReply   Type = "create_subshell_reply"
	DeleteSubshellRequest Type = "delete_subshell_request"
	DeleteSubshellReply   Type = "delete_subshell_reply"
	ListSubshellRequest   Type = "list_subshell_request"
	ListSubshellReply     Type = "list_subshell_reply"
	InputRequest          Type = "input_request"
	InputReply            Type = "input_reply"
)

// Messages without a reply.
const (
	Status            Type = "status"
	ExecuteInput      Type = "execute_input"
	ExecuteResult     Type = "execute_result"
	Stream            Type = "stream"
	DisplayData       Type = "display_data"
	UpdateDisplayData Type = "update_display_data"
	ClearOutput       Type = "clear_output"
	Error             Type = "error"
	IOPubWelcome      Type = "iopub_welcome"
	CommOpen          Type = "comm_open"
	CommMsg           Type = "comm_msg"
	CommClose         Type = "comm_close"
)

// Header is the header of a message.
type Header struct {
	ID       string `json:"msg_id"`
	Session  string `json:"session"` // of the sender; each run of a kernel has a new one
	Username string `json:"username"`
	Date     string `json:"date"` // ISO 8601 with a time zone
	Type     Type   `json:"msg_type"`
	Version  string `json:"version"`
	// Subshell is the id of the subshell that a request is for; empty is the main shell.
	Subshell string `json:"subshell_id,omitempty"`
}

// Message is a received message.
type Message struct {
	// Identities are the routing frames. A reply is sent with the same ones.
	Identities [][]byte
	Header     Header
	// RawHeader is the undecoded header. It becomes the parent_header of replies.
	RawHeader json.RawMessage
	// ParentID is the id of the message that this one answers; it may be empty.
	ParentID string
	Metadata json.RawMessage
	Body     json.RawMessage // the content
	Buffers  [][]byte
}

// ContentError reports that the content of a message does not match its type.
type ContentError struct {
	Type Type
	Err  error
}

func (e *ContentError) Error() string {
	return fmt.Sprintf("content of %s: %v", e.Type, e.Err)
}

// Unwrap returns the underlying error.
func (e *ContentError) Unwrap() error { return e.Err }

// Content decodes the content into a struct of this package, which may contain defaults.
// The error is a *ContentError.
func (m *Message) Content(into any) error {
	d := json.NewDecoder(bytes.NewReader(m.Body))
	d.UseNumber()
	err := d.Decode(into)
	if checker, ok := into.(interface{ check() error }); ok && err == nil {
		err = checker.check()
	}
	if err != nil {
		return &ContentError{Type: m.Header.Type, Err: err}
	}
	return nil
}
