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
