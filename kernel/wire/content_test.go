package wire

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// Replies as shown in the documentation of the protocol.
func TestReplies(t *testing.T) {
	t.Parallel()
	failure := NewFailure("panic", "boom", []string{"panic: boom"})
	for _, row := range []struct {
		name string
		in   any
		want string
	}{
		{"execute ok", NewExecuteOK(3, nil), `{"status":"ok","execution_count":3,"payload":[],"user_expressions":{}}`},
		{
			"execute ok with expressions",
			NewExecuteOK(3, map[string]Expression{"a": NewExpression(map[string]any{"text/plain": "1"}, nil), "b": NewFailedExpression(failure)}),
			`{"status":"ok","execution_count":3,"payload":[],"user_expressions":{
				"a":{"status":"ok","data":{"text/plain":"1"},"metadata":{}},
				"b":{"status":"error","ename":"panic","evalue":"boom","traceback":["panic: boom"]}}}`,
		},
		{"execute ok with payloads", NewExecuteOK(3, nil, NewPage(map[string]any{"text/plain": "help"}), NewReplacement("x := 1")),
			`{"status":"ok","execution_count":3,"payload":[{"source":"page","data":{"text/plain":"help"},"start":0},
				{"source":"set_next_input","text":"x := 1","replace":true}],"user_expressions":{}}`},
		{"execute failed", NewExecuteFailed(4, failure), `{"status":"error","execution_count":4,"ename":"panic","evalue":"boom","traceback":["panic: boom"],"payload":[],"user_expressions":{}}`},
		{"execute aborted", NewExecuteAborted(5), `{"status":"aborted","execution_count":5}`},
		{"execute_result", NewResult(3, map[string]any{"text/plain": "2"}, nil), `{"execution_count":3,"data":{"text/plain":"2"},"metadata":{}}`},
		{"display_data", NewDisplay("", map[string]any{"text/plain": "2"}, nil), `{"data":{"text/plain":"2"},"metadata":{},"transient":{}}`},
		{"update_display_data", NewDisplay("d", nil, map[string]any{"m": 1}), `{"data":{},"metadata":{"m":1},"transient":{"display_id":"d"}}`},
		{"clear_output", Clear{true}, `{"wait":true}`},
		{"stream", Text{Stderr, "x"}, `{"name":"stderr","text":"x"}`},
		{"status", State{Busy}, `{"execution_state":"busy"}`},
		{"error", failure, `{"ename":"panic","evalue":"boom","traceback":["panic: boom"]}`},
		{"error without traceback", NewFailure("a", "b", nil), `{"ename":"a","evalue":"b","traceback":[]}`},
		{"any reply that reports an error", NewErrorReply(failure), `{"status":"error","ename":"panic","evalue":"boom","traceback":["panic: boom"]}`},
		{"complete", NewCompletions("π.fm", 3, 5, []Match{{Text: "fmt", Type: "module"}}), `{"status":"ok","matches":["fmt"],"cursor_start":2,"cursor_end":4,
			"metadata":{"_jupyter_types_experimental":[{"text":"fmt","type":"module","start":2,"end":4}]}}`},
		{"complete without matches", NewCompletions("x", 0, 1, nil), `{"status":"ok","matches":[],"cursor_start":0,"cursor_end":1,"metadata":{}}`},
		{"inspect", NewInspection(map[string]any{"text/plain": "doc"}), `{"status":"ok","found":true,"data":{"text/plain":"doc"},"metadata":{}}`},
		{"inspect nothing", NewInspection(nil), `{"status":"ok","found":false,"data":{},"metadata":{}}`},
		{"is_complete", NewCompleteness("incomplete", "\t"), `{"status":"incomplete","indent":"\t"}`},
		{"is_complete, complete", NewCompleteness("complete", "\t"), `{"status":"complete"}`},
		{"is_complete, not known", NewCompleteness("?", ""), `{"status":"unknown"}`},
		{"history", NewHistory([]HistoryEntry{{1, 2, "x", "y"}}, false), `{"status":"ok","history":[[1,2,"x"]]}`},
		{"history with output", NewHistory([]HistoryEntry{{1, 2, "x", "y"}, {1, 3, "z", ""}}, true), `{"status":"ok","history":[[1,2,["x","y"]],[1,3,["z",null]]]}`},
		{"history empty", NewHistory(nil, false), `{"status":"ok","history":[]}`},
		{"comm_info", NewComms(map[string]CommTarget{"1": {"jupyter.widget"}}), `{"status":"ok","comms":{"1":{"target_name":"jupyter.widget"}}}`},
		{"comm_close", NewCommData("1", nil), `{"comm_id":"1","data":{}}`},
		{"interrupt", NewEmptyReply(), `{"status":"ok"}`},
		{"shutdown", NewShutdownOK(true), `{"status":"ok","restart":true}`},
		{"iopub_welcome", Welcome{"x"}, `{"subscription":"x"}`},
		{"input_request", Prompt{"? ", true}, `{"prompt":"? ","password":true}`},
		{
			"kernel_info", NewKernelInfo(KernelInfo{Implementation: "quern", LanguageInfo: LanguageInfo{Name: "go", FileExtension: ".go"}}),
			`{"status":"ok","protocol_version":"5.5","implementation":"quern","implementation_version":"","language_info":{"name":"go","version":"","mimetype":"",
				"file_extension":".go","pygments_lexer":"","codemirror_mode":"","nbconvert_exporter":""},"banner":"","debugger":false,"help_links":[],"supported_features":[]}`,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			text, err := json.Marshal(row.in)
			if err != nil {
				t.Fatal(err)
			}
			var got, want any
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(row.want), &want); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %s\nwant %s", text, row.want)
			}
		})
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	at := func(n int) *int { return &n }
	for _, row := range []struct {
		name string
		in   string
		into any
		want any // nil: a ContentError
	}{
		{"execute with defaults", `{"code":"x"}`, &Execute{}, &Execute{Code: "x", StoreHistory: true, AllowStdin: true, StopOnError: true}},
		{
			"execute in full", `{"code":"x","silent":false,"store_history":false,"user_expressions":{"a":"b"},"allow_stdin":false,"stop_on_error":false,"later":1}`,
			&Execute{}, &Execute{Code: "x", UserExpressions: map[string]string{"a": "b"}},
		},
		{"execute silent stores no history", `{"code":"","silent":true,"store_history":true}`, &Execute{}, &Execute{Silent: true, AllowStdin: true, StopOnError: true}},
		{"execute without code", `{"silent":true}`, &Execute{}, nil},
		{"execute with code null", `{"code":null}`, &Execute{}, nil},
		{"execute with a wrong code", `{"code":5}`, &Execute{}, nil},
		{"execute with wrong expressions", `{"code":"x","user_expressions":[]}`, &Execute{}, nil},
		{"complete", `{"code":"x","cursor_pos":1}`, &Complete{}, &Complete{Code: "x", Cursor: at(1)}},
		{"complete with a wrong cursor", `{"code":"x","cursor_pos":"1"}`, &Complete{}, nil},
		{"complete with half a cursor", `{"code":"x","cursor_pos":0.5}`, &Complete{}, nil},
		{"inspect", `{"code":"x","cursor_pos":1,"detail_level":1}`, &Inspect{}, &Inspect{Code: "x", Cursor: at(1), Detail: 1}},
		{"history tail", `{"hist_access_type":"tail","n":3}`, &History{}, &History{Access: "tail", N: 3}},
		{"history range without stop", `{"hist_access_type":"range","session":0,"start":1,"stop":null}`, &History{}, &History{Access: "range", Start: 1}},
		{"history of no kind", `{"hist_access_type":"all"}`, &History{}, nil},
		{"comm_open without an id", `{"target_name":"x"}`, &CommOpened{}, nil},
		{"comm_msg", `{"comm_id":"1","data":{"x": 1}}`, &CommData{}, &CommData{ID: "1", Data: json.RawMessage(`{"x": 1}`)}},
		{"shutdown", `{"restart":true}`, &Shutdown{}, &Shutdown{Restart: true}},
		{"shutdown of a wrong type", `{"restart":"yes"}`, &Shutdown{}, nil},
		{"input_reply", `{"value":"line","status":"ok"}`, &Line{}, &Line{Value: "line"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			m := &Message{Header: Header{Type: "test"}, Body: json.RawMessage(row.in)}
			err := m.Content(row.into)
			var content *ContentError
			switch {
			case row.want == nil && !errors.As(err, &content):
				t.Errorf("%s: got %v and %+v, want a ContentError", row.in, err, row.into)
			case row.want != nil && err != nil:
				t.Errorf("%s: %v", row.in, err)
			case row.want != nil && !reflect.DeepEqual(row.into, row.want):
				t.Errorf("%s:\ngot  %+v\nwant %+v", row.in, row.into, row.want)
			}
		})
	}
}

