package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// Delimiter separates the routing frames from the message.
const Delimiter = "<IDS|MSG>"

// Indices of the message parts after the delimiter. Buffers follow them.
const (
	partSignature = iota
	partHeader
	partParent
	partMetadata
	partContent
	parts
)

// Limits on received messages. They are far larger than what front ends send, and small
// enough to do no harm.
const (
	maxIdentities = 16
	maxHeader     = 64 << 10 // bytes of header and of parent_header
	maxBuffers    = 1024
)

// FormatError reports frames that are not a message of the protocol.
type FormatError struct {
	Part string
	Err  error
}

func (e *FormatError) Error() string { return fmt.Sprintf("malformed message: %s: %v", e.Part, e.Err) }

// Unwrap returns the underlying error.
func (e *FormatError) Unwrap() error { return e.Err }

// Codec decodes and encodes the messages of one kernel.
type Codec struct {
	signer   *signer
	replays  *replays
	session  string
	username string
	sent     atomic.Uint64
}

// NewCodec returns a codec with a new session id. The error is a *SchemeError. If the key
// is empty, messages are neither signed nor verified.
func NewCodec(scheme string, key []byte) (*Codec, error) {
	s, err := newSigner(scheme, key)
	if err != nil {
		return nil, err
	}
	username := cmp.Or(os.Getenv("USER"), os.Getenv("USERNAME"), "kernel")
	return &Codec{signer: s, replays: newReplays(), session: uuid.NewString(), username: username}, nil
}

// KeepSeen stores the signatures of messages in seen, so that messages of earlier runs of
// the kernel are rejected too. It must be called before the first message.
func (c *Codec) KeepSeen(s Seen) { c.replays.keep(s) }

// Session returns the session id of this run of the kernel.
func (c *Codec) Session() string { return c.session }

// Verify returns nil for a message with a valid signature. It checks neither its content
// nor whether it is a replay.
func (c *Codec) Verify(frames [][]byte) error {
	_, _, err := c.verified(frames)
	return err
}

// verified checks the signature of a message and splits it into its identities and the
// rest.
func (c *Codec) verified(frames [][]byte) (identities, rest [][]byte, err error) {
	at := 0
	for at < len(frames) && string(frames[at]) != Delimiter {
		if at++; at > maxIdentities {
			break
		}
	}
	if at > maxIdentities || at >= len(frames) {
		return nil, nil, &FormatError{"delimiter", errors.New("missing")}
	}
	rest = frames[at+1:]
	if len(rest) < parts {
		return nil, nil, &FormatError{"message", fmt.Errorf("%d frames, want at least %d", len(rest), parts)}
	}
	if len(rest)-parts > maxBuffers {
		return nil, nil, &FormatError{"buffers", fmt.Errorf("%d buffers, the limit is %d", len(rest)-parts, maxBuffers)}
	}
	return frames[:at], rest, c.signer.verify(rest[partSignature], rest[partHeader:parts])
}

// Decode verifies and decodes one message.
func (c *Codec) Decode(frames [][]byte) (*Message, error) {
	identities, rest, err := c.verified(frames)
	if err != nil {
		return nil, err
	}
	m := &Message{
		Identities: identities,
		RawHeader:  rest[partHeader],
		Metadata:   rest[partMetadata],
		Body:       rest[partContent],
		Buffers:    rest[parts:],
	}
	if err := m.decodeHeaders(rest[partParent]); err != nil {
		return nil, err
	}
	for _, part := range []struct {
		name string
		text []byte
	}{{"metadata", m.Metadata}, {"content", m.Body}} {
		if err := checkObject(part.text); err != nil {
			return nil, &FormatError{part.name, err}
		}
	}
	// Recorded only now, so that a message rejected above may be sent again correctly.
	if c.signer.hash != nil && !c.replays.first(rest[partSignature]) {
		return nil, ErrReplay
	}
	return m, nil
}

