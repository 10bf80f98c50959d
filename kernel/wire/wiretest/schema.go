// Package wiretest checks the content of messages against the documentation of the
// Jupyter protocol, and generates invalid content. It is for tests.
package wiretest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Schema has the fields of each message as documented at
// https://jupyter-client.readthedocs.io/en/stable/messaging.html (5.5). It was written
// from the documentation, not from our structs. A type is string, int, number, bool,
// object, list, strings (a list of them), bundle (MIME types to data), one of several
// texts ("a|b"), or starts with a ? if it may be null. A field whose type ends with a !
// is required.
//
// usage_reply is ipykernel's, from its kernelbase.py.
var Schema = map[string]map[string]string{
	"execute_request": {
		"code": "string!", "silent": "bool", "store_history": "bool", "user_expressions": "object", "allow_stdin": "bool", "stop_on_error": "bool",
	},
	"execute_reply": {
		"status": "ok|error|aborted!", "execution_count": "int!", "payload": "list", "user_expressions": "object",
		"ename": "string", "evalue": "string", "traceback": "strings",
	},
	"inspect_request":     {"code": "string!", "cursor_pos": "int!", "detail_level": "int"},
	"inspect_reply":       failing(map[string]string{"found": "bool!", "data": "bundle!", "metadata": "object!"}),
	"complete_request":    {"code": "string!", "cursor_pos": "int!"},
	"complete_reply":      failing(map[string]string{"matches": "strings!", "cursor_start": "int!", "cursor_end": "int!", "metadata": "object!"}),
	"history_request":     {"output": "bool", "raw": "bool", "hist_access_type": "string!", "session": "int", "start": "int", "stop": "?int", "n": "int", "pattern": "string", "unique": "bool"},
	"history_reply":       failing(map[string]string{"history": "list!"}),
	"is_complete_request": {"code": "string!"},
	"is_complete_reply": {
		"status": "complete|incomplete|invalid|unknown|error!", "indent": "string",
		"ename": "string", "evalue": "string", "traceback": "strings",
	},
	"comm_info_request":   {"target_name": "string"},
	"comm_info_reply":     failing(map[string]string{"comms": "object!"}),
	"kernel_info_request": {},
	"kernel_info_reply": failing(map[string]string{
		"protocol_version": "string!", "implementation": "string!", "implementation_version": "string!", "language_info": "object!",
		"banner": "string!", "debugger": "bool", "help_links": "list", "supported_features": "strings",
	}),
	"shutdown_request":        {"restart": "bool!"},
	"shutdown_reply":          failing(map[string]string{"restart": "bool!"}),
	"interrupt_request":       {},
	"interrupt_reply":         failing(nil),
	"create_subshell_request": {},
	"create_subshell_reply":   failing(map[string]string{"subshell_id": "string!"}),
	"delete_subshell_request": {"subshell_id": "string!"},
	"delete_subshell_reply":   failing(nil),
	"list_subshell_request":   {},
	"list_subshell_reply":     failing(map[string]string{"subshell_id": "strings!"}),
	"usage_request":           {},
	"usage_reply": failing(map[string]string{
		"hostname": "string!", "pid": "int!", "kernel_cpu": "number", "kernel_memory": "int", "host_cpu_percent": "number", "cpu_count": "int!",
		"host_virtual_memory": "object", "gpus": "list",
	}),
	"stream":              {"name": "stdout|stderr!", "text": "string!"},
	"display_data":        {"data": "bundle!", "metadata": "object!", "transient": "object"},
	"update_display_data": {"data": "bundle!", "metadata": "object!", "transient": "object!"},
	"execute_input":       {"code": "string!", "execution_count": "int!"},
	"execute_result":      {"data": "bundle!", "metadata": "object!", "execution_count": "int!"},
	"error":               {"ename": "string!", "evalue": "string!", "traceback": "strings!"},
	"status":              {"execution_state": "busy|idle|starting!"},
	"clear_output":        {"wait": "bool!"},
	"comm_open":           {"comm_id": "string!", "target_name": "string!", "target_module": "string", "data": "object!"},
	"comm_msg":            {"comm_id": "string!", "data": "object!"},
	"comm_close":          {"comm_id": "string!", "data": "object"},
	"iopub_welcome":       {"subscription": "string!"},
	"input_request":       {"prompt": "string!", "password": "bool!"},
	"input_reply":         {"value": "string!"},
}

