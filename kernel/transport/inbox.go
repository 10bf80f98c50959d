package transport

import (
	"io"
)

// inbox checks what a peer sends and passes it on frame by frame. It is used by one
// goroutine.
type inbox struct {
	r       io.Reader
	role    role
	limits  limits
	checked []byte // checked bytes to be read next
	body    int64  // bytes left of the current frame, which need no check

	// The message that is being read.
	frames int
	size   int64
	more   bool

	// subscription has been passed on. It is in effect when zmq4 asks for the next byte.
	subscription []byte
	subscribed   func(topic []byte)
	topics       map[string]struct{} // subscriptions in effect
	topicBytes   int                 // memory that the topics take

	// Until the first message with a valid signature, each message is kept here as a
	// whole.
	verify   func(frames [][]byte) error // nil: all messages are passed on
	refused  func(error)                 // called with the error of a message that verify rejects
	memory   *memoryShare                // counts the memory; nil if it is not counted
	verified bool
	message  [][]byte // frames with their headers
	bodies   [][]byte // the same frames without their headers
	waiting  [][]byte // frames of a verified message to be read next

	pong func(frame []byte) error // sends the reply to a PING
}

// Read returns bytes of frames that have been checked.
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
		return violation("message larger than %d bytes", limit)
	}
	if i.frames > i.limits.frames {
		return violation("message with more than %d frames", i.limits.frames)
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

// passSize is the largest frame whose header is passed on before its body has arrived.
// zmq4 allocates the size that a header announces.
const passSize = 64 << 10

// frameOverhead is approximately the memory of a frame in addition to its bytes.
const frameOverhead = 64

// gather adds a frame to the message of a peer that has not been authenticated. When the
// message is complete it is passed on if its signature is valid, and dropped otherwise.
func (i *inbox) gather(header []byte, size uint64) error {
	if err := i.memory.take(frameOverhead); err != nil {
		return err
	}
	frame, err := readGrowing(i.r, header, int64(size), i.memory)
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
		i.memory.release()
		i.refused(err)
		return nil
	}
	i.memory.authenticate()
	i.verified, i.waiting = true, message
	return nil
}

// subscribe reads a message of a subscriber: one frame of a 1 and a topic to subscribe,
// or of a 0 and a topic to unsubscribe.
func (i *inbox) subscribe(header []byte, size uint64) error {
	if i.more || i.frames > 1 || size == 0 {
		return violation("not a subscription")
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
				return violation("subscriptions of %d bytes, the limit is %d", i.topicBytes, maxTopics)
			}
			if i.topics == nil {
				i.topics = map[string]struct{}{}
			}
			i.topics[topic] = struct{}{}
		}
		i.subscription = append([]byte{}, body[1:]...)
	default:
		return violation("not a subscription")
	}
	i.checked = frame
	return nil
}

const (
	pingName   = "\x04PING"
	pongName   = "\x04PONG"
	pingTTL    = 2  // bytes after the name
	maxContext = 16 // bytes after the TTL, which the reply echoes
)

// command replies to a PING and drops any other command. It passes none on, because zmq4
// would take it for a message.
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
