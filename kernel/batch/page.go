package batch

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"strings"
	"sync"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/notebook"
	"github.com/quernlab/quern/kernel/wire"
)

// page is the notebook as its worker sees it: it stores the outputs and writes them to a
// terminal.
type page struct {
	notebook *notebook.Notebook
	terminal [2]io.Writer // for stdout and stderr
	input    *input
	colour   bool // the terminal supports colours

	mu       sync.Mutex
	cells    map[int]*runningCell // by execution count
	displays map[string][]notebook.Output
	texts    map[string]string // by display id: the text shown on the terminal
	widgets  map[string]map[string]any
}

// runningCell is a cell with the state of its outputs.
type runningCell struct {
	*notebook.Cell
	clear bool // clear the outputs at the next one
}

func newPage(n *notebook.Notebook, stdout, stderr io.Writer) *page {
	return &page{
		notebook: n, terminal: [2]io.Writer{stdout, stderr},
		cells: map[int]*runningCell{}, displays: map[string][]notebook.Output{}, texts: map[string]string{}, widgets: map[string]map[string]any{},
	}
}

// begin records that a cell begins.
func (p *page) begin(count int, c *notebook.Cell) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.Count = count
	p.cells[count] = &runningCell{Cell: c}
}

// end stores the result of a cell.
func (p *page) end(count int, result link.Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if why := result.Error; why != nil {
		trace := strings.Join(why.Traceback, "\n")
		if !p.colour {
			trace = colours.ReplaceAllString(trace, "")
		}
		p.print(1, trace+"\n")
		p.add(count, notebook.Output{
			"output_type": "error", "ename": why.Name, "evalue": why.Value, "traceback": append([]string{}, why.Traceback...),
		})
		return
	}
	if len(result.Data) > 0 {
		if s := text(result.Data); s != "" {
			p.print(0, s+"\n")
		}
		p.add(count, notebook.Output{
			"output_type": "execute_result", "execution_count": count, "data": result.Data, "metadata": orEmpty(result.Metadata),
		})
	}
}

// help writes documentation to the terminal. A front end shows it in a pane, so it is not
// stored in the notebook.
func (p *page) help(found link.Inspection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := text(found.Data)
	if !p.colour {
		s = colours.ReplaceAllString(s, "")
	}
	p.print(0, s+"\n")
}

// colours matches ANSI colour sequences, which tracebacks may contain.
var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

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
func (p *page) add(cell int, o notebook.Output) {
	c := p.cells[cell]
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
func (p *page) print(stream int, s string) { _, _ = io.WriteString(p.terminal[stream], s) }

// Stream stores text output of a cell and joins it with adjacent output.
func (p *page) Stream(cell int, name string, b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	stream := 0
	if name == "stderr" {
		stream = 1
	}
	p.print(stream, string(b))
	if c := p.cells[cell]; c != nil && !c.clear && len(c.Outputs) > 0 {
		if last := c.Outputs[len(c.Outputs)-1]; last["output_type"] == "stream" && last["name"] == name {
			last["text"].(*strings.Builder).Write(b)
			return
		}
	}
	whole := &strings.Builder{}
	whole.Write(b)
	p.add(cell, notebook.Output{"output_type": "stream", "name": name, "text": whole})
}

// Display stores, replaces or clears displays of a cell.
func (p *page) Display(d link.Display) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch d.Kind {
	case "display":
		o := notebook.Output{"output_type": "display_data", "data": d.Data, "metadata": orEmpty(d.Metadata)}
		if d.ID != "" {
			p.displays[d.ID] = append(p.displays[d.ID], o)
		}
		p.add(d.Cell, o)
	case "update":
		for _, o := range p.displays[d.ID] {
			o["data"], o["metadata"] = d.Data, orEmpty(d.Metadata)
		}
	case "clear":
		if c := p.cells[d.Cell]; c != nil {
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
	if s := text(d.Data); s != "" && p.texts[d.ID] != s {
		p.texts[d.ID] = s
		p.print(0, s+"\n")
	}
	return nil
}

// Input returns the next line of the standard input.
func (p *page) Input(ctx context.Context, request link.InputRequest) (link.InputReply, error) {
	p.mu.Lock()
	p.print(0, request.Prompt)
	p.mu.Unlock()
	return p.input.line(ctx)
}

// WorkerEnded does nothing: the cell that failed with it shows the reason.
func (p *page) WorkerEnded() {}

// Comm stores the states of widgets.
func (p *page) Comm(c link.Comm) error {
	var data struct {
		Method string         `json:"method"`
		State  map[string]any `json:"state"`
	}
	if c.Kind != link.CommClose {
		if err := json.Unmarshal(c.Data, &data); err != nil {
			return nil // not a widget
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	state, known := p.widgets[c.ID]
	switch {
	case c.Kind == link.CommOpen && c.Target == "jupyter.widget":
		p.widgets[c.ID] = orEmpty(data.State)
	case c.Kind == link.CommClose:
		delete(p.widgets, c.ID)
	case known && data.Method == "update":
		for key, value := range data.State {
			state[key] = value
		}
	}
	return nil
}

// finish joins the texts of outputs, sets the language, and stores the states of the
// widgets where pages without a kernel look for them.
func (p *page) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.cells {
		for _, o := range c.Outputs {
			if b, ok := o["text"].(*strings.Builder); ok {
				o["text"] = b.String()
			}
		}
	}
	if p.notebook.Metadata == nil {
		p.notebook.Metadata = map[string]any{}
	}
	// nbconvert uses this field to highlight code.
	if _, known := p.notebook.Metadata["language_info"]; !known {
		p.notebook.Metadata["language_info"] = wire.GoLanguage(strings.TrimPrefix(runtime.Version(), "go"))
	}
	delete(p.notebook.Metadata, "widgets") // from an earlier run
	if len(p.widgets) == 0 {
		return
	}
	states := map[string]any{}
	for id, state := range p.widgets {
		states[id] = map[string]any{
			"model_name": state["_model_name"], "model_module": state["_model_module"],
			"model_module_version": state["_model_module_version"], "state": state,
		}
	}
	p.notebook.Metadata["widgets"] = map[string]any{
		"application/vnd.jupyter.widget-state+json": map[string]any{"version_major": 2, "version_minor": 0, "state": states},
	}
}
