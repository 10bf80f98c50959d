package transport

import "time"

// limits bound what a peer can make the kernel do before, and without, anybody
// knowing its key. They are variable for the tests.
type limits struct {
	handshake time.Duration // for greeting and READY
	pending   int           // connections in their handshake; more push out the oldest
	peers     int           // connections behind their handshake, for each socket

	frames  int   // of one message
	message int64 // bytes of the frames of one message

	unverified int64 // bytes of all connections whose peers have not sent a valid signature

	queue    int64         // bytes that wait to be written to one peer
	stall    time.Duration // a peer whose queue is full has to take,
	progress int64         // in this time, at least so many bytes
	small    int64         // bytes of a message that is kept where larger ones are dropped,
	spare    int64         // while no more than these bytes wait beyond the queue
	batch    int64         // bytes that are written at once: so often progress is seen
	linger   time.Duration // for what waits when a connection is closed

	unsent int64 // bytes on their way through the PUB socket
}

var defaultLimits = limits{
	handshake: 10 * time.Second,
	pending:   256,
	peers:     1024,
	frames:    2048,
	message:   512 << 20,

	unverified: 32 << 20,

	queue:    64 << 20,
	stall:    time.Second,
	progress: 256 << 10,
	small:    2 << 10,
	spare:    1 << 20,
	batch:    256 << 10,
	linger:   500 * time.Millisecond,
	unsent:   4 << 20,
}

const (
	maxSubscription = 4 << 10  // bytes of a subscription
	maxTopics       = 8 << 10  // bytes of all subscriptions of a peer
	maxBeat         = 4 << 10  // bytes of a heartbeat
	maxBeats        = 64 << 10 // bytes of heartbeats that wait to be sent back to a peer
	maxReady        = 4 << 10  // bytes of the READY command
	maxCommand      = 1 << 10  // bytes of any other command
)

// role is what the guard has to know of a socket.
type role struct {
	name      string
	peers     []string // socket types that may connect
	publishes bool     // PUB: what comes in are subscriptions
	message   int64    // bytes of a message that comes in; 0 is the limit for all
	queue     int64    // bytes that wait to be written to a peer; 0 is the limit for all
	signed    bool     // what comes in is signed
}

// of are the limits of a role.
func (l limits) of(r role) limits {
	if r.queue > 0 {
		l.queue = r.queue
	}
	return l
}

func roleOf(channel Channel) role {
	switch channel {
	case IOPub:
		return role{name: channel.String(), peers: []string{"SUB", "XSUB"}, publishes: true, message: maxSubscription}
	case heartbeat:
		return role{name: channel.String(), peers: []string{"REQ", "DEALER"}, message: maxBeat, queue: maxBeats}
	default:
		return role{name: channel.String(), peers: []string{"DEALER", "REQ", "ROUTER"}, signed: true}
	}
}
