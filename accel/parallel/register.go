package parallel

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// Delays between attempts to reach a rank that is not listening yet.
const (
	firstPause = 20 * time.Millisecond
	lastPause  = time.Second
)

// register runs on all ranks except rank 0: it registers with rank 0 and waits until all ranks have
// done so.
func (j *joiner) register(ctx context.Context) (control []*link, ring *net.TCPListener, err error) {
	begin := time.Now()
	var l *link
	refused, err := again(ctx, func() (err error) {
		l, ring, err = j.dialRank0(ctx)
		return err
	})
	switch {
	case refused:
		return nil, nil, err
	case err != nil:
		return nil, nil, &AddressError{j.info.Address, fmt.Sprintf("rank %d has tried for %v; check that rank 0 runs there", j.info.Rank, time.Since(begin).Round(time.Millisecond)), err}
	}
	t, err := j.await(ctx, l, begin)
	if err != nil {
		l.close()
		return nil, ring, err
	}
	j.session, j.addresses, j.hosts = t.Session, t.Addresses, t.Hosts
	control = make([]*link, j.info.Size)
	control[0] = l
	return control, ring, nil
}

// again calls attempt until it succeeds, rank 0 has refused this process, or ctx is done, and returns the last error for another reason
// than ctx, if there is one.
func again(ctx context.Context, attempt func() error) (refused bool, last error) {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := attempt()
		if _, refused = errors.AsType[*RefusedError](err); refused || err == nil {
			return refused, err
		}
		if last == nil || ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return false, last
		case <-time.After(pause):
		}
	}
}

// dialRank0 dials rank 0 and authenticates this rank.
func (j *joiner) dialRank0(ctx context.Context) (l *link, ring *net.TCPListener, err error) {
	address := j.info.Address
	if j.info.store != "" {
		if address, err = j.lookUp(ctx); err != nil {
			return nil, nil, err
		}
	}
	conn, err := dial(ctx, address)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err == nil {
			return
		}
		_ = conn.Close()
		if ring != nil {
			err = errors.Join(err, ring.Close())
			ring = nil
		}
	}()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	j.reached = address
	// The other ranks reach this machine through the interface that leads to rank 0.
	here := conn.LocalAddr().(*net.TCPAddr)
	interfaces, err := net.InterfaceAddrs()
	if err != nil {
		interfaces = nil // reachable can do without them
	}
	at := reachable(here, address, interfaces)
	if ring, err = net.ListenTCP("tcp", at); err != nil {
		return nil, nil, err
	}
	l, err = j.dialHandshake(conn, 0, hello{Host: hostname(), Ring: ring.Addr().String()})
	return l, ring, err
}

// reachable returns the address at which this machine listens for other ranks: its address in
// the connection to rank 0. If that is a loopback address, as with a host name that /etc/hosts
// maps to 127.0.0.1, it uses the first address of the interfaces.
func reachable(here *net.TCPAddr, rank0 string, interfaces []net.Addr) *net.TCPAddr {
	at := &net.TCPAddr{IP: here.IP, Zone: here.Zone}
	host, _, _ := net.SplitHostPort(rank0) // it has been dialled, so it is valid
	if ip := net.ParseIP(host); !here.IP.IsLoopback() || host == "localhost" || ip != nil && ip.IsLoopback() {
		return at
	}
	for _, a := range interfaces {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() && !n.IP.IsLoopback() {
			return &net.TCPAddr{IP: n.IP}
		}
	}
	return at
}

// dialTime is the time limit of one connection attempt.
const dialTime = 5 * time.Second

func dial(ctx context.Context, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTime}
	return d.DialContext(ctx, "tcp", address)
}

// await waits for the table of all ranks.
func (j *joiner) await(ctx context.Context, l *link, begin time.Time) (table, error) {
	var missing []int
	stop := context.AfterFunc(ctx, func() { _ = l.until(time.Now()) })
	for {
		var t table
		if err := l.receive(&t); err != nil {
			stop()
			if ctx.Err() != nil && missing != nil {
				return t, &MissingError{missing, j.info.Size, time.Since(begin), j.info.Address}
			}
			return t, &LostError{0, j.info.Address, "disconnected before all ranks had joined: " + err.Error()}
		}
		switch {
		case t.Failed != "" && t.Missing != nil:
			return t, &MissingError{t.Missing, j.info.Size, time.Since(begin), j.info.Address}
		case t.Failed != "":
			return t, &LostError{0, j.info.Address, "gave up: " + t.Failed}
		case t.Missing != nil:
			missing = t.Missing
			continue
		}
		if !stop() {
			return t, &LostError{0, j.info.Address, "answered after the timeout"}
		}
		if len(t.Addresses) != j.info.Size || len(t.Hosts) != j.info.Size {
			return t, &LostError{0, j.info.Address, "sent addresses for another number of ranks; start all ranks with the same program"}
		}
		return t, nil
	}
}

// connect joins the ring: it dials the next rank while the previous one dials this rank.
func (j *joiner) connect(ctx context.Context, ring *net.TCPListener) (next, previous *link, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type end struct {
		link *link
		err  error
	}
	accepted := make(chan end, 1)
	go func() {
		l, err := j.accept(ctx, ring)
		accepted <- end{l, err}
	}()
	to := (j.info.Rank + 1) % j.info.Size
	next, err = j.reach(ctx, to)
	if err != nil {
		cancel()
	}
	other := <-accepted
	if err == nil {
		err = other.err
	}
	if err != nil {
		for _, l := range []*link{next, other.link} {
			if l != nil {
				l.close()
			}
		}
		return nil, nil, err
	}
	return next, other.link, nil
}

// reach connects to the next rank.
func (j *joiner) reach(ctx context.Context, to int) (*link, error) {
	address := j.addresses[to]
	if to == 0 { // rank 0's name for itself may mean another machine here
		address = atHost(j.reached, address)
	}
	conn, err := dial(ctx, address)
	if err != nil {
		return nil, &LostError{to, j.addresses[to], "cannot be reached from rank " + fmt.Sprint(j.info.Rank) + ": " + err.Error()}
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	l, err := j.dialHandshake(conn, to, hello{})
	if err != nil {
		_ = conn.Close()
		return nil, &LostError{to, j.addresses[to], "did not connect: " + err.Error()}
	}
	return l, nil
}

// accept waits for the connection of the previous rank.
func (j *joiner) accept(ctx context.Context, ring *net.TCPListener) (*link, error) {
	from := (j.info.Rank + j.info.Size - 1) % j.info.Size
	defer context.AfterFunc(ctx, func() { _ = ring.SetDeadline(time.Now()) })()
	for {
		conn, err := ring.Accept()
		if err != nil {
			return nil, &LostError{from, j.addresses[from], "has not connected: " + err.Error()}
		}
		l, _, err := j.acceptHandshake(conn, func(h hello) error {
			if h.Rank != from || string(h.Session) != string(j.session) {
				return fmt.Errorf("only rank %d of this group may connect here", from)
			}
			return nil
		})
		if err == nil {
			return l, nil
		}
		j.log.Warn("parallel: rejected a connection", "from", conn.RemoteAddr(), "error", err)
		_ = conn.Close()
	}
}
