package wire

// Execution states of a kernel.
const (
	Starting = "starting"
	Busy     = "busy"
	Idle     = "idle"
)

// State is the content of status.
type State struct {
	ExecutionState string `json:"execution_state"`
}

// The names of the output streams.
const (
	Stdout = "stdout"
	Stderr = "stderr"
)

// Text is the content of stream.
type Text struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Display is the content of display_data and of update_display_data.
type Display struct {
	Data      map[string]any `json:"data"`
	Metadata  map[string]any `json:"metadata"`
	Transient Transient      `json:"transient"`
}

// Transient is data that front ends do not store in the notebook.
type Transient struct {
	DisplayID string `json:"display_id,omitempty"`
}

// NewDisplay returns the content of display_data and of update_display_data;
// metadata may be nil, id empty.
func NewDisplay(id string, data, metadata map[string]any) Display {
	return Display{Data: orEmpty(data), Metadata: orEmpty(metadata), Transient: Transient{id}}
}

// Clear is the content of clear_output.
type Clear struct {
	Wait bool `json:"wait"`
}

// Welcome is the content of iopub_welcome.
type Welcome struct {
	Subscription string `json:"subscription"`
}
