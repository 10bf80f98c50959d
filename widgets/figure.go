package widgets

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/widgets/comm"
)

// The view of figures, an ES module with the protocol of anywidget, and its style.
//
//go:embed figure.js
var figureModule string

//go:embed figure.css
var figureStyle string

// The names of anywidget's models. All versions from 0.9, the first with default exports, have the same protocol.
const (
	anyModule  = "anywidget"
	anyVersion = "0.*"
)

// figureImage begins the image of a figure in HTML.
const figureImage = `<img class="quern-figure" `

// viewEnv is an environment variable: with the value view, outputs show the models of figures themselves.
const viewEnv = "QUERN_FIGURES"

// maxFigures limits the figures that stay interactive. A model keeps the values of its figure.
const maxFigures = 64

// Figures is a sink that passes all messages on. Where a person works in a front end with widgets and anywidget, figures
// have a model too, by which the front end shows them interactively, and which it finds again after a reload. The messages
// do not depend on whether it has them, except for an id in the image that the view replaces.
type Figures struct {
	next display.Sink

	mu    sync.Mutex
	open  map[string]*figureModel
	order []string // their ids, oldest first
}

// NewFigures returns a sink in front of another one.
func NewFigures(next display.Sink) *Figures {
	return &Figures{next: next, open: map[string]*figureModel{}}
}

// Display passes a message on.
func (f *Figures) Display(m display.Message) {
	if m.Kind == display.KindDisplay || m.Kind == display.KindUpdate {
		m.Data = f.bundle(m.ID, m.Data, m.Figures, m.Kind == display.KindDisplay)
	}
	f.next.Display(m)
}

// Result returns the bundle of the result of a cell, whose figures get models too.
func (f *Figures) Result(data map[string]any, figures []display.InteractiveFigure) map[string]any {
	if len(figures) == 0 {
		return data
	}
	return f.bundle(uuid.NewString(), data, figures, true)
}

// bundle returns the bundle of an output with the ids of its figures, whose models it opens if the output is new.
func (f *Figures) bundle(output string, data map[string]any, figures []display.InteractiveFigure, isNew bool) map[string]any {
	page, _ := data["text/html"].(string)
	if data["image/svg+xml"] == nil && !strings.Contains(page, figureImage) {
		figures = nil // no image can have an id
	}
	var ids []string
	for i, figure := range figures {
		id := fmt.Sprintf("%s-%d", output, i)
		model := f.model(id, figure, isNew)
		if model == nil {
			id = ""
		} else {
			model.show(figure)
		}
		ids = append(ids, id)
	}
	for i := len(figures); f.close(fmt.Sprintf("%s-%d", output, i)); i++ { // something else is shown instead
	}
	data = marked(data, ids)
	if os.Getenv(viewEnv) == "view" && len(ids) == 1 && ids[0] != "" && data != nil {
		data[viewMIME] = map[string]any{"version_major": 2, "version_minor": 0, "model_id": ids[0]}
	}
	return data
}

// model returns the model with an id; nil if there is none.
func (f *Figures) model(id string, figure display.InteractiveFigure, isNew bool) *figureModel {
	f.mu.Lock()
	defer f.mu.Unlock()
	known := f.open[id]
	if known != nil || !isNew || figure == nil || !comm.Interactive() {
		return known
	}
	known = newFigureModel(id)
	f.open[id], f.order = known, append(f.order, id)
	if len(f.order) > maxFigures {
		f.forget(f.order[0])
	}
	return known
}

// close closes a model and reports whether it was open.
func (f *Figures) close(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, ok := f.open[id]
	if ok {
		f.forget(id)
	}
	return ok
}

// forget closes a model. Pages that show it keep what they have. The lock is held.
func (f *Figures) forget(id string) {
	f.open[id].close()
	delete(f.open, id)
	f.order = slices.DeleteFunc(f.order, func(other string) bool { return other == id })
}

