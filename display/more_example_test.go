package display_test

import (
	"fmt"
	"os"

	"github.com/quernlab/quern/display"
)

// Maps become rows, and their keys columns.
func ExampleTable_maps() {
	fmt.Println(display.Table(map[string]int{"apples": 3, "pears": 12}))
	// Output:
	// key     value
	// apples      3
	// pears      12
}

// Columns may be chosen, in any order.
func ExampleTable_columns() {
	type run struct {
		Name  string
		Loss  float64
		Steps int
	}
	fmt.Println(display.Table([]run{{"a", 0.5, 100}, {"b", 0.25, 200}}, "Steps", "Name"))
	// Output:
	// Steps  Name
	//   100  a
	//   200  b
}

// Other programs than a notebook say where output goes.
func ExampleTerminal() {
	display.SetSink(display.Terminal(os.Stdout))
	defer display.SetSink(nil)
	display.Show("loss", 0.25)
	// Output:
	// loss
	// 0.25
}

func ExampleMarkdown() {
	data, _ := display.Render(display.Markdown("**bold**"))
	fmt.Println(data["text/markdown"])
	// Output: **bold**
}

// sparkline is a figure that a front end with widgets can show interactively.
type sparkline []float64

func (s sparkline) MIMEBundle() map[string]any   { return map[string]any{"text/plain": fmt.Sprint(s)} }
func (s sparkline) MIMEMetadata() map[string]any { return nil }
func (s sparkline) HTML() string                 { return fmt.Sprint(s) }
func (s sparkline) Interactive() *display.Interactive {
	return &display.Interactive{View: s, CSV: func() string { return fmt.Sprint(s) }}
}

// The figures of a report are those that it consists of.
func ExampleFigures() {
	report := new(display.Report).Text("loss").Figure(sparkline{3, 2, 1})
	for _, f := range display.Figures(report) {
		fmt.Println(f.Interactive().View)
	}
	// Output: [3 2 1]
}
