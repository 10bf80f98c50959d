package wire

// Values of status in a reply.
const (
	statusOK      = "ok"
	statusError   = "error"
	statusAborted = "aborted"
)

// Failure is the error of a request or cell. It is the content of an error message on
// iopub and a part of each error reply.
type Failure struct {
	Name      string   `json:"ename"`
	Value     string   `json:"evalue"`
	Traceback []string `json:"traceback"` // the lines to show
}

// NewFailure returns a Failure; traceback may be nil.
func NewFailure(name, value string, traceback []string) Failure {
	if traceback == nil {
		traceback = []string{}
	}
	return Failure{Name: name, Value: value, Traceback: traceback}
}

// ErrorReply is the content of the reply to a request that failed.
type ErrorReply struct {
	Status string `json:"status"`
	Failure
}

// NewErrorReply returns the content of an error reply.
func NewErrorReply(failure Failure) ErrorReply {
	return ErrorReply{Status: statusError, Failure: failure}
}

// EmptyReply is the content of a successful reply without further fields.
type EmptyReply struct {
	Status string `json:"status"`
}

// NewEmptyReply returns an EmptyReply.
func NewEmptyReply() EmptyReply { return EmptyReply{statusOK} }
