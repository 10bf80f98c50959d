package ranks

import (
	"errors"
	"strings"
	"testing"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/worker"
)

func TestNames(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		ranks []int
		want  string
	}{
		{[]int{2}, "rank 2"},
		{[]int{0, 1}, "ranks 0 and 1"},
		{[]int{0, 3}, "ranks 0 and 3"},
		{[]int{1, 2, 3}, "ranks 1–3"},
		{[]int{0, 2, 4, 5, 6, 7}, "ranks 0, 2 and 4–7"},
	} {
		if got := names(row.ranks); got != row.want {
			t.Errorf("%v: got %q, want %q", row.ranks, got, row.want)
		}
	}
}

// TestCombine compares the outcome of a cell with the results of three ranks, in order of
// arrival.
func TestCombine(t *testing.T) {
	t.Parallel()
	ok := func(rank int) answer {
		return answer{rank: rank, result: link.Result{Data: map[string]any{"rank": rank}}}
	}
	fails := func(rank int, name, value string) answer {
		return answer{rank: rank, result: link.Result{Error: &link.CellError{Name: name, Value: value, Traceback: []string{name + ": " + value}}}}
	}
	stopped := func(rank int) answer {
		a := fails(rank, nameInterrupted, "by us")
		a.stopped = true
		return a
	}
	stuck := func(rank int) answer {
		a := fails(rank, nameInterrupted, "goes on")
		a.stopped, a.result.Error.Stuck = true, true
		return a
	}
	dies := func(rank int, why string) answer {
		return answer{rank: rank, err: &link.CellError{Name: worker.Died, Value: why}}
	}
	const lost = "\nAll 3 ranks start again, and their variables are lost: run the cells again from the top."
	for _, row := range []struct {
		name        string
		all         []answer
		deaths      []death // that the group knows of
		ename, want string  // the traceback
	}{
		{"all well", []answer{ok(2), ok(0), ok(1)}, nil, "", ""},
		{"all fail", []answer{fails(1, "panic", "x"), fails(0, "panic", "x"), fails(2, "panic", "x")}, nil, "panic", "panic: x"},
		{"one fails", []answer{ok(0), fails(1, "panic", "x"), ok(2)}, nil, "panic",
			"panic: x\nThis happened on rank 1 of 3.\nIt succeeded on ranks 0 and 2: variables may now differ from the other ranks."},
		{"others wait for it", []answer{fails(2, "panic", "x"), stopped(1), stopped(0)}, nil, "panic",
			"panic: x\nThis happened on rank 2 of 3.\nThe cell was then interrupted on ranks 0 and 1."},
		{"one cannot be stopped", []answer{fails(2, "panic", "x"), stopped(1), stuck(0)}, nil, "panic",
			"panic: x\nThis happened on rank 2 of 3.\nThe cell was then interrupted on rank 1.\nThen on rank 0: goes on"},
		{"interrupted by the user, one cannot be stopped", []answer{fails(2, nameInterrupted, "x"), stopped(1), stuck(0)}, nil, nameInterrupted,
			"interrupted: x\nThis happened on ranks 1 and 2 of 3.\nOn rank 0: interrupted: goes on"},
		{"killed, nobody knows why", []answer{ok(0), ok(1), dies(2, killedReason)}, nil, worker.Died, "worker died: rank 2: " + killedReason + lost},
		{"each another way", []answer{fails(2, "error", "x"), fails(0, "panic", "y\nz"), ok(1)}, nil, "error",
			"error: x\nThis happened on rank 2 of 3.\nOn rank 0: panic: y\nIt succeeded on rank 1: variables may now differ from the other ranks."},
		{"interrupted by the user", []answer{fails(0, nameInterrupted, "line 1"), fails(2, nameInterrupted, "line 2"), fails(1, nameInterrupted, "line 1")}, nil,
			nameInterrupted, "interrupted: line 1"},
		{"interrupted by the user, before a rank began", []answer{fails(1, nameInterrupted, link.NotBegun), fails(0, nameInterrupted, "line 1"), fails(2, nameInterrupted, link.NotBegun)}, nil,
			nameInterrupted, "interrupted: line 1"},
		{"interrupted by the user, one by us", []answer{fails(0, nameInterrupted, "x"), fails(2, nameInterrupted, "x"), stopped(1)}, nil, nameInterrupted, "interrupted: x"},
		{"interrupted by the user, one too late", []answer{ok(2), fails(0, nameInterrupted, "x"), fails(1, nameInterrupted, "x")}, nil, nameInterrupted,
			"interrupted: x\nThis happened on ranks 0 and 1 of 3.\nIt succeeded on rank 2: variables may now differ from the other ranks."},
		{"a death", []answer{dies(1, "exit status 3"), dies(0, killedReason), dies(2, killedReason)}, nil, worker.Died, "worker died: rank 1: exit status 3" + lost},
		{"deaths alike", []answer{dies(1, "exit status 3"), dies(0, "exit status 3"), dies(2, "signal")}, nil, worker.Died,
			"worker died: ranks 0 and 1: exit status 3; rank 2: signal" + lost},
		{"a death after its echo", []answer{fails(0, "error", "rank 1 is gone"), dies(1, "exit status 3"), dies(2, killedReason)}, nil, worker.Died,
			"worker died: rank 1: exit status 3" + lost},
		{"a death after its cell", []answer{ok(1), dies(0, killedReason), dies(2, killedReason)}, []death{{1, worker.End{Reason: "panic: late"}}}, worker.Died,
			"worker died: rank 1: panic: late" + lost},
		{"no worker", []answer{{rank: 1, err: errors.New("no processes left")}, stopped(0), stopped(2)}, nil, "worker error",
			"worker error: no processes left\nThis happened on rank 1 of 3.\nThe cell was then interrupted on ranks 0 and 2."},
	} {
		gen := &generation{size: size{ranks: 3}, deaths: row.deaths}
		result := gen.combine(row.all)
		switch why := result.Error; {
		case row.ename == "":
			if why != nil || result.Data["rank"] != 0 {
				t.Errorf("%s: %+v", row.name, result)
			}
		case why == nil:
			t.Errorf("%s: no error", row.name)
		case why.Name != row.ename || strings.Join(why.Traceback, "\n") != row.want:
			t.Errorf("%s:\n got %s %q\nwant %s %q", row.name, why.Name, strings.Join(why.Traceback, "\n"), row.ename, row.want)
		}
	}
}