func TestCursor(t *testing.T) {
	t.Parallel()
	const code = "é𝛼\n\xffx" // 2, 4, 1, 1 and 1 bytes; the fourth is no character
	for cursor, offset := range []int{0, 2, 6, 7, 8, 9} {
		if got := cursorOffset(code, &cursor); got != offset {
			t.Errorf("cursor %d: offset %d, want %d", cursor, got, offset)
		}
		if got := codePoints(code, offset); got != cursor {
			t.Errorf("offset %d: cursor %d, want %d", offset, got, cursor)
		}
	}
	for cursor, offset := range map[int]int{-1: 0, 6: 9, 1 << 40: 9} {
		if got := cursorOffset(code, &cursor); got != offset {
			t.Errorf("cursor %d: offset %d, want %d", cursor, got, offset)
		}
	}
	if got := cursorOffset(code, nil); got != len(code) {
		t.Errorf("no cursor: offset %d, want the end", got)
	}
	for offset, cursor := range map[int]int{-1: 0, 100: 5} {
		if got := codePoints(code, offset); got != cursor {
			t.Errorf("offset %d: cursor %d, want %d", offset, got, cursor)
		}
	}
}

// TestExecuteMetadata has what front ends send, and what they might.
func TestExecuteMetadata(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]ExecuteMetadata{
		`{"trusted": true, "deletedCells": ["b", "c"], "recordTiming": false, "cellId": "a"}`: {CellID: "a", Deleted: []string{"b", "c"}},
		`{"cellId": "vscode-notebook-cell:/n.ipynb#W0"}`:                                      {CellID: "vscode-notebook-cell:/n.ipynb#W0"},
		`{"cellId": 3, "deletedCells": "a"}`:                                                  {},
		`{"cellId": null, "deletedCells": [1]}`:                                               {},
		`{}`:                                                                                  {}, ``: {}, `[]`: {},
		`{"cellId": "` + strings.Repeat("a", maxID+1) + `"}`: {},
	} {
		if got := NewExecuteMetadata(json.RawMessage(in)); !reflect.DeepEqual(got, want) {
			t.Errorf("%.100s: got %+v, want %+v", in, got, want)
		}
	}
}
