package mark

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

const token = "0123456789abcdef"

// parts scans the chunks and returns output and marks in order, neighboring
// output joined.
func parts(chunks ...string) []any {
	var got []any
	add := func(b []byte) {
		if len(got) > 0 {
			if s, ok := got[len(got)-1].(string); ok {
				got[len(got)-1] = s + string(b)
				return
			}
		}
		got = append(got, string(b))
	}
	s := NewScanner(token)
	for _, c := range chunks {
		s.Scan([]byte(c), add, func(m Mark) { got = append(got, m) })
	}
	if rest := s.Rest(); len(rest) > 0 {
		add(rest)
	}
	return got
}

func TestScan(t *testing.T) {
	t.Parallel()
	begin, end := Mark{Attribute, 3}, Mark{Flush, 1<<64 - 1}
	b, e := string(begin.Append(nil, token)), string(end.Append(nil, token))
	other := string(begin.Append(nil, "fedcba9876543210"))
	for _, row := range []struct {
		name, in string
		want     []any
	}{
		{"nothing", "", nil},
		{"output", "line\n", []any{"line\n"}},
		{"mark", b, []any{begin}},
		{"marks between output", "a" + b + "b" + e + e + "c", []any{"a", begin, "b", end, end, "c"}},
		{"another token", "a" + other + b, []any{"a" + other, begin}},
		{"the control byte alone", "a\x1eb\x1e\x1e" + b, []any{"a\x1eb\x1e\x1e", begin}},
		{"cut mark at the end", "a" + b[:len(b)-1], []any{"a" + b[:len(b)-1]}},
		{"no number", "\x1eq:" + token + "b\x1ex", []any{"\x1eq:" + token + "b\x1ex"}},
		{"number too long", "\x1eq:" + token + "b" + strings.Repeat("1", 40), []any{"\x1eq:" + token + "b" + strings.Repeat("1", 40)}},
		{"zeros before the number", "\x1eq:" + token + "b" + strings.Repeat("0", 19) + "3\x1e", []any{begin}},
		{"zeros that make the number too long", "\x1eq:" + token + "b" + strings.Repeat("0", 20) + "3\x1e" + b, []any{"\x1eq:" + token + "b" + strings.Repeat("0", 20) + "3\x1e", begin}},
		{"a number beyond uint64", "\x1eq:" + token + "b99999999999999999999\x1e", []any{"\x1eq:" + token + "b99999999999999999999\x1e"}},
		{"a sign", "\x1eq:" + token + "b+3\x1e", []any{"\x1eq:" + token + "b+3\x1e"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := parts(row.in); !reflect.DeepEqual(got, row.want) {
				t.Errorf("whole: %q\ngot  %q\nwant %q", row.in, got, row.want)
			}
			if got := parts(strings.Split(row.in, "")...); !reflect.DeepEqual(got, row.want) {
				t.Errorf("byte by byte: %q\ngot  %q\nwant %q", row.in, got, row.want)
			}
		})
	}
}

func FuzzScan(f *testing.F) {
	mark := string(Mark{Event, 7}.Append(nil, token))
	f.Add("a"+mark+"b", 3)
	f.Add("\x1eq:\x1e"+mark[:10], 2)
	f.Fuzz(func(t *testing.T, in string, cut int) {
		cut = min(max(cut, 0), len(in))
		whole, halves := parts(in), parts(in[:cut], in[cut:])
		if !reflect.DeepEqual(whole, halves) {
			t.Fatalf("%q cut at %d\nwhole  %q\nhalves %q", in, cut, whole, halves)
		}
		// Nothing but marks may be lost.
		var text strings.Builder
		for _, p := range whole {
			if s, ok := p.(string); ok {
				fmt.Fprint(&text, s)
			}
		}
		if !strings.Contains(in, "\x1eq:"+token) && text.String() != in {
			t.Fatalf("%q became %q", in, text.String())
		}
	})
}
