package transport

import "time"

// limits bound what a peer can make the kernel do before and without authentication.
// Tests change them.
type limits struct {
	handshake time.Duration // time for greeting and READY
	pending   int           // connections in their handshake; when there are more, the oldest is closed
	peers     int           // connections after their handshake, for each socket

	frames  int   // frames of one message
	message int64 // bytes of the frames of one message

	unverified int64 // bytes of all connections without authentication

	queue    int64         // bytes waiting to be written to one peer
	stall    time.Duration // a peer whose queue is full must read
	progress int64         // at least this many bytes in the time stall
	small    int64         // bytes of the largest message that is not dropped for a lagging peer
	spare    int64         // as long as at most this many bytes wait beyond the queue limit
	batch    int64         // bytes written at once, after which progress is recorded
	linger   time.Duration // how long a closing connection may take to write its queue

	unsent int64 // bytes in the queue of the PUB socket
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
	maxBeats        = 64 << 10 // bytes of heartbeats waiting to be echoed to a peer
	maxReady        = 4 << 10  // bytes of the READY command
	maxCommand      = 1 << 10  // bytes of any other command
)

// role is what the guard knows about its socket.
type role struct {
	name      string
	peers     []string // socket types that may connect
	publishes bool     // PUB: peers send subscriptions
	message   int64    // bytes of a received message; 0 means the common limit
	queue     int64    // bytes waiting to be written to a peer; 0 means the common limit
	signed    bool     // received messages are signed
}

// of returns the limits for a role.
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
