package parallel

import (
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
}

// gather runs on rank 0: it listens until all other ranks have joined, and sends them the
// table. The listener is kept for the connection of the last rank.
func (j *joining) gather(ctx context.Context) (control []*link, listener *net.TCPListener, err error) {
	begin := time.Now()
	listener, err = j.listen(ctx)
	if err != nil {
		return nil, nil, err
	}
	c := &gathering{
		joining: j, links: make([]*link, j.place.Size), hellos: make([]hello, j.place.Size),
		complete: make(chan struct{}), wrong: make(chan error, 1),
	}
	c.hellos[0] = hello{Ring: listenerAddress(j.place.Address, listener), Host: hostname()}
	var serving sync.WaitGroup
	serving.Go(func() { c.serve(listener, &serving) })
	select {
	case <-c.complete:
	case err = <-c.wrong:
	case <-ctx.Done():
		err = &MissingError{Ranks: c.missing(), Size: j.place.Size, Waited: time.Since(begin), Address: c.hellos[0].Ring}
	}
	if stop := listener.SetDeadline(time.Now()); err == nil {
		err = stop
	}
	c.shut()
	serving.Wait()
	if err == nil {
		err = listener.SetDeadline(time.Time{})
	}
	if err == nil {
		err = c.tell()
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
func (j *joining) listen(ctx context.Context) (*net.TCPListener, error) {
	host, port, err := net.SplitHostPort(j.place.Address)
	if err != nil {
		return nil, &AddressError{j.place.Address, "give it as host:port", err}
	}
	alone := host == "localhost" && j.place.LocalSize == j.place.Size
	if ip := net.ParseIP(host); !alone && (ip == nil || !ip.IsLoopback()) {
		host = ""
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, &AddressError{j.place.Address, "is another run on this machine? Choose another MASTER_PORT for all ranks", err}
	}
	tcp := l.(*net.TCPListener)
	if j.place.store != "" {
		if err := j.publish(ctx, listenerAddress(j.place.Address, tcp)); err != nil {
			return nil, errors.Join(err, l.Close())
		}
	}
	return tcp, nil
}

// listenerAddress returns the port of a listener with the host by which others know it.
func listenerAddress(known string, l net.Listener) string {
	host, _, _ := net.SplitHostPort(known) // it has been listened at, so it is valid
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return net.JoinHostPort(host, port)
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "a machine without a name"
	}
	return name
}

// gathering is the ranks that have joined so far.
type gathering struct {
	*joining
	complete chan struct{} // closed when all have joined
	wrong    chan error    // why the rendezvous has failed

	mu      sync.Mutex
	links   []*link // by rank; this and the following fields are guarded by mu
	hellos  []hello
	came    int
	greeted map[net.Conn]bool // not authenticated yet
	closed  bool
}

// serve accepts connections until the listener's deadline.
func (c *gathering) serve(l *net.TCPListener, serving *sync.WaitGroup) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		serving.Go(func() { c.take(conn) })
	}
}

// take admits a connection if it is a rank of this run.
func (c *gathering) take(conn net.Conn) {
	if !c.open(conn) {
		return
	}
	l, h, err := c.greet(conn, c.judge)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.greeted, conn)
	if err != nil {
		c.forget(h)
		c.log.Warn("parallel: a connection was refused", "from", conn.RemoteAddr(), "error", err)
		_ = conn.Close()
		if refused := (*RefusedError)(nil); errors.As(err, &refused) {
			select {
			case c.wrong <- err:
			default: // only the first error is reported
			}
		}
		return
	}
	c.links[h.Rank], c.hellos[h.Rank] = l, h
	c.came++
	c.log.Info("parallel: a rank has come", "rank", h.Rank, "from", h.Ring, "machine", h.Host)
	if c.came == c.place.Size-1 {
		close(c.complete)
		return
	}
	missing := c.absent()
	for _, l := range c.links {
		if l != nil {
			_ = l.send(table{Missing: missing}) // a lost rank is detected at the end
		}
	}
}

// maxGreeted is the maximum number of unauthenticated connections in addition to the ranks.
const maxGreeted = 64

// open registers an unauthenticated connection.
func (c *gathering) open(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || len(c.greeted) >= maxGreeted+c.place.Size {
		_ = conn.Close()
		return false
	}
	if c.greeted == nil {
		c.greeted = map[net.Conn]bool{}
	}
	c.greeted[conn] = true
	return true
}

// shut closes unauthenticated connections.
func (c *gathering) shut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for conn := range c.greeted {
		_ = conn.Close()
	}
}

// judge returns an error if the rank may not join.
func (c *gathering) judge(h hello) error {
	if h.Size != c.place.Size {
		return fmt.Errorf("it was started with %d ranks, but rank 0 with %d", h.Size, c.place.Size)
	}
	if h.Rank < 1 || h.Rank >= c.place.Size {
		return fmt.Errorf("there is no rank %d among %d, or it is rank 0, which listens", h.Rank, c.place.Size)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hellos[h.Rank].Ring != "" {
		return fmt.Errorf("rank %d has already joined from %s (%s): check whether two processes have the same rank", h.Rank, c.hellos[h.Rank].Ring, c.hellos[h.Rank].Host)
	}
	c.hellos[h.Rank] = h
	return nil
}

// forget removes a rank whose connection has failed. mu is held.
func (c *gathering) forget(h hello) {
	if h.Rank > 0 && h.Rank < c.place.Size && c.links[h.Rank] == nil && string(c.hellos[h.Rank].Nonce) == string(h.Nonce) {
		c.hellos[h.Rank] = hello{}
	}
}

func (c *gathering) missing() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.absent()
}

// absent returns the missing ranks. mu is held.
func (c *gathering) absent() []int {
	var ranks []int
	for r := 1; r < c.place.Size; r++ {
		if c.links[r] == nil {
			ranks = append(ranks, r)
		}
	}
	return ranks
}

// tell sends the table to all ranks.
func (c *gathering) tell() error {
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
			return &LostError{r, c.hellos[r].Ring, "ended before all ranks were there: " + err.Error()}
		}
	}
	return nil
}

// fail tells all joined ranks that the rendezvous has failed.
func (c *gathering) fail(err error) {
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
