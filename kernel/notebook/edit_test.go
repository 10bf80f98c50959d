package notebook

import (
	"reflect"
	"strings"
	"testing"
)

func TestEdit(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, in, source, want string }{
		{"lines", "{\n \"cells\": [\n  {\n   \"source\": [\n    \"a <\\n\",\n    \"b\\u003c\\n\",\n    \"c\"\n   ],\n   \"id\": \"x\"}\n ], \"nbformat\": 4}\n", "a <é\nb<\nd\t\"",
			"{\n \"cells\": [\n  {\n   \"source\": [\n    \"a <é\\n\",\n    \"b\\u003c\\n\",\n    \"d\\t\\\"\"\n   ],\n   \"id\": \"x\"}\n ], \"nbformat\": 4}\n"},
		{"more lines", `{"cells":[{"source":["a\n","b"]}],"nbformat":4}`, "a\nb\nc", `{"cells":[{"source":["a\n","b\n","c"]}],"nbformat":4}`},
		{"less lines", `{"cells":[{"source":[ "a\n" , "b" ]}],"nbformat":4}`, "b", `{"cells":[{"source":[ "b" ]}],"nbformat":4}`},
		{"one line becomes two", "{\"cells\":[{\"source\":[\n  \"a; b\"\n ]}],\"nbformat\":4}", "a\nb", "{\"cells\":[{\"source\":[\n  \"a\\n\",\n  \"b\"\n ]}],\"nbformat\":4}"},
		{"empty list", `{"cells":[{"source":[]}],"nbformat":4}`, "a\nb", `{"cells":[{"source":["a\n", "b"]}],"nbformat":4}`},
		{"string", `{"nbformat":4, "cells":[{"source":"a\nb", "metadata":{"source":3}}]}  `, "a\n\x01\\", `{"nbformat":4, "cells":[{"source":"a\n\u0001\\", "metadata":{"source":3}}]}  `},
		{"escapes", `{"cells":[{"source":["\u00e9\n","x"]}],"nbformat":4}`, "é\n😀", `{"cells":[{"source":["\u00e9\n","\ud83d\ude00"]}],"nbformat":4}`},
		{"byte order mark", "\ufeff" + `{"cells":[{"source":"a"}],"nbformat":4}`, "b", "\ufeff" + `{"cells":[{"source":"b"}],"nbformat":4}`},
		{"duplicate keys", `{"cells":[{"source":"z"}],"cells":[{"source":"x","source":"y"}],"nbformat":4}`, "b", `{"cells":[{"source":"z"}],"cells":[{"source":"x","source":"b"}],"nbformat":4}`},
	} {
		got, err := Edit([]byte(row.in), map[int]string{0: row.source})
		if err != nil || string(got) != row.want {
			t.Errorf("%s: %v\n got %s\nwant %s", row.name, err, got, row.want)
		}
		if n, err := Parse(got); err != nil || n.Cells[0].Source != row.source {
			t.Errorf("%s: %+v, %v", row.name, n, err)
		}
	}
	if got, err := Edit([]byte(small), nil); err != nil || string(got) != small {
		t.Errorf("without a change: %s, %v", got, err)
	}
	for _, in := range []string{"", "[]", `{"cells":3}`, `{"cells":[3]}`, `{"cells":[{"source":3}]}`, `{"cells":[{}]}`, `{"cells":[null]}`, `{"cells":[{"source":[3]}]}`} {
		if got, err := Edit([]byte(in), map[int]string{0: "x"}); err == nil {
			t.Errorf("%s: got %s", in, got)
		}
	}
}

// An edit changes the sources that it is told to change, and nothing else.
func FuzzEdit(f *testing.F) {
	f.Add([]byte(small), "x\ny")
	f.Add([]byte(`{"nbformat": 4, "cells": [{"cell_type": "code", "source": ["a", "b"], "outputs": [{"text": ["x"]}]}, {"source": ""}]}`), "é")
	f.Fuzz(func(t *testing.T, text []byte, source string) {
		n, err := Parse(text)
		if err != nil || len(n.Cells) == 0 {
			return
		}
		edited, err := Edit(text, map[int]string{0: source})
		if err != nil {
			return // the cell has no source
		}
		again, err := Parse(edited)
		if err != nil {
			t.Fatalf("%s: %v", edited, err)
		}
		if want := strings.ToValidUTF8(source, "\ufffd"); again.Cells[0].Source != want {
			t.Errorf("%s: %q, want %q", edited, again.Cells[0].Source, want)
		}
		for _, c := range []*Cell{n.Cells[0], again.Cells[0]} {
			c.Source = ""
			delete(c.rest, "source")
		}
		delete(n.rest, "cells")
		delete(again.rest, "cells")
		if !reflect.DeepEqual(n, again) {
			t.Errorf("%s becomes %s", text, edited)
		}
	})
}
