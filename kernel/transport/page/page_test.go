package page_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/quernlab/quern/kernel/transport"
	"github.com/quernlab/quern/kernel/transport/page"
	"github.com/quernlab/quern/kernel/wire"
)

// A codec reads what the page has sent, and the page reads what the codec has written.
func TestMessages(t *testing.T) {
	var sent []byte
	var buffers [][]byte
	s := page.New(func(text []byte, b [][]byte) { sent, buffers = append([]byte(nil), text...), b })
	codec, err := wire.NewCodec(wire.Scheme, nil)
	if err != nil {
		t.Fatal(err)
	}
	request := `{"channel":"control","header":{"msg_id":"1","session":"a","username":"u","date":"","msg_type":"interrupt_request","version":"5.3"},
"parent_header":{},"metadata":null,"content":{}}`
	if err := s.Deliver([]byte(request), [][]byte{{1, 2}}); err != nil {
		t.Fatal(err)
	}
	frames, err := s.Receive(t.Context(), transport.Control)
	if err != nil {
		t.Fatal(err)
	}
	m, err := codec.Decode(frames)
	if err != nil {
		t.Fatal(err)
	}
	if m.Header.Type != wire.InterruptRequest || len(m.Buffers) != 1 || string(m.Buffers[0]) != "\x01\x02" {
		t.Errorf("received %q with buffers %v", m.Header.Type, m.Buffers)
	}

	reply, err := codec.Encode(wire.Outgoing{Identities: m.Identities, Type: wire.Status, Parent: m.RawHeader, Content: wire.State{ExecutionState: wire.Idle}, Buffers: [][]byte{{3}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Send(transport.IOPub, reply); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Channel string
		Header  struct {
			Type string `json:"msg_type"`
		}
		Parent struct {
			ID string `json:"msg_id"`
		} `json:"parent_header"`
		Content struct {
			State string `json:"execution_state"`
		}
	}
	if err := json.Unmarshal(sent, &got); err != nil {
		t.Fatalf("%v in %s", err, sent)
	}
	if got.Channel != "iopub" || got.Header.Type != "status" || got.Parent.ID != "1" || got.Content.State != "idle" {
		t.Errorf("sent %s", sent)
	}
	if len(buffers) != 1 || string(buffers[0]) != "\x03" {
		t.Errorf("sent buffers %v", buffers)
	}
}

func TestInvalidMessages(t *testing.T) {
	s := page.New(func([]byte, [][]byte) { t.Error("a message was sent") })
	for text, want := range map[string]string{
		`{`:                   "unexpected end of JSON input",
		`{"channel":"iopub"}`: `no channel "iopub"`,
		`{}`:                  `no channel ""`,
	} {
		if err := s.Deliver([]byte(text), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Deliver(%s): %v, want %q", text, err, want)
		}
	}
	if err := s.Send(transport.Shell, [][]byte{[]byte("page"), []byte("<IDS|MSG>"), nil}); err == nil {
		t.Error("Send accepts a message without parts")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Receive(ctx, transport.IOPub); err == nil {
		t.Error("Receive returns without a message")
	}
}
