package wire

// The values of status in a reply.
const (
	statusOK      = "ok"
	statusError   = "error"
	statusAborted = "aborted"
)

// Failure is why a request, or a cell, failed. It is the content of an error
// message on iopub, and part of each reply that reports an error.
type Failure struct {
	Name      string   `json:"ename"`
	Value     string   `json:"evalue"`
	Traceback []string `json:"traceback"` // what is shown, a line each
}

// NewFailure returns a failure; traceback may be nil.
func NewFailure(name, value string, traceback []string) Failure {
	if traceback == nil {
		traceback = []string{}
	}
	return Failure{Name: name, Value: value, Traceback: traceback}
}

// ErrorReply is the content of any reply whose request could not be answered.
type ErrorReply struct {
	Status string `json:"status"`
	Failure
}

// NewErrorReply returns the content of a reply that reports an error.
func NewErrorReply(failure Failure) ErrorReply {
	return ErrorReply{Status: statusError, Failure: failure}
}

// EmptyReply is the content of a reply that says no more than that all is well.
type EmptyReply struct {
	Status string `json:"status"`
}

// NewEmptyReply returns the content of a reply that says no more than that all
// is well.
func NewEmptyReply() EmptyReply { return EmptyReply{statusOK} }
