package transport

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zeromq/zmq4"
	zmqtransport "github.com/go-zeromq/zmq4/transport"

	"github.com/quernlab/quern/kernel/transport/early"
)

// guard stands between the network and one zmq4 socket. zmq4 uses it as a registered
// transport.
type guard struct {
	role       role
	network    string
	address    string
	limits     limits
	curve      *curveKeys // nil: nothing is encrypted
	log        *slog.Logger
	subscribed func(topic []byte)   // called when a subscription is in effect
	first      func([]byte) bool    // reports whether a frame is of the message that a subscriber must receive first; may be nil
	verify     func([][]byte) error // returns nil for a message with a valid signature; may be nil
	memory     *memoryLimit         // memory of peers that have not been authenticated

	listener net.Listener
	ready    chan net.Conn // connections that have completed their handshake
	done     chan struct{} // closed when the listener is
	once     sync.Once
	running  sync.WaitGroup // all goroutines of the guard

	mu      sync.Mutex
	pending []net.Conn // connections in their handshake, oldest first
	peers   map[*peer]struct{}
}

var _ zmqtransport.Transport = (*guard)(nil)

func newGuard(role role, network, address string, limits limits, log *slog.Logger, subscribed func([]byte)) *guard {
	return &guard{
		role:       role,
		network:    network,
		address:    address,
		limits:     limits,
		log:        log.With("channel", role.name),
		subscribed: subscribed,
		ready:      make(chan net.Conn),
		done:       make(chan struct{}),
		peers:      map[*peer]struct{}{},
		memory:     newMemoryLimit(limits.unverified),
	}
}

// registered counts the transports registered with zmq4. It keeps them by name and cannot
// unregister them.
var registered atomic.Uint64

// listen makes a socket listen behind the guard.
func (g *guard) listen(socket zmq4.Socket) error {
	name := fmt.Sprintf("quern-%d", registered.Add(1))
	if err := zmq4.RegisterTransport(name, g); err != nil {
		return err
	}
	if err := socket.Listen(name + "://" + g.address); err != nil {
		var network *net.OpError
		if errors.As(err, &network) {
			return network.Err
		}
		return err
	}
	return nil
}

// Dial is not supported: a kernel only listens.
func (g *guard) Dial(context.Context, zmqtransport.Dialer, string) (net.Conn, error) {
	return nil, errors.ErrUnsupported
}

// Addr returns the address of an endpoint.
func (g *guard) Addr(endpoint string) (string, error) { return endpoint, nil }

// Listen listens on the address of the guard.
func (g *guard) Listen(ctx context.Context, address string) (net.Listener, error) {
	if g.network == "unix" {
		removeStale(address)
	}
	l := takeEarly(g.network, address)
	if l == nil {
		var config net.ListenConfig
		var err error
		if l, err = config.Listen(ctx, g.network, address); err != nil {
			return nil, err
		}
	}
	if g.network == "unix" {
		if err := os.Chmod(address, 0o600); err != nil {
			l.Close()
			return nil, err
		}
	}
	g.listener = l
	g.running.Go(g.accept)
	return (*guardListener)(g), nil
}

// takeEarly returns the listener that package early has created for an address, or nil.
func takeEarly(network, address string) net.Listener {
	host, text, err := net.SplitHostPort(address)
	port, err2 := strconv.Atoi(text)
	if network != "tcp" || err != nil || err2 != nil {
		return nil
	}
	fd, ok := early.Take(host, port)
	if !ok {
		return nil
	}
	f := os.NewFile(fd, address)
	defer f.Close()
	l, err := net.FileListener(f)
	if err != nil {
		return nil // the port is free to be bound again
	}
	return l
}

// removeStale removes a socket file that a killed kernel has left behind.
func removeStale(path string) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&os.ModeSocket == 0 {
		return
	}
	if conn, err := net.DialTimeout("unix", path, time.Second); err == nil {
		conn.Close() // another process is listening
		return
	}
	// If it cannot be removed, the error of listening will say so.
	_ = os.Remove(path)
}

// guardListener is the guard as the listener from which zmq4 accepts connections.
type guardListener guard

