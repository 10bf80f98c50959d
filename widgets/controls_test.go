package widgets_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"image/color"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quernlab/quern/widgets"
	"github.com/quernlab/quern/widgets/comm"
)

// changing calls a function with a text for each value that a user sets.
func changing[T any](w interface{ OnChange(func(T)) }, heard *[]string) {
	w.OnChange(func(v T) { *heard = append(*heard, fmt.Sprint(v)) })
}

var entries = []string{"a", "b", "c"}

// TestControls uses each control: its first state, a change by the program, changes by a user, and
// messages that it must drop.
func TestControls(t *testing.T) {
	day := time.Date(2026, 2, 28, 23, 30, 0, 0, time.UTC)
	clock := time.Date(0, 1, 1, 9, 5, 7, 250e6, time.UTC)
	var heard []string
	for _, tt := range []struct {
		make    func() (widgets.Widget, func()) // the control, and a change by the program
		key     string                          // of the state
		first   string                          // its value in JSON
		set     string                          // after the change
		changes map[string]string               // by a user, and the call of OnChange
		dropped []string                        // messages without effect
		text    string                          // at last
	}{
		{make: func() (widgets.Widget, func()) {
			w := widgets.NewTextarea("x", widgets.Placeholder("…"))
			changing[string](w, &heard)
			return w, func() { w.SetValue("a\nb") }
		}, first: `"x"`, set: `"a\nb"`,
			changes: map[string]string{`"c"`: "c"},
			dropped: []string{`null`, `1`},
			text:    `Textarea(value="c")`},
		{make: func() (widgets.Widget, func()) {
			w := widgets.NewPassword(widgets.Description("key"))
			changing[string](w, &heard)
			return w, func() { w.SetValue("") }
		}, first: `""`, set: `""`,
			changes: map[string]string{`"secret"`: "secret"},
			dropped: []string{`[]`},
			text:    `Password(description="key")`},
		{make: func() (widgets.Widget, func()) {
			w := widgets.NewCombobox(entries, "a")
			changing[string](w, &heard)
			return w, func() { w.SetValue("z") }
		}, first: `"a"`, set: `"z"`,
			changes: map[string]string{`"other"`: "other"},
			dropped: []string{`null`},
			text:    `Combobox(value="other")`},
		{make: func() (widgets.Widget, func()) {
			w := widgets.NewIntText(3)
			changing[int](w, &heard)
			return w, func() { w.SetValue(math.MaxInt) }
		}, first: `3`, set: `9007199254740992`,
			changes: map[string]string{`-1e300`: "-9007199254740992"},
			dropped: []string{`"1"`, `null`},
			text:    `IntText(value=-9007199254740992)`},
		{make: func() (widgets.Widget, func()) {
			w := widgets.NewBoundedIntText(10, 0, 30)
			changing[int](w, &heard)
			return w, func() { w.SetValue(-1) }
		}, first: `10`, set: `0`,
			changes: map[string]string{`11`: "10"},
			dropped: []string{`true`},
			text:    `BoundedIntText(value=10, min=0, max=10)`},
		{make: func() (widgets.Widget, func()) {
			w := widgets.NewFloatText(math.NaN())
			changing[float64](w, &heard)
			return w, func() { w.SetValue(math.Inf(1)); w.SetValue(math.NaN()) }
		}, first: `0`, set: `1.7976931348623157e308`,
			changes: map[string]string{`0.1`: "0.1"},
			dropped: []string{`1e999`, `"0.1"`},
			text:    `FloatText(value=0.1)`},
		{make: func() (widgets.Widget, func()) {
			w := widgets.NewBoundedFloatText(0, 1, math.NaN())
			changing[float64](w, &heard)
			return w, func() { w.SetValue(3) }
		}, first: `0`, set: `1`,
			changes: map[string]string{`-1`: "0"},
			dropped: []string{`{}`},
			text:    `BoundedFloatText(value=0, min=0, max=1)`},
		{make: func() (widgets.Widget, func()) {
			w := widgets.NewIntRangeSlider(0, 10, [2]int{8, 2})
			changing[[2]int](w, &heard)
			return w, func() { w.SetValue([2]int{-5, 50}) }
		}, first: `[2,8]`, set: `[0,10]`,
			changes: map[string]string{`[3.0,99]`: "[3 10]"},
			dropped: []string{`[1]`, `[1,2,3]`, `3`, `null`},
			text:    `IntRangeSlider(value=[3 10], min=0, max=10)`},
		{make: func() (widgets.Widget, func()) {
			w := widgets.NewFloatRangeSlider(0, 1, [2]float64{math.NaN(), math.NaN()})
			changing[[2]float64](w, &heard)
			return w, func() { w.SetValue([2]float64{0.5, 0.25}); w.SetValue([2]float64{math.NaN(), 1}) }
		}, first: `[0,1]`, set: `[0.25,0.5]`,
			changes: map[string]string{`[0.1,0.7400000000000002]`: "[0.1 0.74]"},
			dropped: []string{`[null]`, `["a","b"]`},
			text:    `FloatRangeSlider(value=[0.1 0.74], min=0, max=1)`},
		{make: func() (widgets.Widget, func()) {
			w := widgets.NewFloatLogSlider(-5, 0, 10)
			changing[float64](w, &heard)
			return w, func() { w.SetValue(0.001) }
		}, first: `1`, set: `0.001`,
			changes: map[string]string{`0.00999999999999999`: "0.01"},
			dropped: []string{`null`},
			text:    `FloatLogSlider(value=0.01, min=-5, max=0)`},
		{make: func() (widgets.Widget, func()) {
			w := widgets.NewSelectionSlider(entries)
			changing[string](w, &heard)
			return w, func() { w.SetValue("c"); w.SetValue("none") }
		}, key: "index", first: `0`, set: `2`,
			changes: map[string]string{`1`: "b"},
			dropped: []string{`3`, `-1`, `1.5`, `"b"`},
			text:    `SelectionSlider("b" of ["a" "b" "c"])`},
		{make: func() (widgets.Widget, func()) {
			w := widgets.NewSelectionRangeSlider(entries)
			changing[[2]string](w, &heard)
			return w, func() { w.SetValue([2]string{"c", "b"}); w.SetValue([2]string{"a", "none"}) }
		}, key: "index", first: `[0,0]`, set: `[1,2]`,
			changes: map[string]string{`[0,2]`: "[a c]"},
			dropped: []string{`[2,1]`, `[0,3]`, `[-1,0]`, `1`},
			text:    `SelectionRangeSlider(["a" "c"] of ["a" "b" "c"])`},
		{make: func() (widgets.Widget, func()) {
			w := widgets.NewRadioButtons(entries)
			changing[string](w, &heard)
			return w, func() { w.SetValue("b") }
		}, key: "index", first: `0`, set: `1`,
			changes: map[string]string{`2`: "c"},
			dropped: []string{`9`},
			text:    `RadioButtons("c" of ["a" "b" "c"])`},
		{make: func() (widgets.Widget, func()) {
			w := widgets.NewSelect(nil)
			changing[string](w, &heard)
			return w, func() { w.SetValue("b") }
		}, key: "index", first: `null`, set: `null`, dropped: []string{`0`}, text: `Select("" of [])`},
		{make: func() (widgets.Widget, func()) {
			w := widgets.NewSelectMultiple(entries)
			changing[[]string](w, &heard)
			return w, func() { w.SetValue([]string{"c", "a"}); w.SetValue([]string{"none"}) }
		}, key: "index", first: `[]`, set: `[2,0]`,
			changes: map[string]string{`[1]`: "[b]"},
			dropped: []string{`[3]`, `[0,0]`, `null`, `1`},
			text:    `SelectMultiple(["b"] of ["a" "b" "c"])`},
		{make: func() (widgets.Widget, func()) {
			w := widgets.NewToggleButton("on", false)
			changing[bool](w, &heard)
			return w, func() { w.SetValue(true) }
		}, first: `false`, set: `true`,
			changes: map[string]string{`false`: "false"},
			dropped: []string{`0`},
			text:    `ToggleButton(description="on", value=false)`},
		{make: func() (widgets.Widget, func()) {
			w := widgets.NewToggleButtons(entries)
			changing[string](w, &heard)
			return w, func() { w.SetValue("b") }
		}, key: "index", first: `0`, set: `1`,
			changes: map[string]string{`null`: ""},
			dropped: []string{`7`},
			text:    `ToggleButtons("" of ["a" "b" "c"])`},
		{make: func() (widgets.Widget, func()) {
			w := widgets.NewDatePicker(day)
			changing[time.Time](w, &heard)
			return w, func() { w.SetValue(time.Time{}); w.SetValue(day.AddDate(20_000, 0, 0)) }
		}, first: `{"date":28,"month":1,"year":2026}`, set: `null`,
			changes: map[string]string{`{"date":1,"month":0,"year":1970}`: "1970-01-01 00:00:00 +0000 UTC"},
			dropped: []string{`{"date":30,"month":1,"year":2026}`, `{"date":1,"month":0,"year":0}`, `{"date":1.5,"month":0,"year":1}`, `7`},
			text:    `DatePicker(value=1970-01-01)`},
		{make: func() (widgets.Widget, func()) {
			w := widgets.NewTimePicker(clock, widgets.Description("at"))
			changing[time.Time](w, &heard)
			return w, func() { w.SetValue(time.Time{}) }
		}, first: `{"hours":9,"milliseconds":250,"minutes":5,"seconds":7}`, set: `null`,
			changes: map[string]string{`{"hours":0,"milliseconds":0,"minutes":0,"seconds":0}`: "0000-01-01 00:00:00 +0000 UTC"},
			dropped: []string{`{"hours":24,"milliseconds":0,"minutes":0,"seconds":0}`, `{"hours":-1}`, `[]`},
			text:    `TimePicker(description="at", value=00:00:00)`},
		{make: func() (widgets.Widget, func()) {
			w := widgets.NewDatetimePicker(day)
			changing[time.Time](w, &heard)
			return w, func() { w.SetValue(day.Add(time.Hour)) }
		}, first: `{"date":28,"hours":23,"milliseconds":0,"minutes":30,"month":1,"seconds":0,"year":2026}`,
			set:     `{"date":1,"hours":0,"milliseconds":0,"minutes":30,"month":2,"seconds":0,"year":2026}`,
			changes: map[string]string{`null`: "0001-01-01 00:00:00 +0000 UTC"},
			dropped: []string{`{"date":1,"month":0,"year":20000}`, `"now"`}, text: `DatetimePicker(value=none)`},
		{make: func() (widgets.Widget, func()) {
			w := widgets.NewColorPicker(color.RGBA{255, 0, 0, 255})
			changing[color.NRGBA](w, &heard)
			return w, func() { w.SetValue(color.NRGBA{0, 128, 255, 64}) }
		}, first: `"#ff0000"`, set: `"#0080ff40"`,
			changes: map[string]string{`"#0fa"`: "{0 255 170 255}", `"Orange"`: "{255 165 0 255}", `"#01020304"`: "{1 2 3 4}"},
			dropped: []string{`"url(x)"`, `"#12"`, `"ff0000"`, `"#ff00zz"`, `"#+1ff00"`, `1`, `null`}},
		{make: func() (widgets.Widget, func()) {
			w := widgets.NewPlay(0, 10, 2, 50*time.Millisecond)
			changing[int](w, &heard)
			return w, func() { w.SetPlaying(true); w.SetValue(4) }
		}, first: `2`, set: `4`,
			changes: map[string]string{`5`: "5"},
			dropped: []string{`"5"`},
			text:    `Play(value=5, min=0, max=10)`},
		{make: func() (widgets.Widget, func()) {
			w := widgets.NewTab([]string{"one"}, widgets.NewLabel("x"), widgets.NewLabel("y"))
			changing[int](w, &heard)
			return w, func() { w.SetSelectedIndex(5) }
		}, key: "selected_index", first: `0`, set: `null`,
			changes: map[string]string{`1`: "1"},
			dropped: []string{`2`, `-1`},
			text:    "one:\nLabel(value=\"x\")\nLabel(value=\"y\")"},
		{make: func() (widgets.Widget, func()) {
			w := widgets.NewAccordion([]string{"one", "two", "three"}, widgets.NewLabel("x"))
			changing[int](w, &heard)
			return w, func() { w.SetSelectedIndex(0) }
		}, key: "selected_index", first: `null`, set: `0`,
			changes: map[string]string{`null`: "-1"},
			dropped: []string{`1`},
			text:    "one:\nLabel(value=\"x\")"},
		{make: func() (widgets.Widget, func()) {
			w := widgets.NewStack(widgets.NewLabel("x"), widgets.NewLabel("y"))
			return w, func() { w.SetSelectedIndex(1) }
		}, key: "selected_index", first: `0`, set: `1`, text: "Label(value=\"x\")\nLabel(value=\"y\")"},
		{make: func() (widgets.Widget, func()) {
			w := widgets.NewHTMLMath("$x^2$")
			return w, func() { w.SetValue("$y$") }
		}, first: `"$x^2$"`, set: `"$y$"`, dropped: []string{`"z"`}, text: `HTMLMath(value="$y$")`},
		{make: func() (widgets.Widget, func()) {
			w := widgets.NewValid(false)
			return w, func() { w.SetValue(true) }
		}, first: `false`, set: `true`, dropped: []string{`false`}, text: `Valid(value=true)`},
		{make: func() (widgets.Widget, func()) {
			w := widgets.NewFloatProgress(0, 1, math.NaN())
			return w, func() { w.SetValue(0.5); w.SetValue(math.NaN()) }
		}, first: `0`, set: `0.5`, dropped: []string{`1`}, text: `FloatProgress(value=0.5, min=0, max=1)`},
		{make: func() (widgets.Widget, func()) {
			w := widgets.NewImage([]byte("<svg/>"))
			return w, func() { w.SetValue([]byte("\xff\xd8\xff rest")) }
		}, first: `"\u003csvg/\u003e"`, set: `"\ufffd\ufffd\ufffd rest"`,
			dropped: []string{`"x"`},
			text:    `Image(8 bytes)`},
	} {
		p := open(t)
		w, change := tt.make()
		name := strings.TrimPrefix(fmt.Sprintf("%T", w), "*widgets.")
		key := tt.key
		if key == "" {
			key = "value"
		}
		state := func() string {
			b, err := json.Marshal(p.states[w.ID()][key])
			if err != nil {
				t.Fatal(err)
			}
			return strings.Replace(string(b), "e+308", "e308", 1)
		}
		if got := state(); got != tt.first {
			t.Errorf("%s: at first %s, want %s", name, got, tt.first)
		}
		if change(); state() != tt.set {
			t.Errorf("%s: the program has set %s, want %s", name, state(), tt.set)
		}
		if len(heard) > 0 {
			t.Errorf("%s: OnChange was called for a change by the program", name)
		}
		for _, value := range tt.dropped {
			before := w.MIMEBundle()["text/plain"]
			if moves(w, key, value); len(heard) > 0 || w.MIMEBundle()["text/plain"] != before {
				t.Errorf("%s accepts %s: %q", name, value, heard)
			}
		}
		for value, want := range tt.changes {
			heard = nil
			if moves(w, key, value); len(heard) != 1 || heard[0] != want {
				t.Errorf("%s: a user has set %s: called with %q, want %s", name, value, heard, want)
			}
		}
		heard = nil
		if got := w.MIMEBundle()["text/plain"]; tt.text != "" && got != tt.text {
			t.Errorf("%s: text %q, want %q", name, got, tt.text)
		}
	}
}

