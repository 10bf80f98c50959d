package gpu

import (
	"fmt"
	"testing"
	"time"
)

func TestHistoryData(t *testing.T) {
	start := time.Unix(100, 0)
	h := History{Name: "fake", Samples: []Sample{
		{At: start, Busy: 10, MemUsed: 1, MemTotal: 8, Watts: 100, WattsLimit: 300, Joules: 50},
		{At: start.Add(2 * time.Second), Busy: 90, MemUsed: 2, MemTotal: 8, Watts: 200, WattsLimit: 300, Joules: 350},
	}}
	d := h.Data(start, start.Add(time.Second))
	got := fmt.Sprint(d.Name, d.BusyName, d.Seconds, d.Busy, d.Memory, d.MemoryTotal, d.Watts, d.WattsLimit, d.Joules, d.Epochs)
	want := fmt.Sprint("fake", "GPU busy", []float64{0, 2}, []float64{10, 90}, []float64{1, 2}, 8, []float64{100, 200}, 300, 300, []float64{1})
	if got != want {
		t.Errorf("\n want %s\n got  %s", want, got)
	}
	if text := h.MIMEBundle()["text/plain"]; text != "fake: mean utilisation 10%, peak memory 2.00 bytes, 300 J" {
		t.Errorf("text %q", text)
	}
	if text := (History{Name: "fake"}).MIMEBundle()["text/plain"]; text != "fake: no samples" {
		t.Errorf("text of an empty history %q", text)
	}
}
