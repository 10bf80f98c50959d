package widgets_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/plots"
	"github.com/quernlab/quern/widgets"
	"github.com/quernlab/quern/widgets/comm"
)

// shown connects a page and a sink for figures, and returns what reaches the notebook.
func shown(t *testing.T) (p *page, messages *[]display.Message) {
	p, messages = open(t), new([]display.Message)
	previous := display.SetSink(widgets.NewFigures(display.SinkFunc(func(m display.Message) { *messages = append(*messages, m) })))
	t.Cleanup(func() { display.SetSink(previous) })
	return p, messages
}

// says simulates what the view of a figure sends.
func says(id, kind string) {
	comm.Deliver(comm.Message{Kind: comm.KindMessage, ID: id,
		Data: json.RawMessage(fmt.Sprintf(`{"method":"custom","content":{"kind":%q},"buffer_paths":[]}`, kind))})
}

// title returns the text of the figure that a page has received; "" for none.
func title(p *page, id string) string {
	figure, _ := p.states[id]["figure"].(map[string]any)
	text, _ := figure["text"].(string)
	return text
}

func TestFigureModel(t *testing.T) {
	p, messages := shown(t)
	figure := func(title string) *plots.Figure {
		return plots.Line(title, []float64{1, 2}).Subtitle("s").As(plots.SVG)
	}
	h := display.Show(figure("first"))
	id := h.ID() + "-0"
	state := p.states[id]
	for key, want := range map[string]any{
		"_model_module": "anywidget", "_model_name": "AnyModel", "_view_module": "anywidget", "_view_name": "AnyView",
		"_model_module_version": "0.*", "_view_module_version": "0.*", "_figure_id": id, "_anywidget_id": "quern.Figure",
	} {
		if state[key] != want {
			t.Errorf("%s is %v, want %v", key, state[key], want)
		}
	}
	for _, key := range []string{"_esm", "_css"} {
		if text, _ := state[key].(string); len(text) < 100 {
			t.Errorf("%s is %q", key, text)
		}
	}
	h.Update(figure("second"))
	if got := title(p, id); got != "" {
		t.Errorf("a front end that has not loaded the view got %q", got)
	}
	says(id, "hello")
	if got := title(p, id); got != "second: s" {
		t.Errorf("the reply to hello is %q", got)
	}
	h.Update(figure("third"))
	if got := title(p, id); got != "third: s" {
		t.Errorf("after an update the page shows %q", got)
	}
	says(id, "csv")
	if want := `"content":{"kind":"csv","text":"panel,series,x,y\nthird,third,0,1\nthird,third,1,2\n"}`; len(p.custom) != 1 || !strings.Contains(p.custom[0], want) {
		t.Errorf("got %s, want %s", p.custom, want)
	}
	h.Update("a text")
	if p.states[id] != nil {
		t.Error("the model of a figure that is gone is open")
	}
	if n := len(*messages); n != 4 {
		t.Errorf("%d messages reached the notebook", n)
	}
}

// What the notebook keeps is the same without widgets, except for the id of the image.
func TestFiguresInNotebooks(t *testing.T) {
	p, messages := shown(t)
	f := plots.Line("x", []float64{1, 2}).Size(60, 40)
	id := display.Show(f).ID() + "-0"
	got := (*messages)[0].Data
	plain, _ := display.Render(f)
	for mime, id := range map[string]string{"image/svg+xml": ` id="quern-` + id + `"`, "text/html": ` data-quern="` + id + `"`} {
		text := got[mime].(string)
		if strings.Count(text, id) != 1 || strings.Replace(text, id, "", 1) != plain[mime] {
			t.Errorf("%s: %.300s", mime, text)
		}
	}
	if len(got) != len(plain) || got["text/plain"] != plain["text/plain"] || !slices.Equal(got["image/png"].([]byte), plain["image/png"].([]byte)) {
		t.Errorf("the bundle has %v", got)
	}
	t.Setenv("QUERN_FIGURES", "view")
	id = display.Show(f).ID() + "-0"
	if view, _ := (*messages)[1].Data["application/vnd.jupyter.widget-view+json"].(map[string]any); view["model_id"] != id {
		t.Errorf("with QUERN_FIGURES=view the output shows %v", view)
	}
	comm.SetHost(alone{p})
	display.Show(f)
	if data := (*messages)[2].Data; data["image/svg+xml"] != plain["image/svg+xml"] || data["text/html"] != plain["text/html"] {
		t.Error("without a person the bundle differs")
	}
	if n := len(p.states); n != 2 {
		t.Errorf("%d models are open", n)
	}
}