// upload delivers files as a front end does: their contents are buffers.
func upload(w widgets.Widget, files string, contents ...string) {
	var paths, buffers = []string{}, [][]byte{}
	for i, c := range contents {
		paths, buffers = append(paths, fmt.Sprintf(`["value",%d,"content"]`, i)), append(buffers, []byte(c))
	}
	comm.Deliver(comm.Message{Kind: comm.KindMessage, ID: w.ID(), Buffers: buffers, Data: json.RawMessage(
		`{"method":"update","state":{"error":"","value":` + files + `},"buffer_paths":[` + strings.Join(paths, ",") + `]}`)})
}

func TestFileUpload(t *testing.T) {
	p := open(t)
	u := widgets.NewFileUpload(widgets.Accept(".csv"), widgets.Multiple())
	calls := 0
	u.OnChange(func(files []widgets.File) { calls++ })
	upload(u, `[{"name":"a.csv","type":"text/csv","size":3,"last_modified":1000},{"name":"b.csv","type":"","size":0,"last_modified":0}]`, "x,y", "")
	got := u.Value()
	if len(got) != 2 || got[0].Name != "a.csv" || got[0].Type != "text/csv" || string(got[0].Content) != "x,y" || got[0].Modified.Unix() != 1 || u.Err() != nil || calls != 1 {
		t.Fatalf("%v, %v, %d calls", got, u.Err(), calls)
	}
	if len(p.echoes) != 1 || strings.Contains(p.echoes[0], "a.csv") {
		t.Errorf("the files are sent back: %q", p.echoes)
	}
	for _, tt := range []struct {
		files, content, problem string
	}{
		{`[{"name":"../a","size":1}]`, "x", `"../a": the name`},
		{`[{"name":"a","size":2}]`, "x", `1 of 2 bytes`},
		{`[{"name":"a","size":67108865}]`, strings.Repeat("x", 64<<20+1), `more than 64 MiB`},
		{`[{"name":5}]`, "x", `no list of files`},
		{`[` + strings.Repeat(`{"name":"a"},`, 1000) + `{"name":"a"}]`, "", `1001 files`},
	} {
		upload(u, tt.files, tt.content)
		var wrong *widgets.UploadError
		if err := u.Err(); !errors.As(err, &wrong) || !strings.Contains(err.Error(), tt.problem) {
			t.Errorf("%.30s: %v, want %s", tt.files, err, tt.problem)
		}
		if p.states[u.ID()]["error"] != u.Err().Error() || len(p.states[u.ID()]["value"].([]any)) != 2 || len(u.Value()) != 2 {
			t.Errorf("%.30s: the front end has the error %q", tt.files, p.states[u.ID()]["error"])
		}
	}
	for _, message := range []string{ // paths that lead nowhere
		`{"method":"update","buffer_paths":[["value"]]}`,
		`{"method":"update","state":{"value":[]},"buffer_paths":[["value",0,"content"]]}`,
		`{"method":"update","state":{"value":[{}]},"buffer_paths":[["value",-1,"content"]]}`,
		`{"method":"update","state":{"value":[{}]},"buffer_paths":[["value","x"]]}`,
		`{"method":"update","state":{"value":[{}]},"buffer_paths":[[]]}`,
		`{"method":"update","state":{"value":[{}]},"buffer_paths":[[1]]}`,
		`{"method":"update","state":{"value":[{}]},"buffer_paths":[]}`,
	} {
		comm.Deliver(comm.Message{Kind: comm.KindMessage, ID: u.ID(), Data: json.RawMessage(message), Buffers: [][]byte{{1}}})
	}
	if len(u.Value()) != 2 || calls != 1 {
		t.Errorf("%d files, %d calls", len(u.Value()), calls)
	}
	upload(u, `[]`)
	if u.Err() != nil || len(u.Value()) != 0 || calls != 2 {
		t.Errorf("cleared: %v, %v, %d calls", u.Err(), u.Value(), calls)
	}
	one := widgets.NewFileUpload()
	upload(one, `[{"name":"a","size":1},{"name":"b","size":1}]`, "x", "y")
	if one.Err() == nil || len(one.Value()) != 0 {
		t.Errorf("a widget for one file accepts two: %v", one.Value())
	}
}

