package link

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestFrameRoundTrip(t *testing.T) {
	t.Parallel()
	for _, in := range []frame{
		{kind: kindRequest, id: 1, method: "execute", body: []byte(`{"code":"x"}`)},
		{kind: kindResponse, id: 1<<64 - 1, body: []byte(`null`)},
		{kind: kindFailure, id: 2, body: []byte("worker: no")},
		{kind: kindEvent, method: strings.Repeat("m", 255), body: []byte(`[]`)},
		{kind: kindCancel, id: 3},
		{kind: kindEvent, method: "big", body: bytes.Repeat([]byte{'x'}, 3*readStep+1)},
	} {
		b, err := appendFrame(nil, in)
		if err != nil {
			t.Fatalf("%c: %v", in.kind, err)
		}
		out, err := readFrame(bytes.NewReader(b))
		if err != nil {
			t.Fatalf("%c: %v", in.kind, err)
		}
		if out.kind != in.kind || out.id != in.id || out.method != in.method || !bytes.Equal(out.body, in.body) {
			t.Errorf("%c: wrote %d bytes of body, read %c id %d method %q and %d bytes", in.kind, len(in.body), out.kind, out.id, out.method, len(out.body))
		}
	}
}

func TestReadFrameRefuses(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, in string
		want     error
	}{
		{"nothing", "", io.EOF},
		{"cut length", "\x00\x00", errFrame},
		{"length zero", "\x00\x00\x00\x00", errFrame},
		{"length over the limit", "\xff\xff\xff\xff", errFrame},
		{"cut body", "\x00\x00\x00\x10q", errFrame},
		{"method past the end", "\x00\x00\x00\x0aq\x00\x00\x00\x00\x00\x00\x00\x00\x05", errFrame},
		{"unknown kind", "\x00\x00\x00\x0az\x00\x00\x00\x00\x00\x00\x00\x00\x00", errFrame},
	} {
		if _, err := readFrame(strings.NewReader(row.in)); !errors.Is(err, row.want) {
			t.Errorf("%s: got %v, want %v", row.name, err, row.want)
		}
	}
}

func TestFrameTooLarge(t *testing.T) {
	t.Parallel()
	// The pages of the body are never touched, so this needs no memory.
	_, err := appendFrame(nil, frame{kind: kindEvent, method: "display", body: make([]byte, MaxFrame)})
	var size *SizeError
	if !errors.As(err, &size) || size.Method != "display" {
		t.Errorf("got %v, want a SizeError of display", err)
	}
}

func FuzzReadFrame(f *testing.F) {
	for _, in := range []frame{
		{kind: kindRequest, id: 1, method: "execute", body: []byte(`{"code":"x"}`)},
		{kind: kindFailure, id: 2, body: []byte("no")},
		{kind: kindEvent, method: "display", body: []byte(`{}`)},
	} {
		b, err := appendFrame(nil, in)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(b[:len(b)-1])
	}
	f.Add([]byte("\x1f\xff\xff\xffq"))
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := readFrame(bytes.NewReader(in))
		if err != nil {
			return
		}
		out, err := appendFrame(nil, got)
		if err != nil || !bytes.HasPrefix(in, out) {
			t.Fatalf("read %x, written again as %x, %v", in, out, err)
		}
	})
}