func (m *Message) decodeHeaders(parent []byte) error {
	if len(m.RawHeader) > maxHeader || len(parent) > maxHeader {
		return &FormatError{"header", fmt.Errorf("%d bytes, the limit is %d", max(len(m.RawHeader), len(parent)), maxHeader)}
	}
	if err := checkObject(m.RawHeader); err != nil {
		return &FormatError{"header", err}
	}
	if err := json.Unmarshal(m.RawHeader, &m.Header); err != nil {
		return &FormatError{"header", err}
	}
	if m.Header.ID == "" || m.Header.Type == "" {
		return &FormatError{"header", errors.New("msg_id or msg_type is missing")}
	}
	if err := checkObject(parent); err != nil {
		return &FormatError{"parent_header", err}
	}
	var id struct {
		ID string `json:"msg_id"`
	}
	if err := json.Unmarshal(parent, &id); err != nil {
		return &FormatError{"parent_header", err}
	}
	m.ParentID = id.ID
	return nil
}

// checkObject reports whether text is one JSON object.
func checkObject(text []byte) error {
	trimmed := bytes.TrimLeft(text, " \t\r\n")
	if len(trimmed) == 0 || trimmed[0] != '{' {
		return errors.New("not a JSON object")
	}
	if !json.Valid(text) {
		return errors.New("not valid JSON")
	}
	return nil
}

// NewID returns a new message id.
func (c *Codec) NewID() string {
	return c.session + "_" + strconv.FormatUint(c.sent.Add(1), 10)
}

// Outgoing is a message to send.
type Outgoing struct {
	ID         string   // from NewID; empty for a generated one
	Identities [][]byte // routing frames; on iopub the topic
	Type       Type
	Parent     json.RawMessage // raw header of the request; nil for none
	Metadata   map[string]any  // may be nil
	Content    any             // a struct of this package
	Buffers    [][]byte
	Subshell   string // subshell of a request; not used by the kernel
}

// encodeContent is json.Marshal without the escapes that make HTML safe within a script
// element, where messages never are.
//
// The result waits in the queues of slow clients, so it has no spare capacity: that of a
// growing buffer may be as large as the content.
func encodeContent(content any) ([]byte, error) {
	b := encoded.Get().(*bytes.Buffer)
	defer func() {
		if b.Cap() <= keptBuffer {
			b.Reset()
			encoded.Put(b)
		}
	}()
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(content); err != nil {
		return nil, err
	}
	return bytes.Clone(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// keptBuffer is the largest buffer that is reused, in bytes: a batch of output in which
// each byte needs an escape.
const keptBuffer = 512 << 10

// encoded are reusable buffers of encodeContent.
var encoded = sync.Pool{New: func() any { return new(bytes.Buffer) }}

var emptyObject = []byte("{}")

// Encode returns the frames of m. It fails if the content, which may come from a cell,
// cannot be encoded as JSON.
func (c *Codec) Encode(m Outgoing) ([][]byte, error) {
	if m.ID == "" {
		m.ID = c.NewID()
	}
	header, err := json.Marshal(Header{
		ID:       m.ID,
		Session:  c.session,
		Username: c.username,
		Date:     time.Now().UTC().Format("2006-01-02T15:04:05.000000Z07:00"),
		Type:     m.Type,
		Version:  Version,
		Subshell: m.Subshell,
	})
	if err != nil {
		return nil, fmt.Errorf("encode header: %w", err)
	}
	parent, metadata := []byte(m.Parent), emptyObject
	if len(parent) == 0 {
		parent = emptyObject
	}
	if len(m.Metadata) > 0 {
		if metadata, err = json.Marshal(m.Metadata); err != nil {
			return nil, fmt.Errorf("encode metadata of %s: %w", m.Type, err)
		}
	}
	content, err := encodeContent(m.Content)
	if err != nil {
		return nil, fmt.Errorf("encode content of %s: %w", m.Type, err)
	}
	body := [][]byte{header, parent, metadata, content}
	frames := make([][]byte, 0, len(m.Identities)+1+parts+len(m.Buffers))
	frames = append(frames, m.Identities...)
	frames = append(frames, []byte(Delimiter), c.signer.sign(body))
	frames = append(frames, body...)
	return append(frames, m.Buffers...), nil
}