// figureModel is the model of a figure. Its state has only the view; the figure is sent when a page has loaded the view and
// says hello, so front ends without anywidget receive no figures.
type figureModel struct {
	id string

	mu       sync.Mutex
	model    *model                    // the newest
	figure   display.InteractiveFigure // the newest
	listened bool                      // a page has said hello
	failures int                       // how often a page could not use the model
	closed   bool                      // by the program
}

// maxFailures limits how often a model is opened again. A page that was just opened, on a busy machine, closes a model for
// which it has no widget manager yet, and anywidget gives one up whose view takes two seconds to load. Where there is no
// widget manager at all, this goes on.
const maxFailures = 3

func newFigureModel(id string) *figureModel {
	f := &figureModel{id: id}
	f.connect()
	return f
}

// connect opens the model in the front end, unless the program has closed it.
func (f *figureModel) connect() {
	f.mu.Lock()
	defer f.mu.Unlock() // a page may answer before the model is set
	if f.closed {
		return
	}
	m := newModel("Any", anyModule, anyVersion, map[string]any{
		"_esm": figureModule, "_css": figureStyle, "_anywidget_id": "quern.Figure", "_figure_id": f.id,
		"layout": nil, "tabbable": nil, "tooltip": nil, "_dom_classes": []string{},
	})
	m.id, m.custom, f.model = f.id, f.answer, m
	m.open()
	if m.comm != nil {
		m.comm.OnClose(func(comm.Message) {
			m.forget()
			f.failed()
		})
	}
}

// failed opens a model again that a page could not use, the later the more often that has happened.
func (f *figureModel) failed() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failures++
	if f.failures <= maxFailures {
		time.AfterFunc(time.Duration(f.failures)*time.Second, comm.Guard(f.connect))
	}
}

// close removes the model from all pages, which keep what they show.
func (f *figureModel) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	_ = f.model.Close() // a front end that is gone needs no message
}

// show sets the figure, and sends it if a page shows it.
func (f *figureModel) show(figure display.InteractiveFigure) {
	f.mu.Lock()
	f.figure = figure
	m, listened := f.model, f.listened
	f.mu.Unlock()
	if listened {
		sendFigure(m, figure)
	}
}

// sendFigure sends a figure, or null while it has no curves. It is no part of the state that a reloaded page requests for all
// widgets at once.
func sendFigure(m *model, figure display.InteractiveFigure) {
	var view any
	if i := figure.Interactive(); i != nil {
		view = i.View
	}
	m.send(message{Method: "update", State: map[string]any{"figure": view}})
}

// answer handles a message of a page.
func (f *figureModel) answer(content json.RawMessage) {
	var in struct {
		Kind string `json:"kind"`
	}
	if json.Unmarshal(content, &in) != nil {
		return
	}
	f.mu.Lock()
	f.listened = true
	m, figure := f.model, f.figure
	f.mu.Unlock()
	if figure == nil { // the reply follows when it is set
		return
	}
	switch in.Kind {
	case "hello":
		sendFigure(m, figure)
	case "deaf": // anywidget has given the model up, and drops what the kernel sends
		_ = m.Close()
		f.failed()
	case "csv":
		if i := figure.Interactive(); i != nil {
			table, err := json.Marshal(map[string]string{"kind": "csv", "text": i.CSV()})
			if err == nil {
				m.send(message{Method: "custom", Content: table})
			}
		}
	}
}

// marked returns a bundle whose images have ids, by which the view finds them; an image whose id is "" has none.
func marked(data map[string]any, ids []string) map[string]any {
	if !slices.ContainsFunc(ids, func(id string) bool { return id != "" }) {
		return data
	}
	data = maps.Clone(data)
	if svg, ok := data["image/svg+xml"].(string); ok {
		data["image/svg+xml"] = strings.Replace(svg, "<svg ", `<svg id="quern-`+ids[0]+`" `, 1)
	}
	if page, ok := data["text/html"].(string); ok {
		parts := strings.Split(page, figureImage)
		for i, id := range ids {
			if id != "" && i+1 < len(parts) {
				parts[i+1] = `data-quern="` + id + `" ` + parts[i+1]
			}
		}
		data["text/html"] = strings.Join(parts, figureImage)
	}
	return data
}