func TestPlayButtons(t *testing.T) {
	open(t)
	play, calls := widgets.NewPlay(0, 10, 0, time.Second), 0
	play.OnChange(func(int) { calls++ })
	if moves(play, "playing", "true"); !play.Playing() || calls != 0 {
		t.Errorf("playing %v, %d calls", play.Playing(), calls)
	}
}

func TestJSLink(t *testing.T) {
	p := open(t)
	play, slider := widgets.NewPlay(0, 10, 0, time.Second), widgets.NewIntSlider(0, 10, 0)
	l, err := widgets.JSLink(play, slider)
	if err != nil {
		t.Fatal(err)
	}
	state, _ := json.Marshal(p.states[l.ID()])
	if want := fmt.Sprintf(`{"_model_module":"@jupyter-widgets/controls","_model_module_version":"2.0.0","_model_name":"LinkModel","_view_count":null,`+
		`"_view_module":"@jupyter-widgets/controls","_view_module_version":"2.0.0","_view_name":null,"source":["IPY_MODEL_%s","value"],"target":["IPY_MODEL_%s","value"]}`,
		play.ID(), slider.ID()); string(state) != want {
		t.Errorf("state %s\nwant  %s", state, want)
	}
	for _, pair := range [][2]widgets.Widget{{play, widgets.NewFloatSlider(0, 1, 0)}, {widgets.NewDropdown(entries), play}, {play, nil}} {
		var wrong *widgets.LinkError
		if _, err := widgets.JSLink(pair[0], pair[1]); !errors.As(err, &wrong) {
			t.Errorf("%T and %T: %v", pair[0], pair[1], err)
		}
	}
}

