package wire

// Shutdown is the content of shutdown_request.
type Shutdown struct {
	Restart bool `json:"restart"`
}

// ShutdownOK is the content of shutdown_reply.
type ShutdownOK struct {
	Status  string `json:"status"`
	Restart bool   `json:"restart"`
}

// NewShutdownOK returns the content of shutdown_reply.
func NewShutdownOK(restart bool) ShutdownOK { return ShutdownOK{statusOK, restart} }
