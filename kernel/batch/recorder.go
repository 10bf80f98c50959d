package batch

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/notebook"
	"github.com/quernlab/quern/kernel/wire"
)

// recorder is the notebook as its worker sees it: it stores the outputs and writes them to a
// terminal.
type recorder struct {
	notebook *notebook.Notebook
	terminal [2]io.Writer // for stdout and stderr
	input    *input
	color    bool          // the terminal supports colors
	grace    time.Duration // for an interrupted cell to end

	mu       sync.Mutex
	ended    *link.CellError      // why a worker has ended between cells
	cells    map[int]*runningCell // by execution count
	displays map[string][]notebook.Output
	texts    map[string]string // by display id: the text shown on the terminal
	widgets  map[string]*widget
}

// widget is the state of a widget, and its binary fields in the format of saved notebooks.
type widget struct {
	state   map[string]any
	buffers []map[string]any
}

// update changes the state.
func (w *widget) update(state map[string]any, paths [][]any, buffers [][]byte) {
	w.buffers = slices.DeleteFunc(w.buffers, func(b map[string]any) bool {
		_, replaced := state[fmt.Sprint(b["path"].([]any)[0])]
		return replaced
	})
	for i, path := range paths {
		if i >= len(buffers) || len(path) == 0 {
			break
		}
		w.buffers = slices.DeleteFunc(w.buffers, func(b map[string]any) bool { return reflect.DeepEqual(b["path"], path) })
		w.buffers = append(w.buffers, map[string]any{
			"path": path, "encoding": "base64", "data": base64.StdEncoding.EncodeToString(buffers[i]),
		})
	}
	maps.Copy(w.state, state)
}

// runningCell is a cell with the state of its outputs.
type runningCell struct {
	*notebook.Cell
	clear bool // clear the outputs at the next one
}

func newRecorder(n *notebook.Notebook, stdout, stderr io.Writer) *recorder {
	return &recorder{
		notebook: n, terminal: [2]io.Writer{stdout, stderr},
		cells: map[int]*runningCell{}, displays: map[string][]notebook.Output{}, texts: map[string]string{}, widgets: map[string]*widget{},
	}
}

// begin records that a cell begins.
func (r *recorder) begin(count int, c *notebook.Cell) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.Count = count
	r.cells[count] = &runningCell{Cell: c}
}

// end stores the result of a cell.
func (r *recorder) end(count int, result link.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if why := result.Error; why != nil {
		trace := strings.Join(why.Traceback, "\n")
		if !r.color {
			trace = Plain(trace)
		}
		r.print(1, trace+"\n")
		r.add(count, notebook.Output{
			"output_type": "error", "ename": why.Name, "evalue": why.Value, "traceback": append([]string{}, why.Traceback...),
		})
		return
	}
	if len(result.Data) > 0 {
		if s := text(result.Data); s != "" {
			r.print(0, s+"\n")
		}
		r.add(count, notebook.Output{
			"output_type": "execute_result", "execution_count": count, "data": result.Data, "metadata": orEmpty(result.Metadata),
		})
	}
}

// help stores documentation as a display, as JupyterLab shows it.
func (r *recorder) help(count int, found link.Inspection) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := text(found.Data)
	if !r.color {
		s = Plain(s)
	}
	r.print(0, s+"\n")
	r.add(count, notebook.Output{"output_type": "display_data", "data": found.Data, "metadata": orEmpty(nil)})
}

// colors matches ANSI color sequences, which tracebacks may contain.
var colors = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Plain returns a text without the colors of a terminal.
func Plain(text string) string { return colors.ReplaceAllString(text, "") }

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

func text(data map[string]any) string {
	s, _ := data["text/plain"].(string)
	return s
}

// add appends an output to a cell. The lock is held.
func (r *recorder) add(cell int, o notebook.Output) {
	c := r.cells[cell]
	if c == nil {
		return
	}
	if c.clear {
		c.clear, c.Outputs = false, nil
	}
	c.Outputs = append(c.Outputs, o)
}

// print writes to a terminal. Errors are ignored, because the notebook has the output
// too.
func (r *recorder) print(stream int, s string) { _, _ = io.WriteString(r.terminal[stream], s) }

