package compare

import (
	"encoding/json"
	"testing"

	"github.com/quernlab/quern/kernel/notebook"
)

func TestOutputs(t *testing.T) {
	t.Parallel()
	const exact, loose = 0, 0.01
	for _, row := range []struct {
		name      string
		want, got string
		relative  float64
		found     string
	}{
		{"nothing", `[]`, `[]`, exact, ""},
		{"split stream, other order", `[{"output_type":"stream","name":"stdout","text":["a\n","b"]},{"output_type":"stream","name":"stderr","text":"e"}]`,
			`[{"output_type":"stream","name":"stderr","text":"e"},{"output_type":"stream","name":"stdout","text":"a\n"},{"output_type":"stream","name":"stdout","text":"b"}]`, exact, ""},
		{"another line", stdout(`a\nb\nc`), stdout(`a\nx\nc`), loose, "stdout, line 2\n- b\n+ x"},
		{"a line more", stdout(`a`), stdout(`a\nb`), exact, "stdout, line 2\n+ b"},
		{"a line less", stdout(`a\nb`), stdout(`a`), exact, "stdout, line 2\n- b"},
		{"number, exact", stdout(`loss 0.5001`), stdout(`loss 0.5002`), exact, "stdout, line 1\n- loss 0.5001\n+ loss 0.5002"},
		{"number within", stdout(`loss 0.5001, -1e-3`), stdout(`loss 0.5002, -1.001e-3`), loose, ""},
		{"number beyond", stdout(`loss 0.50`), stdout(`loss 0.51`), loose, "stdout, line 1\n- loss 0.50\n+ loss 0.51"},
		{"wider column", stdout(`loss  9.99 %`), stdout(`loss 10.01 %`), loose, ""},
		{"spaces, exact", stdout(`loss  9.99 %`), stdout(`loss 9.99 %`), exact, "stdout, line 1\n- loss  9.99 %\n+ loss 9.99 %"},
		{"sign", stdout(`-5`), stdout(`5`), loose, "stdout, line 1\n- -5\n+ 5"},
		{"a number more", stdout(`1 2`), stdout(`1 2 3`), loose, "stdout, line 1\n- 1 2\n+ 1 2 3"},
		{"beyond float64", stdout(`1e999`), stdout(`2e999`), loose, "stdout, line 1\n- 1e999\n+ 2e999"},
		{"result", result(`"text/plain":"3"`), result(`"text/plain":["3"]`), exact, ""},
		{"other result", result(`"text/plain":"3"`), result(`"text/plain":"4"`), exact, "output 1, text/plain, line 1\n- 3\n+ 4"},
		{"image", result(`"text/plain":"3","image/png":"AAAA"`), result(`"text/plain":"3","image/png":"BBBB"`), exact, ""},
		{"no image", result(`"text/plain":"3","image/png":"AAAA"`), result(`"text/plain":"3"`), exact, "output 1, MIME types, line 1\n- image/png text/plain\n+ text/plain"},
		{"kind", result(`"text/plain":"3"`), `[{"output_type":"display_data","data":{"text/plain":"3"}}]`, exact, "output 1\n- execute_result\n+ display_data"},
		{"missing", result(`"text/plain":"3"`), `[]`, exact, "number of results and displays\n- 1\n+ 0"},
		{"error", `[{"output_type":"error","ename":"panic","evalue":"a","traceback":["1"]}]`, `[{"output_type":"error","ename":"panic","evalue":"a","traceback":["2"]}]`, exact, ""},
		{"other error", `[{"output_type":"error","ename":"panic","evalue":"a"}]`, `[{"output_type":"error","ename":"panic","evalue":"b"}]`, exact, "output 1, line 1\n- panic: a\n+ panic: b"},
	} {
		if found := Outputs(parse(t, row.want), parse(t, row.got), Tolerance{Relative: row.relative}); found != row.found {
			t.Errorf("%s: %q, want %q", row.name, found, row.found)
		}
	}
	raw := []notebook.Output{{"output_type": "stream", "name": "stdout", "text": "a\xff\xfe"}}
	if found := Outputs(parse(t, stdout(`a\ufffd\ufffd`)), raw, Tolerance{}); found != "" {
		t.Errorf("bytes that are not UTF-8: %q", found)
	}
	if found := Outputs(parse(t, stdout("0.0001")), parse(t, stdout("-0.0002")), Tolerance{Absolute: 0.001}); found != "" {
		t.Errorf("absolute tolerance: %q", found)
	}
}

func stdout(text string) string {
	return `[{"output_type":"stream","name":"stdout","text":"` + text + `"}]`
}

func result(data string) string {
	return `[{"output_type":"execute_result","execution_count":7,"data":{` + data + `},"metadata":{}}]`
}

func parse(t *testing.T, outputs string) (list []notebook.Output) {
	t.Helper()
	if err := json.Unmarshal([]byte(outputs), &list); err != nil {
		t.Fatal(err)
	}
	return list
}
