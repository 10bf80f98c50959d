package widgets

import (
	"encoding/json"

	"github.com/quernlab/quern/widgets/comm"
)

const buttonStyle = "ButtonStyle"

// Button is a button.
type Button struct{ *model }

// NewButton returns a button with a label.
func NewButton(label string, options ...Option) *Button {
	return &Button{newControl("Button", buttonStyle, map[string]any{"button_style": "", "icon": "", "disabled": false},
		append([]Option{Description(label)}, options...))}
}

// OnClick calls f when a user has clicked the button. A second call replaces the first.
func (b *Button) OnClick(f func()) {
	f = comm.Guard(f)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.custom = func(content json.RawMessage) {
		var in struct {
			Event string `json:"event"`
		}
		if json.Unmarshal(content, &in) == nil && in.Event == "click" {
			f()
		}
	}
}

// ToggleButton is a button that stays pressed until it is clicked again.
type ToggleButton struct{ boolValue }

// NewToggleButton returns a button with a label, which is pressed or not.
func NewToggleButton(label string, value bool, options ...Option) *ToggleButton {
	k := kind[bool]{name: "ToggleButton", style: "ToggleButtonStyle", state: map[string]any{"button_style": "", "icon": ""}}
	return &ToggleButton{boolValue{newValued(k, value, append([]Option{Description(label)}, options...))}}
}