// alone is a front end without a person.
type alone struct{ *page }

func (alone) Interactive() bool { return false }

// The oldest figures are closed, and their updates still reach the notebook.
func TestManyFigures(t *testing.T) {
	p, messages := shown(t)
	first := display.Show(plots.Line("x", nil).As(plots.SVG))
	for range 66 {
		display.Show(plots.Line("x", nil).As(plots.SVG))
	}
	if n := len(p.states); n != 64 || p.states[first.ID()+"-0"] != nil {
		t.Errorf("%d figures are open", n)
	}
	first.Update(plots.Line("y", nil))
	if last := (*messages)[len(*messages)-1]; last.ID != first.ID() || last.Data["text/plain"] != "y: no data" {
		t.Errorf("the last message is %v", last.Data["text/plain"])
	}
}

// The figures of a report have a model each; one that is no figure of package plots has none.
func TestFiguresOfReports(t *testing.T) {
	p := open(t)
	report := new(display.Report).Figure(plots.Line("a", []float64{1, 2})).Figure(other{}).Text("text").Figure(plots.Line("b", []float64{3, 4}))
	data, _ := display.Render(report)
	got := widgets.NewFigures(nil).Result(data, display.Figures(report))
	ids := regexp.MustCompile(`<img class="quern-figure" (?:data-quern="([^"]*)" )?alt="([^"]*)"`).FindAllStringSubmatch(got["text/html"].(string), -1)
	if len(ids) != 3 || ids[0][1] == "" || ids[1][1] != "" || ids[2][1] == "" || len(p.states) != 2 {
		t.Fatalf("%d models, images %q", len(p.states), ids)
	}
	for _, image := range ids {
		if id := image[1]; id != "" {
			if says(id, "hello"); title(p, id) != image[2] {
				t.Errorf("in the place of %q is %q", image[2], title(p, id))
			}
		}
	}
}

// other is a figure that is an image only.
type other struct{ display.MetadataDisplayer }

func (other) HTML() string { return `<img class="quern-figure" alt="other">` }

// A figure without curves, such as a matrix, stays an image.
func TestFigureWithoutCurves(t *testing.T) {
	p, _ := shown(t)
	id := display.Show(plots.Confusion("x", []string{"a", "b"}, [][]int{{1, 0}, {0, 1}}).As(plots.SVG)).ID() + "-0"
	says(id, "hello")
	says(id, "csv")
	if figure, answered := p.states[id]["figure"]; !answered || figure != nil || len(p.custom) > 0 {
		t.Errorf("it is shown as %v", figure)
	}
}

// A model that a page closes, or cannot use, is opened again: after one, two and three seconds, and not when the program has
// closed it.
func TestFigureIsOpenedAgain(t *testing.T) {
	tests := []struct {
		name string
		fail func(p *page, id string)
	}{
		{"the page has no widget manager yet", func(p *page, id string) {
			p.mu.Lock()
			delete(p.states, id)
			p.mu.Unlock()
			comm.Deliver(comm.Message{Kind: comm.KindClose, ID: id})
		}},
		{"anywidget has given the model up", func(_ *page, id string) { says(id, "deaf") }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, _ := shown(t)
				h := display.Show(plots.Line("x", []float64{1, 2}).As(plots.SVG))
				id := h.ID() + "-0"
				for k := range 4 {
					test.fail(p, id)
					time.Sleep(time.Duration(k+1)*time.Second - time.Millisecond)
					synctest.Wait()
					early := p.has(id)
					time.Sleep(2 * time.Millisecond)
					synctest.Wait()
					if open := p.has(id); early || open != (k < 3) {
						t.Errorf("after failure %d the model is open: %v, too early: %v", k+1, open, early)
					}
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		p, _ := shown(t)
		h := display.Show(plots.Line("x", []float64{1, 2}).As(plots.SVG))
		says(h.ID()+"-0", "deaf")
		h.Update("a text")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if p.has(h.ID() + "-0") {
			t.Error("a closed model is opened again")
		}
	})
}
