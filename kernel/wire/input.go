package wire

// Prompt is the content of input_request.
type Prompt struct {
	Prompt   string `json:"prompt"`
	Password bool   `json:"password"`
}

// Line is the content of input_reply.
type Line struct {
	Value string `json:"value"`
}
