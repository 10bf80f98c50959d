package widgets

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/quernlab/quern/widgets/comm"
)

// message is the content of a comm message about a model.
type message struct {
	Method      string          `json:"method,omitempty"`
	State       map[string]any  `json:"state,omitzero"` // may be empty if all fields are buffers
	BufferPaths [][]any         `json:"buffer_paths"`
	Content     json.RawMessage `json:"content,omitempty"`
}

// received is a message of the front end.
type received struct {
	Method  string                     `json:"method"`
	State   map[string]json.RawMessage `json:"state"`
	Paths   [][]any                    `json:"buffer_paths"`
	Content json.RawMessage            `json:"content,omitempty"`
}

// buffer is binary data of a message, with its path of keys and indices in the state.
type buffer struct {
	path    []any
	content []byte
}

// parse decodes a message.
func parse(m comm.Message) (in received, buffers []buffer, err error) {
	if err := json.Unmarshal(m.Data, &in); err != nil {
		return in, nil, err
	}
	if len(in.Paths) != len(m.Buffers) {
		return in, nil, fmt.Errorf("%d paths for %d buffers", len(in.Paths), len(m.Buffers))
	}
	for i, path := range in.Paths {
		buffers = append(buffers, buffer{path, m.Buffers[i]})
	}
	return in, buffers, nil
}

// split returns a state without its values of type []byte, which are sent as buffers, and the path of
// each of them.
func split(state map[string]any) (rest map[string]any, paths [][]any, buffers [][]byte) {
	paths = [][]any{}
	var walk func(value any, path []any) any
	walk = func(value any, path []any) any {
		switch v := value.(type) {
		case []byte:
			paths, buffers = append(paths, path), append(buffers, v)
			return nil
		case interface{ wire() any }:
			return walk(v.wire(), path)
		case map[string]any:
			rest := make(map[string]any, len(v))
			for key, field := range v {
				if field = walk(field, append(path[:len(path):len(path)], key)); field != nil || v[key] == nil {
					rest[key] = field
				}
			}
			return rest
		case []any:
			rest := make([]any, len(v))
			for i, field := range v {
				rest[i] = walk(field, append(path[:len(path):len(path)], i))
			}
			return rest
		}
		return value
	}
	if state == nil {
		return nil, paths, nil
	}
	return walk(state, nil).(map[string]any), paths, buffers
}

// withoutBuffers returns the fields of a state that contain no buffers. The front end that has uploaded
// a file does not need it back.
func withoutBuffers(state map[string]any) map[string]any {
	_, paths, _ := split(state)
	if len(paths) == 0 {
		return state
	}
	rest := maps.Clone(state)
	for _, path := range paths {
		delete(rest, path[0].(string))
	}
	return rest
}

// join joins two updates of a state that wait for a slow callback: it is called with the newest values
// only. Other messages, such as clicks, are all needed.
func join(waiting, next comm.Message) (comm.Message, bool) {
	var old, update received
	if json.Unmarshal(waiting.Data, &old) != nil || json.Unmarshal(next.Data, &update) != nil ||
		old.Method != "update" || update.Method != "update" || len(waiting.Buffers)+len(next.Buffers) > 0 {
		return comm.Message{}, false
	}
	state := map[string]json.RawMessage{}
	maps.Copy(state, old.State)
	maps.Copy(state, update.State)
	data, err := json.Marshal(received{Method: "update", State: state, Paths: [][]any{}})
	next.Data = data
	return next, err == nil
}