// Accept returns the next connection that has completed its handshake.
func (l *guardListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.ready:
		return conn, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close stops listening and closes the connections that zmq4 does not have yet.
func (l *guardListener) Close() error {
	var err error
	l.once.Do(func() {
		close(l.done)
		err = l.listener.Close()
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, conn := range l.pending {
			conn.Close()
		}
	})
	return err
}

// Addr returns where the guard listens.
func (l *guardListener) Addr() net.Addr { return l.listener.Addr() }

// acceptAgain is how long to wait when accepting fails, usually because there are no more
// file descriptors.
const acceptAgain = 20 * time.Millisecond

func (g *guard) accept() {
	for {
		conn, err := g.listener.Accept()
		if err != nil {
			select {
			case <-g.done:
				return
			case <-time.After(acceptAgain):
			}
			g.log.Debug("accept", "error", err)
			continue
		}
		if !g.admit(conn) {
			conn.Close()
			continue
		}
		g.running.Go(func() {
			p, err := g.handshake(conn)
			g.dismiss(conn)
			if err != nil {
				conn.Close()
				g.log.Debug("connection rejected", "peer", conn.RemoteAddr(), "error", err)
				return
			}
			g.enter(p)
		})
	}
}

// admit adds a connection to those in their handshake. If there are too many, the oldest
// is closed: an honest peer needs only milliseconds.
func (g *guard) admit(conn net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.peers) >= g.limits.peers || closed(g.done) {
		return false
	}
	if len(g.pending) >= g.limits.pending {
		g.pending[0].Close()
		g.pending = g.pending[1:]
	}
	g.pending = append(g.pending, conn)
	return true
}

func (g *guard) dismiss(conn net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, c := range g.pending {
		if c == conn {
			g.pending = append(g.pending[:i:i], g.pending[i+1:]...)
			return
		}
	}
}

// handshake exchanges greetings with a peer and reads its READY command. zmq4 sends our
// own READY.
func (g *guard) handshake(conn net.Conn) (*peer, error) {
	if err := conn.SetDeadline(time.Now().Add(g.limits.handshake)); err != nil {
		return nil, err
	}
	raw := conn
	held := g.memory.share(func() {
		g.log.Warn("client disconnected: it uses the most memory of all clients without a valid signature", "peer", raw.RemoteAddr())
		raw.Close()
	})
	p, err := g.greet(conn, held)
	if err != nil {
		held.release()
	}
	return p, err
}

// greet does the handshake, after the deadline has been set.
func (g *guard) greet(conn net.Conn, held *memoryShare) (*peer, error) {
	if g.curve != nil {
		limit := g.limits.message
		if g.role.message > 0 {
			limit = g.role.message
		}
		encrypted, err := acceptCurve(conn, g.curve, limit, held)
		if err != nil {
			return nil, err
		}
		conn = encrypted
	} else if _, err := conn.Write(greeting()); err != nil {
		return nil, err
	}
	r := bufio.NewReader(conn)
	opening, err := readGreeting(r)
	if err != nil {
		return nil, err
	}
	ready, err := readReady(r, g.role.peers)
	if err != nil {
		return nil, err
	}
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return nil, err
	}
	log := g.log.With("peer", conn.RemoteAddr())
	p := &peer{
		Conn:   conn,
		guard:  g,
		log:    log,
		outbox: newOutbox(conn, g.limits.of(g.role), g.role.publishes, log),
		inbox: inbox{
			r: r, role: g.role, limits: g.limits,
			checked: append(opening, ready...),
			memory:  held,
		},
		// zmq4 sends a greeting too, which the peer has already received.
		assembler: assembler{skip: greetingBytes},
	}
	p.inbox.subscribed = p.onSubscribe
	p.inbox.pong = p.outbox.pong
	if g.role.signed {
		p.inbox.verify = g.verify
		p.inbox.refused = func(err error) { log.Warn("message rejected", "error", err) }
	}
	return p, nil
}

// enter passes a connection to zmq4.
func (g *guard) enter(p *peer) {
	g.mu.Lock()
	g.peers[p] = struct{}{}
	g.running.Go(p.outbox.run)
	g.mu.Unlock()
	select {
	case g.ready <- p:
	case <-g.done:
		p.Close()
	}
}

// drain waits until all that zmq4 has sent has been written.
func (g *guard) drain(ctx context.Context) error {
	g.mu.Lock()
	var boxes []*outbox
	for p := range g.peers {
		boxes = append(boxes, p.outbox)
	}
	g.mu.Unlock()
	var errs []error
	for _, o := range boxes {
		errs = append(errs, o.drain(ctx))
	}
	return errors.Join(errs...)
}

// close closes all connections and waits for the goroutines of the guard.
func (g *guard) close() {
	if g.listener != nil {
		(*guardListener)(g).Close()
	}
	g.mu.Lock()
	peers := make([]*peer, 0, len(g.peers))
	for p := range g.peers {
		peers = append(peers, p)
	}
	g.mu.Unlock()
	for _, p := range peers {
		p.Close()
	}
	g.running.Wait()
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
