package transport

import (
	"io"
)

// inbox hands on what a peer sends, frame by frame, once it is checked. It is
// read by one goroutine.
type inbox struct {
	r       io.Reader
	role    role
	limits  limits
	checked []byte // waits to be read, before anything else
	body    int64  // bytes of the current frame that pass unchecked

	// Of the message that is being read.
	frames int
	size   int64
	more   bool

	// subscription has been handed on. When the next byte is asked for, it is
	// in effect.
	subscription []byte
	subscribed   func(topic []byte)

	pong func(frame []byte) error // sends the answer to a PING
}

// Read reads bytes of frames that have been checked.
func (i *inbox) Read(p []byte) (int, error) {
	for {
		switch {
		case len(i.checked) > 0:
			n := copy(p, i.checked)
			i.checked = i.checked[n:]
			return n, nil
		case i.body > 0:
			n, err := i.r.Read(p[:min(int64(len(p)), i.body)])
			i.body -= int64(n)
			return n, err
		}
		if topic := i.subscription; topic != nil {
			i.subscription = nil
			i.subscribed(topic)
		}
		if err := i.next(); err != nil {
			return 0, err
		}
	}
}

// next reads the next frame, or its header.
func (i *inbox) next() error {
	flags, size, header, err := readHeader(i.r)
	if err != nil {
		return err
	}
	if flags&flagCommand != 0 {
		return i.command(flags, size)
	}
	limit := i.limits.message
	if i.role.message > 0 {
		limit = i.role.message
	}
	i.frames++
	if size > uint64(limit-i.size) {
		return violation("message over %d bytes", limit)
	}
	if i.frames > i.limits.frames {
		return violation("message over %d frames", i.limits.frames)
	}
	i.size += int64(size)
	i.more = flags&flagMore != 0
	if i.role.publishes {
		return i.subscribe(header, size)
	}
	if !i.more {
		i.frames, i.size = 0, 0
	}
	if size > passSize {
		return i.collect(header, size)
	}
	i.checked, i.body = header, int64(size)
	return nil
}

// passSize is up to which size the header of a frame is handed on before its
// body has come. The reader behind allocates what a header announces.
const passSize = 64 << 10

// collect reads a large frame whole, so that memory grows with what has come
// and not with what was announced.
func (i *inbox) collect(header []byte, size uint64) error {
	frame := append(make([]byte, 0, len(header)+passSize), header...)
	for missing := int64(size); missing > 0; {
		if len(frame) == cap(frame) {
			grown := make([]byte, len(frame), min(2*cap(frame), len(frame)+int(missing)))
			copy(grown, frame)
			frame = grown
		}
		step := min(int64(cap(frame)-len(frame)), missing)
		end := len(frame)
		frame = frame[:end+int(step)]
		if _, err := io.ReadFull(i.r, frame[end:]); err != nil {
			return err
		}
		missing -= step
	}
	i.checked = frame
	return nil
}

// subscribe reads what a subscriber sends: one frame that is 1 and a topic to
// subscribe, 0 and a topic to cancel that.
func (i *inbox) subscribe(header []byte, size uint64) error {
	if i.more || i.frames > 1 || size == 0 {
		return violation("no subscription")
	}
	i.frames, i.size = 0, 0
	frame := append(header, make([]byte, size)...)
	body := frame[len(header):]
	if _, err := io.ReadFull(i.r, body); err != nil {
		return err
	}
	switch body[0] {
	case 0:
	case 1:
		i.subscription = append([]byte{}, body[1:]...)
	default:
		return violation("no subscription")
	}
	i.checked = frame
	return nil
}

const (
	pingName   = "\x04PING"
	pongName   = "\x04PONG"
	pingTTL    = 2  // bytes behind the name
	maxContext = 16 // bytes behind those, which the answer returns
)

// command answers a PING and drops any other command. None is handed on: the
// reader behind would take it for a message.
func (i *inbox) command(flags byte, size uint64) error {
	if flags&flagMore != 0 || i.more || size > maxCommand {
		return violation("command of %d bytes with flags %#x", size, flags)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(i.r, body); err != nil {
		return err
	}
	if len(body) < 1 || len(body) < 1+int(body[0]) {
		return violation("command without a name")
	}
	if len(body) < len(pingName)+pingTTL || string(body[:len(pingName)]) != pingName {
		return nil
	}
	context := body[len(pingName)+pingTTL:]
	if len(context) > maxContext {
		return violation("PING with a context of %d bytes", len(context))
	}
	frame := append([]byte{flagCommand, byte(len(pongName) + len(context))}, pongName...)
	return i.pong(append(frame, context...))
}