// failing adds the fields that every reply may have: an error reply has the fields of an
// error instead of its own.
func failing(fields map[string]string) map[string]string {
	all := map[string]string{"status": "ok|error!", "ename": "string", "evalue": "string", "traceback": "strings"}
	maps.Copy(all, fields)
	return all
}

// Check returns an error if the content of a message is not valid.
func Check(typ string, content []byte) error {
	schema, ok := Schema[typ]
	if !ok {
		return fmt.Errorf("%s is not a message of the protocol", typ)
	}
	var fields map[string]any
	if err := json.Unmarshal(content, &fields); err != nil {
		return fmt.Errorf("%s: %w: %s", typ, err, content)
	}
	for name, value := range fields {
		want, known := schema[name]
		if !known {
			return fmt.Errorf("%s has a field %s that is not documented: %s", typ, name, content)
		}
		if !is(strings.TrimSuffix(want, "!"), value) {
			return fmt.Errorf("%s: %s is %v, want %s", typ, name, value, want)
		}
	}
	failed := fields["status"] == "error"
	for name, want := range schema {
		if _, there := fields[name]; !there && strings.HasSuffix(want, "!") && (!failed || name == "status") {
			return fmt.Errorf("%s has no field %s: %s", typ, name, content)
		}
	}
	if failed {
		for _, name := range []string{"ename", "evalue", "traceback"} {
			if _, there := fields[name]; !there {
				return fmt.Errorf("%s is an error reply without field %s: %s", typ, name, content)
			}
		}
	}
	return nil
}

func is(want string, value any) bool {
	if nullable, ok := strings.CutPrefix(want, "?"); ok {
		return value == nil || is(nullable, value)
	}
	number, isNumber := value.(float64)
	text, isText := value.(string)
	switch want {
	case "string":
		return isText
	case "int":
		return isNumber && number == float64(int64(number))
	case "number":
		return isNumber
	case "bool":
		_, ok := value.(bool)
		return ok
	case "list":
		_, ok := value.([]any)
		return ok
	case "strings":
		list, ok := value.([]any)
		return ok && !slices.ContainsFunc(list, func(e any) bool { return !is("string", e) })
	case "object", "bundle":
		object, ok := value.(map[string]any)
		if want == "bundle" {
			for mime := range object {
				ok = ok && strings.Count(mime, "/") == 1
			}
		}
		return ok
	}
	return isText && slices.Contains(strings.Split(want, "|"), text)
}

// wrong are JSON values of all types.
var wrong = []string{
	`null`, `true`, `0`, `-1`, `1.5`, `1e300`, `99999999999999999999`, `"text"`, `""`, `"\u0000\ud800"`, `[]`, `[[]]`, `["x",1]`, `{}`, `{"x":{"y":[]}}`,
	strings.Repeat("[", 200) + strings.Repeat("]", 200),
}

// Wrong returns invalid contents for a request: each field is missing once and has a
// value of each type, while the other fields are valid.
func Wrong(request string) []string {
	right := map[string]string{}
	for name, typ := range Schema[request] {
		switch strings.TrimLeft(strings.TrimSuffix(typ, "!"), "?") {
		case "string":
			right[name] = `"x"`
		case "int":
			right[name] = `1`
		case "bool":
			right[name] = `false`
		default:
			right[name] = `{}`
		}
	}
	if request == "history_request" {
		right["hist_access_type"] = `"tail"`
	}
	names := slices.Sorted(maps.Keys(right))
	make := func(field, value string) string {
		var parts []string
		for _, name := range names {
			v := right[name]
			if name == field {
				v = value
			}
			if v != "" {
				parts = append(parts, fmt.Sprintf("%q:%s", name, v))
			}
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	contents := []string{make("", ""), `{}`, `{"no_such_field":1}`}
	for _, name := range names {
		contents = append(contents, make(name, ""))
		for _, value := range wrong {
			contents = append(contents, make(name, value))
		}
	}
	return contents
}
