package widgets

import (
	"encoding/base64"
	"strings"
	"sync"

	"github.com/quernlab/quern/display"
)

// Output is an area of the page for later output. It is an io.Writer for text.
type Output struct {
	*model
	mu    sync.Mutex // guards outputs
	parts []any      // in the format of saved notebooks
	text  []string   // the same as text
}

// maxOutputs limits the number of outputs that an Output keeps; the oldest are removed first.
const maxOutputs = 200

// NewOutput returns an empty area.
func NewOutput() *Output {
	m := newModel("Output", outputModule, outputVersion, map[string]any{"msg_id": "", "outputs": []any{}})
	m.finish("", nil)
	o := &Output{model: m}
	m.text = o.String
	return o
}

// Write appends text, as fmt.Fprint does to any io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	last := len(o.parts) - 1
	if last >= 0 {
		if stream, ok := o.parts[last].(map[string]any); ok && stream["output_type"] == "stream" {
			text := stream["text"].(string) + string(p)
			o.parts[last], o.text[last] = streamOutput(text), text
			o.show()
			return len(p), nil
		}
	}
	o.add(streamOutput(string(p)), string(p))
	return len(p), nil
}

func streamOutput(text string) map[string]any {
	return map[string]any{"output_type": "stream", "name": "stdout", "text": text}
}

// Show appends values with their rich representations.
func (o *Output) Show(values ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, v := range values {
		o.add(displayOutput(v))
	}
}

// Set replaces the content by values.
func (o *Output) Set(values ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.parts, o.text = nil, nil
	for _, v := range values {
		part, text := displayOutput(v)
		o.parts, o.text = append(o.parts, part), append(o.text, text)
	}
	o.show()
}

// Clear removes the content.
func (o *Output) Clear() { o.Set() }

func displayOutput(v any) (part map[string]any, text string) {
	data, metadata := display.Render(v)
	bundle := make(map[string]any, len(data))
	for mime, value := range data {
		if b, ok := value.([]byte); ok {
			value = base64.StdEncoding.EncodeToString(b)
		}
		bundle[mime] = value
	}
	if metadata == nil {
		metadata = map[string]any{}
	}
	text, _ = data["text/plain"].(string)
	return map[string]any{"output_type": "display_data", "data": bundle, "metadata": metadata}, text
}

// add appends an output. The lock is held.
func (o *Output) add(part map[string]any, text string) {
	o.parts, o.text = append(o.parts, part), append(o.text, text)
	if extra := len(o.parts) - maxOutputs; extra > 0 {
		o.parts, o.text = o.parts[extra:], o.text[extra:]
	}
	o.show()
}

func (o *Output) show() { o.set("outputs", append([]any{}, o.parts...)) }

// String returns the text of the content.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.TrimRight(strings.Join(o.text, "\n"), "\n")
}
