package cells

import (
	"bytes"
	"encoding/json"
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quernlab/quern/widgets/comm"
)

// project is a project of testdata/projects, which docs/site/pages/projects.md shows.
type project struct {
	name  string
	lines int // of code that it may have, half of what a user without the packages needed
	// holds are expressions that are true after the cells, for all seeds that were tried (see seeds).
	holds []string
}

var projects = []project{
	{"fraud", 22, []string{
		`result.Metric("average precision (class 1)") > 0.7`, // 0.025 at random
		`result.Metric("ROC AUC") > 0.97`,
		`result.Metric("ECE") < 0.015`,
		`f1.Value > 0.6`,
		`cost.Value < 20*float64(cost.TruePositives+cost.FalseNegatives)/3`, // to accept all payments costs 20 for each fraud
		`cost.TruePositives+cost.FalseNegatives+cost.FalsePositives+cost.TrueNegatives == test.Len()`,
	}},
	{"embedding", 21, []string{
		`trained.Metric("recall@1") > untrained.Metric("recall@1")+0.05`,
		`trained.Metric("recall@1") > 0.95`,
		`trained.Metric("recall@5") >= trained.Metric("recall@1")`,
		`same > 0.95`,
	}},
	{"forecast", 18, []string{
		`inside > 0.7 && inside < 0.9`,
		`near > 0.7 && near < 0.9`,
		`p[1].Sub(test.Y).Abs().Mean().Item() < 0.85*today.Sub(test.Y).Abs().Mean().Item()`,
	}},
	{"diffusion", 31, []string{
		`guess.ArgMax(1).Eq(wanted).Mean().Item() > 0.8`,
		`drawn.Std(1, 0).Mean().Item() > 0.2`, // not the same image each time
		`func() bool { // the codes of the autoencoder know the digits
			y, err := accel.Predict(ctx, vae, batch.X)
			if err != nil { panic(err) }
			again, err := accel.Predict(ctx, judge, y.Slice(1, 0, 64).Sigmoid().MulScalar(2).AddScalar(-1))
			if err != nil { panic(err) }
			return again.ArgMax(1).Eq(batch.Y).Mean().Item() > 0.6
		}()`,
		`imagined.Sigmoid().Std(1, 0).Mean().Item() > 0.1`,
	}},
	{"active", 17, []string{
		`func() bool {
			at := func(i int) float64 { mean, _ := comparison.Strategies[i].At(200); return mean }
			return at(1) > at(0)+0.01 && at(2) > at(0)+0.01
		}()`,
		`pool.Len() == 54`,
		`func() bool {
			for _, i := range pick {
				if label, ok := pool.Known(i); !ok || label != 7 { return false }
			}
			return len(pick) == 4
		}()`,
	}},
	{"distill", 16, []string{
		`report.Agreement > 0.98`,
		`report.Accuracy[0] > 0.9 && report.Accuracy[1] > 0.9`,
		`report.SizeRatio() > 2.5`,
		`here.Sub(there).Abs().Max().Item() < 0.5`, // one step of the 8-bit integers
		`here.ArgMax(1).Eq(there.ArgMax(1)).Mean().Item() > 0.99`,
	}},
}

// TestProjects runs the cells of each project, whose results hold, and requires that they are short: half of the
// lines, of at most 100 columns, in the layout of gofmt.
func TestProjects(t *testing.T) {
	for _, p := range projects {
		t.Run(p.name, func(t *testing.T) {
			cells := read(t, "testdata/projects/"+p.name+".cells")
			requireShort(t, cells, p.lines)
			runProject(t, p, cells)
		})
	}
	files, err := filepath.Glob("testdata/projects/*")
	if err != nil || len(files) != len(projects) {
		t.Errorf("the files are %v, %v", files, err)
	}
}

// The page of the projects shows the cells that are tested.
func TestPageOfProjects(t *testing.T) {
	sections := strings.Split(read(t, "../../../docs/site/pages/projects.md"), "\n## ")[1:]
	if len(sections) != len(projects) {
		t.Fatalf("the page has %d projects, want %d", len(sections), len(projects))
	}
	for i, p := range projects {
		var cells []string
		for _, m := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(sections[i], -1) {
			cells = append(cells, m[1])
		}
		if got, want := strings.Join(cells, "---\n"), read(t, "testdata/projects/"+p.name+".cells"); got != want {
			t.Errorf("%s: the page has\n%s\nwant\n%s", p.name, got, want)
		}
	}
}

// seeds is how many seeds the test tries: 1 in the repository, because each takes a minute. The bounds held for 1 to 6.
const seeds = 1

func runProject(t *testing.T, p project, cells string) {
	for k := range seeds {
		t.Chdir(t.TempDir())
		previous := comm.SetHost(&clicker{button: "7"})
		t.Cleanup(func() { comm.SetHost(previous) })
		n := newNotebook(t)
		for cell := range strings.SplitSeq(seeded(cells, k+1), "---\n") {
			n.want(cell, "")
		}
		for _, expression := range p.holds {
			n.want(expression, "true")
		}
		if t.Failed() {
			t.Fatalf("with seed %d", k+1)
		}
	}
}

// seeded returns cells with another seed.
func seeded(cells string, k int) string {
	return strings.ReplaceAll(cells, "accel.Seed(1)", "accel.Seed("+string(rune('0'+k))+")")
}

// requireShort requires that cells have at most a number of lines of code, each of at most 100 columns with tabs of four.
func requireShort(t *testing.T, cells string, most int) {
	t.Helper()
	lines := 0
	for cell := range strings.SplitSeq(cells, "---\n") {
		formatted, err := format.Source([]byte(cell))
		if err != nil {
			t.Fatal(err)
		}
		if string(formatted) != cell {
			t.Errorf("gofmt writes this cell as\n%s", formatted)
		}
		for line := range strings.Lines(cell) {
			if line = strings.TrimRight(line, "\n"); line == "" {
				continue
			}
			lines++
			if width := len([]rune(strings.ReplaceAll(line, "\t", "    "))); width > 100 {
				t.Errorf("%d columns: %s", width, line)
			}
			if strings.Contains(line, ";") && !strings.Contains(line, "for ") && !strings.Contains(line, "if ") {
				t.Errorf("two statements in a line: %s", line)
			}
		}
	}
	if lines > most {
		t.Errorf("%d lines of code, want at most %d", lines, most)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// clicker is a front end with a person who clicks the same button every third of a second, as soon as there is one.
type clicker struct {
	button string
	once   sync.Once
}

func (c *clicker) Send(m comm.Message) error {
	if m.Kind == comm.KindOpen && bytes.Contains(m.Data, []byte(`"description":"`+c.button+`"`)) {
		c.once.Do(func() {
			go func() {
				for range 20 {
					time.Sleep(time.Second / 3) // more than a double click
					comm.Deliver(comm.Message{Kind: comm.KindMessage, ID: m.ID, Data: json.RawMessage(`{"method":"custom","content":{"event":"click"}}`)})
				}
			}()
		})
	}
	return nil
}

func (*clicker) Guard(f func()) func() { return f }

func (*clicker) Interactive() bool { return true }
