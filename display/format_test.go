package display_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/display"
)

type point struct {
	X, Y float64
	name string
}

type config struct {
	Name    string
	Rates   []float64
	Nested  *config
	Labels  map[string]int
	Timeout time.Duration
	hidden  []point
}

func numbers(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

func grid(rows, columns int) [][]float64 {
	m := make([][]float64, rows)
	for i := range m {
		m[i] = make([]float64, columns)
		for j := range m[i] {
			m[i][j] = float64(i) + float64(j)/10
		}
	}
	return m
}

func TestFormat(t *testing.T) {
	many := map[int]string{}
	for i := range 100 {
		many[i] = strings.Repeat("v", 3)
	}
	tests := []struct {
		name string
		in   any
		want string
	}{
		{"nil", nil, "<nil>"},
		{"short slice", []int{2, 4, 6}, "[2 4 6]"},
		{"short struct", point{1, 2, "a"}, "{X:1 Y:2 name:a}"},
		{"pointer", &point{1, 2, "a"}, "&{X:1 Y:2 name:a}"},
		{"error", errors.New("broken"), "broken"},
		{"duration", time.Second, "1s"},
		{"short matrix", [][]float64{{1, 2}, {3, 4}}, "[[1 2] [3 4]]"},
		{"matrix", grid(3, 10), `
[[0  0.1  0.2  0.3  0.4  0.5  0.6  0.7  0.8  0.9]
 [1  1.1  1.2  1.3  1.4  1.5  1.6  1.7  1.8  1.9]
 [2  2.1  2.2  2.3  2.4  2.5  2.6  2.7  2.8  2.9]] (3×10)`},
		{"struct", config{Name: "a", Rates: []float64{1, 2.5}, Labels: map[string]int{"x": 1, "y": 2}, Timeout: time.Minute, hidden: make([]point, 2),
			Nested: &config{Name: "the inner one"}}, `
display_test.config{
  Name:    a
  Rates:   [1 2.5]
  Nested:  &{Name:the inner one Rates:[] Nested:<nil> Labels:map[] Timeout:0s hidden:[]}
  Labels:  map[x:1 y:2]
  Timeout: 1m0s
  hidden:  [{X:0 Y:0 name:} {X:0 Y:0 name:}]
}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := display.Format(tt.in); got != strings.TrimPrefix(tt.want, "\n") {
				t.Errorf("Format(%v)\n want %s\n got  %s", tt.in, tt.want, got)
			}
		})
	}
}

// A large value is shown by its ends and its size, and is not read completely.
func TestFormatIsBounded(t *testing.T) {
	type node struct {
		Name string
		Next *node
		Pad  [40]string
	}
	ring := &node{Name: "ring", Pad: [40]string{"a long text", "another", "and so on and on and on", "so that it fits in no line"}}
	ring.Next = ring
	deep := any("bottom")
	for range 10_000 {
		deep = []any{deep, strings.Repeat("x", 200)}
	}
	large := map[int][]int{}
	for i := range 1000 {
		large[i] = numbers(50)
	}
	points := make([]point, 5000)
	tests := []struct {
		name     string
		in       any
		contains []string
	}{
		{"slice", numbers(1_000_000), []string{"[0 1 2 ", "… 999990", "999999] (1\u00a0000\u00a0000 elements)"}},
		{"matrix", grid(1000, 500), []string{"⋮", "…", "(1000×500)", "1048.9"}},
		{"map", large, []string{"map[int][]int{", "0: [0 1 2", "… 970 entries more", "(1000 entries)"}},
		{"structs", points, []string{"[]display_test.point{", "0: {X:0 Y:0 name:}", "… 4970 elements more", "(5000 elements)"}},
		{"ring", ring, []string{"Next: &"}},
		{"deep", deep, []string{"…"}},
		{"text", strings.Repeat("a", 1<<20), []string{"bytes more"}},
		{"texts", []string{strings.Repeat("a", 1<<20), "b"}, []string{"…\n b] (2 elements)"}},
		{"bytes", make([]byte, 1<<20), []string{"(1\u00a0048\u00a0576 elements)"}},
		{"NaN", map[float64]int{math.NaN(): 1, 2: 3}, []string{"2:3"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			began := time.Now()
			got := display.Format(tt.in)
			for _, want := range tt.contains {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in\n%.3000s", want, got)
				}
			}
			if n := strings.Count(got, "\n"); n > 300 || len(got) > 70<<10 {
				t.Errorf("%d lines, %d bytes", n, len(got))
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("took %v", took)
			}
		})
	}
}

func ExampleFormat() {
	fmt.Println(display.Format(map[string][]int{"a": {1, 2}, "b": nil}))
	// Output: map[a:[1 2] b:[]]
}

// TestFormatSmall has texts of what fmt prints otherwise.
func TestFormatSmall(t *testing.T) {
	type message struct{ Raw json.RawMessage }
	for _, row := range []struct {
		name string
		in   any
		want string
	}{
		{"one element", []string{strings.Repeat("a", 101)}, "[" + strings.Repeat("a", 99) + "…] (1 element)"},
		{"one entry", map[string]string{"k": strings.Repeat("a", 101)}, "map[string]string{\n  k: " + strings.Repeat("a", 101) + "\n} (1 entry)"},
		{"raw JSON in a struct", message{json.RawMessage(`{"a":1}`)}, "{Raw:{\"a\":1}}"},
		{"raw JSON in a list", []json.RawMessage{json.RawMessage(`1`)}, "[1]"},
		{"raw JSON behind a pointer", &message{json.RawMessage(`{"a":1}`)}, "&{Raw:{\"a\":1}}"},
		{"raw JSON deep inside", map[string]struct {
			N    *int
			any  any
			List []message
		}{"k": {List: []message{{json.RawMessage(`"x"`)}, {}}}}, "map[k:{N:<nil> any:<nil> List:[{Raw:\"x\"} {Raw:null}]}]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := display.Format(row.in); got != row.want {
				t.Errorf("got\n%s\nwant\n%s", got, row.want)
			}
		})
	}
}
