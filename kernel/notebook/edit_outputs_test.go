package notebook

import (
	"strings"
	"testing"
)

func TestEditOutputs(t *testing.T) {
	t.Parallel()
	text := func(s string) []Output { return []Output{{"output_type": "stream", "name": "stdout", "text": s}} }
	both := append(text("a\n"), Output{"output_type": "execute_result", "execution_count": 9, "metadata": map[string]any{}, "data": map[string]any{"text/plain": "<é>"}})
	for _, row := range []struct {
		name, in string
		outputs  []Output
		want     string
	}{
		{"indented", "{\n  \"cells\": [\n    {\n      \"id\": \"x\",\n      \"outputs\": [],\n      \"execution_count\": 2}\n  ], \"nbformat\": 4}\n", both,
			"{\n  \"cells\": [\n    {\n      \"id\": \"x\",\n      \"outputs\": [\n        {\n          \"name\": \"stdout\",\n          \"output_type\": \"stream\",\n          \"text\": [\n            \"a\\n\"\n          ]\n        },\n" +
				"        {\n          \"data\": {\n            \"text/plain\": [\n              \"<é>\"\n            ]\n          },\n          \"execution_count\": 2,\n          \"metadata\": {},\n          \"output_type\": \"execute_result\"\n        }\n      ],\n      \"execution_count\": 2}\n  ], \"nbformat\": 4}\n"},
		{"one line", `{"cells":[{"outputs": []}],"nbformat":4}`, text("a"), `{"cells":[{"outputs": [{"name":"stdout","output_type":"stream","text":["a"]}]}],"nbformat":4}`},
		{"not an output", `{"cells":[{"outputs": [ {"text" : "a\n",  "name":"stdout","output_type":"stream"}, 3]}],"nbformat":4}`, nil, ""},
		{"equal first output", `{"cells":[{"outputs":[{"text" : "a\n",  "name":"stdout","output_type":"stream"}]}],"nbformat":4}`, both,
			`{"cells":[{"outputs":[{"text" : "a\n",  "name":"stdout","output_type":"stream"}, {"data":{"text/plain":["<é>"]},"execution_count":null,"metadata":{},"output_type":"execute_result"}]}],"nbformat":4}`},
		{"escapes", `{"cells":[{"source":"\u00e9","outputs":[]}],"nbformat":4}`, text("é😀"),
			`{"cells":[{"source":"\u00e9","outputs":[{"name":"stdout","output_type":"stream","text":["\u00e9\ud83d\ude00"]}]}],"nbformat":4}`},
		{"removed", "{\"cells\":[{\n   \"outputs\": [\n    {\"text\": \"a\"}\n   ]}],\"nbformat\":4}", []Output{}, "{\"cells\":[{\n   \"outputs\": []}],\"nbformat\":4}"},
		{"none", `{"cells":[{}],"nbformat":4}`, text("a"), ""},
	} {
		got, err := EditOutputs([]byte(row.in), map[int][]Output{0: row.outputs})
		if string(got) != row.want || (err != nil) != (row.want == "") {
			t.Errorf("%s: %v\n got %s\nwant %s", row.name, err, got, row.want)
			continue
		}
		if err != nil {
			continue
		}
		if n, err := Parse(got); err != nil || !Equal(n.Cells[0].Outputs, row.outputs) {
			t.Errorf("%s: %+v, %v", row.name, n, err)
		}
	}
}

func TestLine(t *testing.T) {
	t.Parallel()
	const in = "{\"cells\": [\n{\"source\": [\n\"a\\n\",\n\"b\"]},\n{\"source\": \"a\\nb\"},\n{}], \"nbformat\": 4}"
	for _, row := range []struct{ cell, line, want int }{{0, 1, 3}, {0, 2, 4}, {0, 9, 4}, {0, 0, 3}, {1, 2, 5}, {2, 1, 0}, {3, 1, 0}} {
		if got := Line([]byte(in), row.cell, row.line); got != row.want {
			t.Errorf("line %d of cell %d is in line %d, want %d", row.line, row.cell, got, row.want)
		}
	}
}

// A notebook that is edited has the new outputs, and nothing else changes.
func FuzzEditOutputs(f *testing.F) {
	f.Add([]byte(small), "x\ny")
	f.Add([]byte(`{"nbformat": 4, "cells": [{"cell_type": "code", "source": [], "outputs": [{"output_type": "stream", "name": "stdout", "text": ["x"]}]}]}`), "é")
	f.Fuzz(func(t *testing.T, text []byte, output string) {
		n, err := Parse(text)
		if err != nil || len(n.Cells) == 0 {
			return
		}
		output = strings.ToValidUTF8(output, "\ufffd")
		list := []Output{{"output_type": "stream", "name": "stdout", "text": output}}
		edited, err := EditOutputs(text, map[int][]Output{0: list})
		if err != nil {
			return // the cell has no outputs
		}
		again, err := Parse(edited)
		if err != nil {
			t.Fatalf("%s: %v", edited, err)
		}
		if !Equal(again.Cells[0].Outputs, list) {
			t.Errorf("%s: outputs %v, want %q", edited, again.Cells[0].Outputs, output)
		}
		for i, c := range n.Cells {
			if c.Source != again.Cells[i].Source || i > 0 && !Equal(c.Outputs, again.Cells[i].Outputs) {
				t.Errorf("%s becomes %s", text, edited)
			}
		}
	})
}