// Stream stores text output of a cell and joins it with adjacent output.
func (r *recorder) Stream(cell int, name string, b []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	stream := 0
	if name == "stderr" {
		stream = 1
	}
	r.print(stream, string(b))
	if c := r.cells[cell]; c != nil && !c.clear && len(c.Outputs) > 0 {
		if last := c.Outputs[len(c.Outputs)-1]; last["output_type"] == "stream" && last["name"] == name {
			last["text"].(*strings.Builder).Write(b)
			return
		}
	}
	whole := &strings.Builder{}
	whole.Write(b)
	r.add(cell, notebook.Output{"output_type": "stream", "name": name, "text": whole})
}

// Display stores, replaces or clears displays of a cell.
func (r *recorder) Display(d link.Display) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch d.Kind {
	case "display":
		o := notebook.Output{"output_type": "display_data", "data": d.Data, "metadata": orEmpty(d.Metadata)}
		if d.ID != "" {
			r.displays[d.ID] = append(r.displays[d.ID], o)
		}
		r.add(d.Cell, o)
	case "update":
		for _, o := range r.displays[d.ID] {
			o["data"], o["metadata"] = d.Data, orEmpty(d.Metadata)
		}
	case "clear":
		if c := r.cells[d.Cell]; c != nil {
			if d.Wait {
				c.clear = true
			} else {
				c.Outputs = nil
			}
		}
		return nil
	default:
		return fmt.Errorf("display of unknown kind %q", d.Kind)
	}
	if s := text(d.Data); s != "" && r.texts[d.ID] != s {
		r.texts[d.ID] = s
		r.print(0, s+"\n")
	}
	return nil
}

// Input returns the next line of the standard input.
func (r *recorder) Input(ctx context.Context, request link.InputRequest) (link.InputReply, error) {
	r.mu.Lock()
	r.print(0, request.Prompt)
	r.mu.Unlock()
	return r.input.line(ctx)
}

// WorkerEnded keeps why a worker has ended between cells. Otherwise the cell that failed with it
// shows the reason.
func (r *recorder) WorkerEnded(why *link.CellError) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended == nil {
		r.ended = why
	}
}

// workerEnded returns, once, why a worker has ended between cells, or nil.
func (r *recorder) workerEnded() *link.CellError {
	r.mu.Lock()
	defer r.mu.Unlock()
	why := r.ended
	r.ended = nil
	return why
}

// Comm stores the states of widgets.
func (r *recorder) Comm(c link.Comm) error {
	var data struct {
		Method string         `json:"method"`
		State  map[string]any `json:"state"`
		Paths  [][]any        `json:"buffer_paths"`
	}
	if c.Kind != link.CommClose {
		if err := json.Unmarshal(c.Data, &data); err != nil {
			return nil // not a widget
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	w, known := r.widgets[c.ID]
	switch {
	case c.Kind == link.CommOpen && c.Target == "jupyter.widget":
		w = &widget{state: map[string]any{}}
		w.update(data.State, data.Paths, c.Buffers)
		r.widgets[c.ID] = w
	case c.Kind == link.CommClose:
		delete(r.widgets, c.ID)
	case known && data.Method == "update":
		w.update(data.State, data.Paths, c.Buffers)
	}
	return nil
}

// finish joins the texts of outputs, sets the language, and stores the states of the
// widgets where pages without a kernel look for them.
func (r *recorder) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.cells {
		for _, o := range c.Outputs {
			if b, ok := o["text"].(*strings.Builder); ok {
				o["text"] = b.String()
			}
		}
	}
	if r.notebook.Metadata == nil {
		r.notebook.Metadata = map[string]any{}
	}
	// nbconvert uses this field to highlight code.
	if _, known := r.notebook.Metadata["language_info"]; !known {
		r.notebook.Metadata["language_info"] = wire.GoLanguage(strings.TrimPrefix(runtime.Version(), "go"))
	}
	delete(r.notebook.Metadata, "widgets") // from an earlier run
	if len(r.widgets) == 0 {
		return
	}
	states := map[string]any{}
	for id, w := range r.widgets {
		saved := map[string]any{
			"model_name": w.state["_model_name"], "model_module": w.state["_model_module"],
			"model_module_version": w.state["_model_module_version"], "state": w.state,
		}
		if len(w.buffers) > 0 {
			saved["buffers"] = w.buffers
		}
		states[id] = saved
	}
	r.notebook.Metadata["widgets"] = map[string]any{
		"application/vnd.jupyter.widget-state+json": map[string]any{"version_major": 2, "version_minor": 0, "state": states},
	}
}
