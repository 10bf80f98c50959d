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
	topics       map[string]struct{} // subscriptions in effect
	topicBytes   int                 // that the topics take

	// Until the first message with a valid signature a message is kept here whole.
	verify   func(frames [][]byte) error // nil: all are passed on as they come
	refused  func(error)                 // reports a message that verify rejects
	holding  *holding                    // nil: not counted
	verified bool
	message  [][]byte // frames with their headers
	bodies   [][]byte // of those
	waiting  [][]byte // frames of a verified message that are to be read

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
		case len(i.waiting) > 0:
			i.checked, i.waiting = i.waiting[0], i.waiting[1:]
			continue
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
	if i.verify != nil && !i.verified {
		return i.gather(header, size)
	}
	if size > passSize {
		i.checked, err = readGrowing(i.r, header, int64(size), nil)
		return err
	}
	i.checked, i.body = header, int64(size)
	return nil
}

// passSize is up to which size the header of a frame is handed on before its
// body has come. The reader behind allocates what a header announces.
const passSize = 64 << 10

// frameOverhead is about what a frame takes beyond its bytes.
const frameOverhead = 64

// gather adds a frame to the message of a peer that has not shown yet that it knows
// the key. When the message is whole it is passed on, or dropped.
func (i *inbox) gather(header []byte, size uint64) error {
	if err := i.holding.take(frameOverhead); err != nil {
		return err
	}
	frame, err := readGrowing(i.r, header, int64(size), i.holding)
	if err != nil {
		return err
	}
	i.message = append(i.message, frame)
	i.bodies = append(i.bodies, frame[len(header):])
	if i.more {
		return nil
	}
	message, bodies := i.message, i.bodies
	i.message, i.bodies = nil, nil
	if err := i.verify(bodies); err != nil {
		i.holding.release()
		i.refused(err)
		return nil
	}
	i.holding.trust()
	i.verified, i.waiting = true, message
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
	topic := string(body[1:])
	_, subscribed := i.topics[topic]
	switch body[0] {
	case 0:
		if subscribed {
			delete(i.topics, topic)
			i.topicBytes -= len(topic) + frameOverhead
		}
	case 1:
		if !subscribed {
			i.topicBytes += len(topic) + frameOverhead
			if i.topicBytes > maxTopics {
				return violation("subscriptions of %d bytes", i.topicBytes)
			}
			if i.topics == nil {
				i.topics = map[string]struct{}{}
			}
			i.topics[topic] = struct{}{}
		}
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
