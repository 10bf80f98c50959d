package parallel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"
)

// table is the message of rank 0 to the ranks that have joined.
type table struct {
	Missing []int // ranks that have not joined yet; empty when complete

	Session   []byte   // identifies this group
	Addresses []string // where each rank listens for the previous one
	Hosts     []string // names of their machines

	Failed string // why the rendezvous has failed

	Wait bool // the process waits for a rank in an elastic group
	Rank int  // its rank in an elastic group
}

// gather runs on rank 0: it listens until all other ranks have joined, and sends them the
// table. The listener is kept for the connection of the last rank.
func (j *joiner) gather(ctx context.Context) (control []*link, listener *net.TCPListener, err error) {
	begin := time.Now()
	listener, err = j.listen(ctx)
	if err != nil {
		return nil, nil, err
	}
	c := &rendezvous{
		joiner: j, links: make([]*link, j.info.Size), hellos: make([]hello, j.info.Size),
		complete: make(chan struct{}), failed: make(chan error, 1),
	}
	c.hellos[0] = hello{Ring: atHost(j.info.Address, listener.Addr().String()), Host: hostname()}
	receiving, stop := context.WithCancel(ctx)
	defer stop()
	var serving sync.WaitGroup
	serving.Go(func() { j.receive(receiving, listener, &serving, j.info.Size, c.checkHello, c.admit) })
	select {
	case <-c.complete:
	case err = <-c.failed:
	case <-ctx.Done():
	}
	stop()
	err = cmp.Or(err, listener.SetDeadline(time.Now()))
	serving.Wait()
	if missing := c.missing(); err == nil && len(missing) > 0 {
		err = &MissingError{Ranks: missing, Size: j.info.Size, Waited: time.Since(begin), Address: c.hellos[0].Ring}
	}
	if err == nil {
		err = listener.SetDeadline(time.Time{})
	}
	if err == nil {
		err = c.sendTable()
	}
	if err != nil {
		c.fail(err)
		return nil, listener, err
	}
	return c.links, listener, nil
}

// listen opens the address of rank 0. Without a secret it listens only on the loopback
// interface, otherwise on all interfaces, because the other ranks may resolve the name of the
// machine to another address. The name localhost does not mean loopback only: Kubeflow's
// PyTorchJob sets it for rank 0, and the name of rank 0's machine for the others.
func (j *joiner) listen(ctx context.Context) (*net.TCPListener, error) {
	if j.listening != nil {
		return j.listening, nil
	}
	host, port, err := net.SplitHostPort(j.info.Address)
	if err != nil {
		return nil, &AddressError{j.info.Address, "write it as host:port", err}
	}
	alone := host == "localhost" && j.info.LocalSize == j.info.Size
	if ip := net.ParseIP(host); !alone && (ip == nil || !ip.IsLoopback()) {
		host = ""
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, &AddressError{j.info.Address, "if another run uses the port, set another MASTER_PORT for all ranks", err}
	}
	tcp := l.(*net.TCPListener)
	if j.info.store != "" {
		if err := j.publish(ctx, atHost(j.info.Address, tcp.Addr().String())); err != nil {
			return nil, errors.Join(err, l.Close())
		}
	}
	return tcp, nil
}

// atHost returns the port of an address with the host of another one, by which its machine is known here. Both are in use, so
// they are valid.
func atHost(known, address string) string {
	host, _, _ := net.SplitHostPort(known)
	_, port, _ := net.SplitHostPort(address)
	return net.JoinHostPort(host, port)
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown host"
	}
	return name
}

// rendezvous is the ranks that have joined so far.
type rendezvous struct {
	*joiner
	complete chan struct{} // closed when all have joined
	failed   chan error    // why the rendezvous has failed

	mu     sync.Mutex
	links  []*link // by rank; this and the following field are guarded by mu
	hellos []hello
}

// maxPending is the maximum number of unauthenticated connections in addition to the ranks.
const maxPending = 64

