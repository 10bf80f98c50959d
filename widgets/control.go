package widgets

import (
	"encoding/json"
	"maps"

	"github.com/quernlab/quern/widgets/comm"
)

// controlTarget is the comm with which a reloaded page requests all states at once.
const controlTarget = "jupyter.widget.control"

func openControl(c *comm.Comm, _ comm.Message) {
	c.OnMessage(func(m comm.Message) {
		var in struct {
			Method string `json:"method"`
		}
		if json.Unmarshal(m.Data, &in) == nil && in.Method == "request_states" {
			all, paths, buffers := split(states())
			// The page may have gone meanwhile; then the reply is not needed.
			_ = c.Send(map[string]any{"method": "update_states", "states": all, "buffer_paths": paths}, buffers...)
		}
	})
}

// states returns the states of all open models, in the format of saved notebooks.
func states() map[string]any {
	models.Lock()
	defer models.Unlock()
	all := make(map[string]any, len(models.open))
	for id, m := range models.open {
		m.mu.Lock()
		state := maps.Clone(m.state)
		all[id] = map[string]any{
			"model_name": state["_model_name"], "model_module": state["_model_module"],
			"model_module_version": state["_model_module_version"], "state": state,
		}
		m.mu.Unlock()
	}
	return all
}