func TestSetDisabled(t *testing.T) {
	p := open(t)
	b, h := widgets.NewButton("go"), widgets.NewHTML("x")
	b.SetDisabled(true)
	h.SetDisabled(true)
	if _, has := p.states[h.ID()]["disabled"]; p.states[b.ID()]["disabled"] != true || has {
		t.Errorf("button %v, HTML %v", p.states[b.ID()]["disabled"], has)
	}
	b.SetDisabled(false)
	if p.states[b.ID()]["disabled"] != false {
		t.Error("the button remains inactive")
	}
}

// A callback that is slower than the moves of a slider skips positions, and gets the last one. Each
// click of a button is a call.
func TestSlowCallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open(t)
		slider, button := widgets.NewIntSlider(0, 100, 0), widgets.NewButton("go")
		release := make(chan bool)
		var positions []int
		clicks := 0
		slider.OnChange(func(n int) { positions = append(positions, n); <-release })
		button.OnClick(func() { clicks++; <-release })
		for n := 1; n <= 100; n++ {
			go moves(slider, "value", fmt.Sprint(n))
			synctest.Wait()
		}
		release <- true
		synctest.Wait()
		release <- true
		synctest.Wait()
		if fmt.Sprint(positions) != "[1 100]" {
			t.Errorf("called with %v", positions)
		}
		for range 3 {
			go comm.Deliver(comm.Message{Kind: comm.KindMessage, ID: button.ID(), Data: json.RawMessage(`{"method":"custom","content":{"event":"click"}}`)})
			synctest.Wait()
		}
		for range 3 {
			release <- true
			synctest.Wait()
		}
		if clicks != 3 {
			t.Errorf("%d clicks", clicks)
		}
	})
}

func ExampleNewRadioButtons() {
	kernel := widgets.NewRadioButtons([]string{"linear", "rbf"})
	rate := widgets.NewFloatLogSlider(-4, -1, 0.001, widgets.Description("rate"))
	rate.OnChange(func(rate float64) { fmt.Println("train with", kernel.Value(), rate) })
	kernel.SetValue("rbf")
	fmt.Println(widgets.NewTab([]string{"model"}, widgets.NewVBox(kernel, rate)))
	// Output:
	// model:
	// RadioButtons("rbf" of ["linear" "rbf"])
	// FloatLogSlider(description="rate", value=0.001, min=-4, max=-1)
}