// receive authenticates the processes that connect to a listener, until ctx is done and Accept ends. admit is called with the outcome
// of each; the connection of a process that is rejected has been closed. It runs each handshake in a goroutine of serving.
func (j *joiner) receive(ctx context.Context, listener net.Listener, serving *sync.WaitGroup, ranks int, check func(hello) error, admit func(*link, hello, error)) {
	pending := make(chan struct{}, maxPending+ranks) // has an element for each handshake
	for ctx.Err() == nil {
		conn, err := listener.Accept()
		if err != nil { // such as too many open files
			select {
			case <-ctx.Done():
			case <-time.After(lastPause):
			}
			continue
		}
		select {
		case pending <- struct{}{}:
		default:
			_ = conn.Close()
			continue
		}
		serving.Go(func() {
			defer func() { <-pending }()
			stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
			l, h, err := j.acceptHandshake(conn, check)
			if !stop() {
				err = cmp.Or(err, ctx.Err())
			}
			if err != nil {
				j.log.Warn("parallel: rejected a connection", "from", conn.RemoteAddr(), "error", err)
				_ = conn.Close()
			}
			admit(l, h, err)
		})
	}
}

// admit records a rank of this run, or that a process was rejected.
func (c *rendezvous) admit(l *link, h hello, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.removeHello(h)
		if refused := (*RefusedError)(nil); errors.As(err, &refused) {
			select {
			case c.failed <- err:
			default: // only the first error is reported
			}
		}
		return
	}
	c.links[h.Rank], c.hellos[h.Rank] = l, h
	c.log.Info("parallel: a rank joined", "rank", h.Rank, "from", h.Ring, "machine", h.Host)
	missing := c.missing()
	if len(missing) == 0 {
		close(c.complete)
		return
	}
	for _, l := range c.links {
		if l != nil {
			_ = l.send(table{Missing: missing}) // a lost rank is detected at the end
		}
	}
}

// checkHello returns an error if the rank may not join.
func (c *rendezvous) checkHello(h hello) error {
	if h.Least > 0 {
		return fmt.Errorf("it was started with parallel.Elastic, but rank 0 with parallel.Join as one of %d ranks", c.info.Size)
	}
	if h.Size != c.info.Size {
		return fmt.Errorf("it was started with %d ranks, but rank 0 with %d", h.Size, c.info.Size)
	}
	if h.Rank < 1 || h.Rank >= c.info.Size {
		return fmt.Errorf("rank %d is not between 1 and %d, the ranks that may join", h.Rank, c.info.Size-1)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hellos[h.Rank].Ring != "" {
		return fmt.Errorf("rank %d has already joined from %s (%s): check whether two processes have the same rank", h.Rank, c.hellos[h.Rank].Ring, c.hellos[h.Rank].Host)
	}
	c.hellos[h.Rank] = h
	return nil
}

// removeHello removes a rank whose connection has failed. mu is held.
func (c *rendezvous) removeHello(h hello) {
	if h.Rank > 0 && h.Rank < c.info.Size && c.links[h.Rank] == nil && string(c.hellos[h.Rank].Nonce) == string(h.Nonce) {
		c.hellos[h.Rank] = hello{}
	}
}

// missing returns the missing ranks. mu is held, or no handshake runs any more.
func (c *rendezvous) missing() []int {
	var ranks []int
	for r := 1; r < c.info.Size; r++ {
		if c.links[r] == nil {
			ranks = append(ranks, r)
		}
	}
	return ranks
}

// sendTable sends the table to all ranks.
func (c *rendezvous) sendTable() error {
	c.session = nonce()
	t := table{Session: c.session}
	for _, h := range c.hellos {
		t.Addresses, t.Hosts = append(t.Addresses, h.Ring), append(t.Hosts, h.Host)
	}
	c.addresses, c.hosts = t.Addresses, t.Hosts
	for r, l := range c.links {
		if l == nil {
			continue
		}
		if err := l.send(t); err != nil {
			return &LostError{r, c.hellos[r].Ring, "disconnected before all ranks had joined: " + err.Error()}
		}
	}
	return nil
}

// fail tells all joined ranks that the rendezvous has failed.
func (c *rendezvous) fail(err error) {
	t := table{Failed: err.Error()}
	if m := (*MissingError)(nil); errors.As(err, &m) {
		t.Missing = m.Ranks
	}
	for _, l := range c.links {
		if l != nil {
			_ = l.until(time.Now().Add(time.Second)) // the rank may be gone too
			_ = l.send(t)
			l.close()
		}
	}
}
