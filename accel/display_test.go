package accel_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/display"
)

// capture collects the displayed output until the test ends.
func capture(t *testing.T) *[]display.Message {
	t.Helper()
	var got []display.Message
	previous := display.SetSink(display.SinkFunc(func(m display.Message) { got = append(got, m) }))
	t.Cleanup(func() { display.SetSink(previous) })
	return &got
}

func TestWhatIsShown(t *testing.T) {
	train, test := digits(t)
	train = train.First(100)
	fit := func(options ...accel.Option) []display.Message {
		shown := capture(t)
		before := goroutines()
		run, err := accel.Fit(t.Context(), mlp(4), train, append(options, accel.Epochs(2), accel.Validate(test))...)
		must(t, run, err)
		waitForGoroutines(t, before)
		return *shown
	}
	if shown := fit(accel.Quiet()); len(shown) != 0 {
		t.Errorf("Quiet shows %v", shown)
	}
	line := fit()
	if n := len(line); n < 2 || line[0].Kind != display.KindDisplay {
		t.Fatalf("progress: %v", line)
	}
	if text := line[len(line)-1].Data["text/plain"].(string); !strings.HasPrefix(text, "2 epochs, 4 steps, validation loss") {
		t.Errorf("the last line is %q", text)
	}
	for name, live := range map[string]accel.Option{
		"default": accel.Live(),
		"all":     accel.Live(accel.Loss, accel.Accuracy, accel.LearningRate, accel.GPUUtil, accel.GPUMem, accel.Power),
		"rate":    accel.Live(accel.LearningRate),
	} {
		t.Run(name, func(t *testing.T) {
			shown := fit(live)
			for i, m := range shown {
				kind := display.KindUpdate
				if i == 0 {
					kind = display.KindDisplay
				}
				if m.Kind != kind || m.ID != shown[0].ID {
					t.Errorf("message %d is %s of %s", i, m.Kind, m.ID)
				}
			}
			last := shown[len(shown)-1].Data
			if last["image/svg+xml"] == nil || last["image/png"] == nil {
				t.Errorf("the last figure has %d formats", len(last))
			}
		})
	}
}

// TestLiveDrawsWhatIsAsked looks for the panels of the last figure.
func TestLiveDrawsWhatIsAsked(t *testing.T) {
	train, _ := digits(t)
	for name, test := range map[string]struct {
		live           accel.Option
		loss, accuracy bool
	}{
		"default":  {accel.Live(), true, true},
		"loss":     {accel.Live(accel.Loss), true, false},
		"accuracy": {accel.Live(accel.Accuracy), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			shown := capture(t)
			if _, err := accel.Fit(t.Context(), mlp(8), train.First(64), accel.Epochs(2), test.live); err != nil {
				t.Fatal(err)
			}
			svg := (*shown)[len(*shown)-1].Data["image/svg+xml"].(string)
			if strings.Contains(svg, ">loss<") != test.loss || strings.Contains(svg, ">accuracy<") != test.accuracy {
				t.Errorf("want loss %v, accuracy %v: %.300s", test.loss, test.accuracy, svg)
			}
		})
	}
}

func TestRunShowsItself(t *testing.T) {
	var none *accel.Run
	for _, r := range []*accel.Run{none, {}} {
		if data, _ := display.Render(r); len(data) != 1 || data["text/plain"] != "no steps" {
			t.Errorf("a run without steps: %v", data)
		}
	}
	train, test := digits(t)
	run, err := accel.Fit(t.Context(), mlp(4), train, accel.Epochs(1), accel.Validate(test), accel.AMP(), accel.Quiet())
	must(t, run, err)
	data, metadata := display.Render(run)
	for _, format := range []string{"image/svg+xml", "image/png"} {
		if data[format] == nil {
			t.Errorf("no %s", format)
		}
	}
	if metadata["image/png"] == nil {
		t.Error("no size of the PNG")
	}
	text := data["text/plain"].(string)
	for _, want := range []string{"1 epoch, 23 steps, validation loss", "accuracy", "examples/s", "waiting for data", "AMP: computed in float32"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text has no %q:\n%s", want, text)
		}
	}
	if want := []string{"Epochs(1)", "Validate(digits, test)", "AMP()", "Quiet()"}; !slices.Equal(run.Options, want) {
		t.Errorf("options %q", run.Options)
	}
}

// TestRunAfterLive requires a table if the figure has already been displayed.
func TestRunAfterLive(t *testing.T) {
	train, test := digits(t)
	capture(t)
	run, err := accel.Fit(t.Context(), mlp(4), train.First(100), accel.Epochs(25), accel.Validate(test), accel.Live())
	must(t, run, err)
	data, metadata := display.Render(run)
	if len(data) != 2 || len(metadata) > 0 {
		t.Errorf("formats %v, metadata %v", data, metadata)
	}
	page := data["text/html"].(string)
	for _, want := range []string{"<th", "validation accuracy", "waiting for data", "25 epochs, 50 steps", "best"} {
		if !strings.Contains(page, want) {
			t.Errorf("the table has no %q:\n%s", want, page)
		}
	}
	if rows := strings.Count(page, "<tr>"); rows < 9 || rows > 12 {
		t.Errorf("%d rows for 25 epochs", rows)
	}
	if text := data["text/plain"].(string); !strings.Contains(text, "seconds") || !strings.HasSuffix(text, run.Summary()) {
		t.Errorf("text\n%s", text)
	}
	if figure := run.Figure().MIMEBundle(); figure["image/png"] == nil {
		t.Error("Figure draws nothing")
	}
}
