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
	buffers [][]byte                   // the state has their indices
}

// parse decodes a message. Where its state has a buffer, it then has the index of the buffer.
func parse(m comm.Message) (in received, err error) {
	if err := json.Unmarshal(m.Data, &in); err != nil {
		return in, err
	}
	if len(in.Paths) != len(m.Buffers) {
		return in, fmt.Errorf("%d paths for %d buffers", len(in.Paths), len(m.Buffers))
	}
	in.buffers = m.Buffers
	if in.State == nil {
		in.State = map[string]json.RawMessage{}
	}
	fields := map[string]any{} // those with buffers
	for i, path := range in.Paths {
		if len(path) == 0 {
			return in, fmt.Errorf("buffer %d has an empty path", i)
		}
		key, _ := path[0].(string)
		field, ok := fields[key]
		if !ok && len(path) > 1 {
			if err := json.Unmarshal(in.State[key], &field); err != nil {
				return in, err
			}
		}
		if fields[key], err = put(field, path[1:], i); err != nil {
			return in, err
		}
	}
	for key, field := range fields {
		if in.State[key], err = json.Marshal(field); err != nil {
			return in, err
		}
	}
	return in, nil
}

// put inserts the index of a buffer into a value at a path of keys and indices.
func put(value any, path []any, buffer int) (any, error) {
	if len(path) == 0 {
		return buffer, nil
	}
	var err error
	switch v := value.(type) {
	case map[string]any:
		if key, ok := path[0].(string); ok {
			v[key], err = put(v[key], path[1:], buffer)
			return v, err
		}
	case []any:
		if i, ok := path[0].(float64); ok && i >= 0 && i < float64(len(v)) {
			v[int(i)], err = put(v[int(i)], path[1:], buffer)
			return v, err
		}
	}
	return nil, fmt.Errorf("the state has no place for a buffer at %v", path)
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
