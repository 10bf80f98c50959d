package prof

import (
	"strings"
	"testing"
	"time"
)

func TestRanks(t *testing.T) {
	ms := time.Millisecond
	for _, row := range []struct {
		name      string
		computing []time.Duration
		straggler int
	}{
		{"alone", []time.Duration{5 * ms}, -1},
		{"alike", []time.Duration{5 * ms, 5 * ms, 5 * ms}, -1},
		{"nearly alike", []time.Duration{50 * ms, 60 * ms}, -1},
		{"one is slow", []time.Duration{50 * ms, 61 * ms, 50 * ms}, 1},
	} {
		var p Ranks
		for _, c := range row.computing {
			p = append(p, RankProfile{Host: "node7", Step: 70 * ms, Computing: c, Waiting: 70*ms - c, Busy: 7 * ms, Layers: []LayerCommunication{{"gradients 0", 7 * ms, 4096}}})
		}
		text := p.String()
		if got := p.Straggler(); got != row.straggler || strings.Contains(text, "Rank 1 on node7 is slow") != (row.straggler == 1) || !strings.Contains(text, "10.0 %") || !strings.Contains(text, "gradients 0") {
			t.Errorf("%s: straggler %d\n%s", row.name, got, text)
		}
	}
}

func TestCommunicationByLayer(t *testing.T) {
	r := &Report{Steps: make([]Interval, 2), Host: []HostEvent{
		{Kind: Communicating, Name: "gradients 0", Begin: 0, End: 10, Bytes: 100},
		{Kind: Communicating, Name: "gradients 2", Begin: 10, End: 40, Bytes: 300},
		{Kind: CommunicationWait, Name: "gradients", Begin: 20, End: 40},
		{Kind: CommunicationWait, Name: "statistics", Begin: 50, End: 56, Bytes: 8},
		{Kind: Communicating, Name: "gradients 0", Begin: 60, End: 70, Bytes: 100},
	}}
	want := []LayerCommunication{{"gradients 2", 15, 150}, {"gradients 0", 10, 100}, {"statistics", 3, 4}}
	got := r.CommunicationByLayer()
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got %v, want %v", got[i], want[i])
		}
	}
}
