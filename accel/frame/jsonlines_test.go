package frame_test

import (
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/frame"
)

func TestJSONLines(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, file, want string }{
		{"types", `{"a":1,"b":1.5,"c":true,"d":"x"}` + "\n\n" + `{"d":null,"a":2}`, "a int: 1 2; b float: 1.5 -; c bool: true -; d text: x -"},
		{"objects", `{"a":{"b":1,"c":{"d":"x"}}}`, "a.b int: 1; a.c.d text: x"},
		{"late keys", "{}\n{\"a\":1}\n{\"b\":2}", "a int: - 1 -; b int: - - 2"},
		{"ints and floats", "{\"a\":1}\n{\"a\":0.5}", "a float: 1 0.5"},
		{"only null", `{"a":null}`, "a float: -"},
		{"list", `{"a":[1]}`, `frame: JSON lines, line 1, column "a": want a number, text, bool, null or object, got a list`},
		{"mixed", "{\"a\":1}\n{\"a\":\"x\"}", `frame: JSON lines, line 2, column "a": want int as in line 1, got x`},
		{"twice", `{"a":1,"a":2}`, `frame: JSON lines, line 1, column "a": want each key once, got it twice`},
		{"truncated", "{\"a\":1}\n{\"a\":", `frame: JSON lines, line 2, column "a": want a value, got EOF`},
		{"array", `[{"a":1}]`, `frame: JSON lines, line 1: want a JSON object on each line, got "[{\"a\":1}]"`},
		{"two objects", `{"a":1} {"a":2}`, `frame: JSON lines, line 1: want one JSON object, got more after it`},
		{"too large", `{"a":1e999}`, `frame: JSON lines, line 1, column "a": want a number in the range of float64, got 1e999`},
	} {
		f, err := frame.ReadJSONLines(strings.NewReader(test.file))
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = contents(f)
		}
		if got != test.want {
			t.Errorf("%s: got  %s\nwant %s", test.name, got, test.want)
		}
	}
}
