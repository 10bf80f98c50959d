package notebook

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"
)

// Encode returns the notebook in the form that Jupyter's own library writes: sorted keys,
// indentation by one space, texts as lists of lines.
func (n *Notebook) Encode() ([]byte, error) {
	top := map[string]any{}
	for key, value := range n.rest {
		top[key] = value
	}
	cells := make([]any, len(n.Cells))
	for i, c := range n.Cells {
		cells[i] = c.encode()
	}
	top["cells"], top["metadata"] = cells, orEmpty(n.Metadata)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(top)
	return b.Bytes(), err
}

func (c *Cell) encode() map[string]any {
	fields := map[string]any{}
	for key, value := range c.rest {
		fields[key] = value
	}
	fields["cell_type"], fields["source"], fields["metadata"] = c.Type, lines(c.Source), orEmpty(c.Metadata)
	if c.Type != "code" {
		return fields
	}
	fields["execution_count"] = nil
	if c.Count > 0 {
		fields["execution_count"] = c.Count
	}
	outputs := make([]any, len(c.Outputs))
	for i, o := range c.Outputs {
		outputs[i] = o.encode()
	}
	fields["outputs"] = outputs
	return fields
}

// encode splits the texts of an output into lines.
func (o Output) encode() map[string]any {
	fields := maps.Clone(map[string]any(o))
	if text, ok := fields["text"].(string); ok {
		fields["text"] = lines(text)
	}
	if data, ok := fields["data"].(map[string]any); ok {
		data = maps.Clone(data)
		for mime, value := range data {
			if text, ok := value.(string); ok && !strings.HasPrefix(mime, "image/") || ok && mime == "image/svg+xml" {
				data[mime] = lines(text)
			}
		}
		fields["data"] = data
	}
	return fields
}

func lines(text string) []string {
	all := strings.SplitAfter(text, "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return append([]string{}, all...)
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}
