package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

var testKey = []byte("a key of the tests")

func testCodec(t testing.TB) *Codec {
	t.Helper()
	c, err := NewCodec(Scheme, testKey)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// signed returns the frames of a message with the given parts, signed with key.
func signed(t testing.TB, key []byte, parts ...string) [][]byte {
	t.Helper()
	s, err := newSigner(Scheme, key)
	if err != nil {
		t.Fatal(err)
	}
	var body [][]byte
	for _, p := range parts {
		body = append(body, []byte(p))
	}
	return append([][]byte{[]byte("peer"), []byte(Delimiter), s.sign(body)}, body...)
}

const goodHeader = `{"msg_id":"1","session":"s","username":"u","date":"2026-01-02T03:04:05.678Z","msg_type":"execute_request","version":"5.3","later":[1,{"x":2.50}]}`

// Test vector of the reference implementation, jupyter_client.session.Session(key=b"a key
// of the tests").sign.
func TestSignatureVector(t *testing.T) {
	t.Parallel()
	s, err := newSigner(Scheme, testKey)
	if err != nil {
		t.Fatal(err)
	}
	const want = "7a44f543c018480de4c64be5bb2e0b46be346e5af4aea678eb641a015b369c5b"
	if got := string(s.sign([][]byte{[]byte(`{"a":1}`), []byte(`{}`), []byte(`{"é":"ü"}`), []byte(`{"code":"x"}`)})); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	frames := signed(t, testKey, goodHeader, `{"msg_id":"0"}`, `{"cellId":"c"}`, `{"code":"x"}`)
	frames = append(frames, []byte("buffer"), []byte{})
	m, err := testCodec(t).Decode(frames)
	if err != nil {
		t.Fatal(err)
	}
	want := &Message{
		Identities: [][]byte{[]byte("peer")},
		Header:     Header{ID: "1", Session: "s", Username: "u", Date: "2026-01-02T03:04:05.678Z", Type: ExecuteRequest, Version: "5.3"},
		RawHeader:  json.RawMessage(goodHeader),
		ParentID:   "0",
		Metadata:   json.RawMessage(`{"cellId":"c"}`),
		Body:       json.RawMessage(`{"code":"x"}`),
		Buffers:    [][]byte{[]byte("buffer"), {}},
	}
	if !reflect.DeepEqual(m, want) {
		t.Errorf("got  %+v\nwant %+v", m, want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	otherKey := []byte("another key")
	tooDeep := `{"a":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + "}"
	for _, row := range []struct {
		name   string
		frames [][]byte
		want   error  // with errors.Is, or
		part   string // the part of a FormatError
	}{
		{name: "no frames", frames: nil, part: "delimiter"},
		{name: "no delimiter", frames: [][]byte{[]byte("a"), []byte("b")}, part: "delimiter"},
		{name: "a thousand identities", frames: append(make([][]byte, 1000), signed(t, testKey, goodHeader, "{}", "{}", "{}")...), part: "delimiter"},
		{name: "nothing behind the delimiter", frames: [][]byte{[]byte(Delimiter)}, part: "message"},
		{name: "one frame short", frames: signed(t, testKey, goodHeader, "{}", "{}", "{}")[:6], part: "message"},
		{name: "too many buffers", frames: append(signed(t, testKey, goodHeader, "{}", "{}", "{}"), make([][]byte, maxBuffers+1)...), part: "buffers"},
		{name: "forged", frames: signed(t, otherKey, goodHeader, "{}", "{}", "{}"), want: ErrSignature},
		{name: "unsigned", frames: signed(t, nil, goodHeader, "{}", "{}", "{}"), want: ErrSignature},
		{name: "forged garbage", frames: signed(t, otherKey, "\xff\xfe", "", "", ""), want: ErrSignature},
		{name: "header no JSON", frames: signed(t, testKey, "\xff", "{}", "{}", "{}"), part: "header"},
		{name: "header a list", frames: signed(t, testKey, "[]", "{}", "{}", "{}"), part: "header"},
		{name: "header null", frames: signed(t, testKey, "null", "{}", "{}", "{}"), part: "header"},
		{name: "header of wrong types", frames: signed(t, testKey, `{"msg_id":1,"msg_type":[]}`, "{}", "{}", "{}"), part: "header"},
		{name: "no msg_id", frames: signed(t, testKey, `{"msg_type":"x"}`, "{}", "{}", "{}"), part: "header"},
		{name: "no msg_type", frames: signed(t, testKey, `{"msg_id":"x"}`, "{}", "{}", "{}"), part: "header"},
		{name: "huge header", frames: signed(t, testKey, `{"msg_id":"`+strings.Repeat("x", maxHeader)+`"}`, "{}", "{}", "{}"), part: "header"},
		{name: "parent a string", frames: signed(t, testKey, goodHeader, `"x"`, "{}", "{}"), part: "parent_header"},
		{name: "parent with a wrong id", frames: signed(t, testKey, goodHeader, `{"msg_id":{}}`, "{}", "{}"), part: "parent_header"},
		{name: "metadata empty", frames: signed(t, testKey, goodHeader, "{}", "", "{}"), part: "metadata"},
		{name: "content a list", frames: signed(t, testKey, goodHeader, "{}", "{}", "[]"), part: "content"},
		{name: "content cut", frames: signed(t, testKey, goodHeader, "{}", "{}", `{"code":`), part: "content"},
		{name: "content twice", frames: signed(t, testKey, goodHeader, "{}", "{}", `{}{}`), part: "content"},
		{name: "content too deep", frames: signed(t, testKey, goodHeader, "{}", "{}", tooDeep), part: "content"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			m, err := testCodec(t).Decode(row.frames)
			var format *FormatError
			switch {
			case err == nil:
				t.Fatalf("decoded as %+v", m)
			case row.want != nil && !errors.Is(err, row.want):
				t.Errorf("got %v, want %v", err, row.want)
			case row.part != "" && (!errors.As(err, &format) || format.Part != row.part):
				t.Errorf("got %v, want a FormatError of %s", err, row.part)
			}
		})
	}
}

func TestReplayIsRefused(t *testing.T) {
	t.Parallel()
	c := testCodec(t)
	frames := signed(t, testKey, goodHeader, "{}", "{}", "{}")
	if _, err := c.Decode(frames); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Decode(frames); !errors.Is(err, ErrReplay) {
		t.Errorf("the second time: %v, want ErrReplay", err)
	}
}

func TestReplaysForgetTheOldest(t *testing.T) {
	t.Parallel()
	r := newReplays()
	r.perGeneration = 4
	signature := func(i int) []byte { return fmt.Appendf(nil, "%064x", i) }
	for i := range 100 {
		if !r.first(signature(i)) {
			t.Fatalf("%d seen before", i)
		}
		if len(r.young)+len(r.old) > 8 {
			t.Fatalf("%d signatures kept", len(r.young)+len(r.old))
		}
	}
	for i := 96; i < 100; i++ {
		if r.first(signature(i)) {
			t.Errorf("%d forgotten", i)
		}
	}
}

// fakeSeen is the store of signatures of an earlier run.
type fakeSeen struct{ past, added []Signature }

func (s *fakeSeen) Past() []Signature { return s.past }
func (s *fakeSeen) Add(x Signature)   { s.added = append(s.added, x) }

func TestReplayAfterARestartIsRefused(t *testing.T) {
	t.Parallel()
	old := signed(t, testKey, goodHeader, "{}", "{}", "{}")
	fresh := signed(t, testKey, goodHeader, "{}", "{}", `{"x":1}`)
	before, after := &fakeSeen{}, &fakeSeen{}
	c := testCodec(t)
	c.KeepSeen(before)
	if _, err := c.Decode(old); err != nil {
		t.Fatal(err)
	}
	forged := slices.Clone(fresh)
	forged[2] = bytes.Repeat([]byte("0"), 64)
	if _, err := c.Decode(forged); !errors.Is(err, ErrSignature) {
		t.Fatal(err)
	}
	if len(before.added) != 1 {
		t.Fatalf("%d signatures are kept", len(before.added))
	}
	after.past = before.added
	c = testCodec(t)
	c.KeepSeen(after)
	if _, err := c.Decode(old); !errors.Is(err, ErrReplay) {
		t.Errorf("a replay returned %v", err)
	}
	if _, err := c.Decode(fresh); err != nil || len(after.added) != 1 {
		t.Errorf("a new message returned %v, %d are stored", err, len(after.added))
	}
}

func TestEmptyKeyIsUnsigned(t *testing.T) {
	t.Parallel()
	c, err := NewCodec(Scheme, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a replay is indistinguishable from a message sent twice
		if _, err := c.Decode(signed(t, nil, goodHeader, "{}", "{}", "{}")); err != nil {
			t.Error(err)
		}
	}
}

func TestUnknownScheme(t *testing.T) {
	t.Parallel()
	_, err := NewCodec("hmac-md5", testKey)
	var scheme *SchemeError
	if !errors.As(err, &scheme) || scheme.Scheme != "hmac-md5" {
		t.Errorf("got %v, want a SchemeError", err)
	}
}

func TestEncodeIsDecoded(t *testing.T) {
	t.Parallel()
	kernel, client := testCodec(t), testCodec(t)
	frames, err := kernel.Encode(Outgoing{
		Identities: [][]byte{[]byte("a"), []byte("b")},
		Type:       Stream,
		Parent:     json.RawMessage(goodHeader),
		Metadata:   map[string]any{"k": 1},
		Content:    Text{Stdout, "<b>&\u2028\x00"},
		Buffers:    [][]byte{{0, 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	m, err := client.Decode(frames)
	if err != nil {
		t.Fatal(err)
	}
	// The parent is returned byte for byte, with unknown keys.
	if !bytes.Equal(frames[5], []byte(goodHeader)) || m.ParentID != "1" {
		t.Errorf("parent %s", frames[5])
	}
	if len(m.Identities) != 2 || len(m.Buffers) != 1 || m.Header.Type != Stream || m.Header.Version != "5.5" || m.Header.Session != kernel.Session() {
		t.Errorf("got %+v", m)
	}
	var text Text
	if err := m.Content(&text); err != nil || text != (Text{Stdout, "<b>&\u2028\x00"}) {
		t.Errorf("content %+v, %v", text, err)
	}
	if date, err := time.Parse(time.RFC3339Nano, m.Header.Date); err != nil || time.Since(date).Abs() > time.Minute {
		t.Errorf("date %q: %v", m.Header.Date, err)
	}
}

func TestIDsAreUnique(t *testing.T) {
	t.Parallel()
	c, seen := testCodec(t), map[string]bool{}
	for range 1000 {
		if id := c.NewID(); seen[id] {
			t.Fatalf("%s twice", id)
		} else {
			seen[id] = true
		}
	}
}

func TestEncodeError(t *testing.T) {
	t.Parallel()
	if _, err := testCodec(t).Encode(Outgoing{Type: DisplayData, Content: NewDisplay("", map[string]any{"x": func() {}}, nil)}); err == nil {
		t.Error("a function was encoded")
	}
}

func FuzzDecode(f *testing.F) {
	key := testKey
	add := func(frames [][]byte) { f.Add(bytes.Join(frames, []byte("\n")), true) }
	add(signed(f, key, goodHeader, "{}", "{}", `{"code":"x"}`))
	add(signed(f, key, goodHeader, `{"msg_id":"0"}`, "{}", "{}")[1:])
	add(signed(f, key, "[]", "", "null", "{")[:6])
	f.Add([]byte(Delimiter), false)
	f.Fuzz(func(t *testing.T, in []byte, sign bool) {
		c := testCodec(t)
		frames := bytes.Split(in, []byte("\n"))
		// Signed again, a modified message passes the check of the signature.
		for i, frame := range frames {
			if sign && string(frame) == Delimiter && i+parts < len(frames) {
				frames[i+1] = c.signer.sign(frames[i+2 : i+1+parts])
				break
			}
		}
		m, err := c.Decode(frames)
		if err != nil {
			return
		}
		if m.Header.ID == "" || m.Header.Type == "" || !json.Valid(m.RawHeader) || !json.Valid(m.Body) {
			t.Fatalf("decoded %q as %+v", frames, m)
		}
		for _, into := range contents() {
			_ = m.Content(into) // must not panic
		}
	})
}

// contents has one value of each struct for the content of client messages.
func contents() []any {
	return []any{&Execute{}, &Complete{}, &Inspect{}, &IsComplete{}, &History{}, &CommInfo{}, &CommOpened{}, &CommData{}, &Shutdown{}, &Line{}}
}
