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

// table is what rank 0 tells those that have come.
type table struct {
	Missing []int // who has not come yet; none once all are there

	Session   []byte   // the name of this group
	Addresses []string // where each rank listens for the one before it
	Hosts     []string // the names of their machines

	Failed string // why there will be no group
}

// gather is what rank 0 does: it listens until all others have come, and tells them
// of each other. The listener is handed on for the connection of the last rank.
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

// listen opens the address of rank 0, on all interfaces unless it is of this machine
// alone, which it is without a secret: the others may know the machine by a name that leads elsewhere first. The name
// localhost is not enough for that: Kubeflow's PyTorchJob gives it to rank 0, and to the
// other machines the name of rank 0's.
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

// listenerAddress is a listener's port at the host by which others know it.
func listenerAddress(known string, l net.Listener) string {
	host, _, _ := net.SplitHostPort(known) // which has been listened at
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

// gathering is the ranks that have come so far.
type gathering struct {
	*joining
	complete chan struct{} // closed when all are there
	wrong    chan error    // why there will be no group

	mu      sync.Mutex
	links   []*link // by rank; guarded by mu, as is what follows
	hellos  []hello
	came    int
	greeted map[net.Conn]bool // that have not yet said who they are
	closed  bool
}

// serve takes connections until the listener's deadline.
func (c *gathering) serve(l *net.TCPListener, serving *sync.WaitGroup) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		serving.Go(func() { c.take(conn) })
	}
}

// take lets a connection in, if it is a rank of this run.
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
			default: // the first is the one to tell
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
			_ = l.send(table{Missing: missing}) // one that is gone is noticed in the end
		}
	}
}

// mostGreeted is how many strangers may be asked at once who they are, beside the ranks.
const mostGreeted = 64

// open notes a connection that is to say who it is.
func (c *gathering) open(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || len(c.greeted) >= mostGreeted+c.place.Size {
		_ = conn.Close()
		return false
	}
	if c.greeted == nil {
		c.greeted = map[net.Conn]bool{}
	}
	c.greeted[conn] = true
	return true
}

// shut drops those that have not said who they are.
func (c *gathering) shut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for conn := range c.greeted {
		_ = conn.Close()
	}
}

// judge tells whether a rank may join.
func (c *gathering) judge(h hello) error {
	if h.Size != c.place.Size {
		return fmt.Errorf("it was started as one of %d ranks, and rank 0 as one of %d", h.Size, c.place.Size)
	}
	if h.Rank < 1 || h.Rank >= c.place.Size {
		return fmt.Errorf("there is no rank %d among %d, or it is rank 0, which listens", h.Rank, c.place.Size)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hellos[h.Rank].Ring != "" {
		return fmt.Errorf("rank %d is there already, at %s (%s): were two started with the same number?", h.Rank, c.hellos[h.Rank].Ring, c.hellos[h.Rank].Host)
	}
	c.hellos[h.Rank] = h
	return nil
}

// forget takes back that a rank has come whose connection has failed since. mu is
// held.
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

// absent is missing, with mu held.
func (c *gathering) absent() []int {
	var ranks []int
	for r := 1; r < c.place.Size; r++ {
		if c.links[r] == nil {
			ranks = append(ranks, r)
		}
	}
	return ranks
}

// tell gives all ranks the table.
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

// fail tells those that have come that there will be no group.
func (c *gathering) fail(err error) {
	t := table{Failed: err.Error()}
	if m := (*MissingError)(nil); errors.As(err, &m) {
		t.Missing = m.Ranks
	}
	for _, l := range c.links {
		if l != nil {
			_ = l.until(time.Now().Add(time.Second)) // it may be gone as well
			_ = l.send(t)
			l.close()
		}
	}
}
