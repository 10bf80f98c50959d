package parallel

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"
)

// door is where processes come that want to be in an elastic group. The process with rank 0 keeps it open while the group
// works. Those who have come, the guests, wait until they get a rank.
type door struct {
	joiner   *joiner
	most     int
	listener *net.TCPListener
	came     chan struct{} // receives after a guest has come; has room for one
	stop     func()        // ends the goroutines of serving
	serving  sync.WaitGroup

	mu      sync.Mutex
	waiting []guest   // in the order in which they came; guarded by mu
	latest  time.Time // when a guest came last; guarded by mu
}

// guest is a process that waits for a rank.
type guest struct {
	link  *link
	hello hello
}

// open opens the door.
func (e *elastic) open(l *net.TCPListener) *door {
	ctx, stop := context.WithCancel(context.Background()) // close calls stop
	d := &door{joiner: &e.joiner, most: e.most, listener: l, came: make(chan struct{}, 1), stop: stop, latest: time.Now()}
	d.serving.Go(func() { d.joiner.receive(ctx, l, &d.serving, d.most, d.checkHello, d.admit) })
	d.serving.Go(func() { d.comfort(ctx) })
	return d
}

// close closes the door. Guests get an error and look for another one. It does nothing without a door.
func (d *door) close() error {
	if d == nil {
		return nil
	}
	d.stop()
	err := d.listener.Close()
	d.serving.Wait()
	for _, g := range d.waiting {
		g.link.close()
	}
	return err
}

// admit lets a process wait for a rank, unless it was rejected.
func (d *door) admit(l *link, h hello, err error) {
	if err != nil {
		return
	}
	d.joiner.log.Info("parallel: a process came", "from", h.Ring, "machine", h.Host)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting, d.latest = append(d.waiting, guest{l, h}), time.Now()
	select {
	case d.came <- struct{}{}:
	default:
	}
}

// checkHello returns an error if a process may not be in the group.
func (d *door) checkHello(h hello) error {
	if h.Least == 0 {
		return fmt.Errorf("it was started with parallel.Join as one of %d ranks, but rank 0 with parallel.Elastic(…, %d, %d, …)", h.Size, d.joiner.least, d.most)
	}
	if h.Least != d.joiner.least || h.Size != d.most {
		return fmt.Errorf("it was started with parallel.Elastic(…, %d, %d, …), but rank 0 with parallel.Elastic(…, %d, %d, …)", h.Least, h.Size, d.joiner.least, d.most)
	}
	return nil
}

// comfort sends each guest a message in regular intervals, so that guests notice when rank 0 is gone, and rank 0 when a
// guest is.
func (d *door) comfort(ctx context.Context) {
	ticker := time.NewTicker(d.joiner.heartbeatTimeout / heartbeatsPerTimeout)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		d.mu.Lock()
		d.waiting = slices.DeleteFunc(d.waiting, func(g guest) bool {
			err := g.link.sendWithin(table{Wait: true}, time.Second)
			if err != nil {
				g.link.close()
			}
			return err != nil
		})
		d.mu.Unlock()
	}
}

// guests returns the number of guests.
func (d *door) guests() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.waiting)
}

// lastCall is how long a group that could be larger waits after a guest has come for the next one.
const lastCall = 10 * time.Second

// enough returns the guests of the next group when they are enough; wait is otherwise how long to wait for another one, at most.
func (e *elastic) enough() (group []guest, wait time.Duration) {
	d := e.door
	d.mu.Lock()
	defer d.mu.Unlock()
	known := func(g guest) bool { return len(e.session) > 0 && string(g.hello.Session) == string(e.session) }
	before := 1
	for _, g := range d.waiting {
		if known(g) {
			before++
		}
	}
	n := 1 + len(d.waiting)
	wait = time.Until(d.latest.Add(lastCall))
	switch {
	case n >= e.most:
	case n < e.least:
		return nil, lastCall
	case e.remaining > 0 && before >= e.remaining:
	case wait > 0:
		return nil, wait
	}
	// The ranks of the last group come first, then the others in the order in which they came.
	slices.SortStableFunc(d.waiting, func(a, b guest) int {
		switch {
		case known(a) == known(b):
			return 0
		case known(a):
			return -1
		}
		return 1
	})
	take := min(len(d.waiting), e.most-1)
	group = slices.Clone(d.waiting[:take])
	d.waiting = slices.Clone(d.waiting[take:])
	return group, 0
}

// gatherGuests waits until enough processes are there, and gives them their ranks. Ranks on one machine are neighbors.
func (e *elastic) gatherGuests(ctx context.Context, j *joiner) (control []*link, ring *net.TCPListener, err error) {
	e.door.mu.Lock()
	e.door.latest = time.Now()
	e.door.mu.Unlock()
	var group []guest
	for {
		var wait time.Duration
		if group, wait = e.enough(); wait <= 0 {
			break
		}
		select {
		case <-e.door.came:
		case <-time.After(wait):
		case <-ctx.Done():
			missing := make([]int, 0, e.least)
			for r := 1 + e.door.guests(); r < e.least; r++ {
				missing = append(missing, r)
			}
			if len(missing) == 0 {
				return nil, nil, ctx.Err()
			}
			return nil, nil, &MissingError{Ranks: missing, Size: e.least, Address: e.info.Address}
		}
	}
	host := hostname()
	slices.SortStableFunc(group, func(a, b guest) int {
		switch {
		case a.hello.Host == b.hello.Host:
			return 0
		case a.hello.Host == host:
			return -1
		case b.hello.Host == host:
			return 1
		}
		return strings.Compare(a.hello.Host, b.hello.Host)
	})
	at := *e.door.listener.Addr().(*net.TCPAddr)
	at.Port = 0
	if ring, err = net.ListenTCP("tcp", &at); err != nil {
		return nil, nil, err
	}
	j.info.Rank, j.info.Size, j.session = 0, 1+len(group), nonce()
	j.addresses, j.hosts = []string{atHost(e.info.Address, ring.Addr().String())}, []string{host}
	control = []*link{nil}
	for i, g := range group {
		g.link.rank = i + 1
		control = append(control, g.link)
		j.addresses, j.hosts = append(j.addresses, g.hello.Ring), append(j.hosts, g.hello.Host)
	}
	for r, l := range control {
		if l == nil {
			continue
		}
		t := table{Rank: r, Session: j.session, Addresses: j.addresses, Hosts: j.hosts}
		if err := errors.Join(l.sendWithin(t, time.Second), l.until(time.Time{})); err != nil {
			for _, l := range control[1:] { // they come again
				l.close()
			}
			return nil, ring, &LostError{r, j.addresses[r], "disconnected before the group was complete: " + err.Error()}
		}
	}
	return control, ring, nil
}

// beGuest waits at the door of another process for a rank.
func (j *joiner) beGuest(ctx context.Context) (control []*link, ring *net.TCPListener, err error) {
	l, ring, err := j.dialRank0(ctx)
	if err != nil {
		return nil, nil, err
	}
	stop := context.AfterFunc(ctx, l.close)
	for {
		var t table
		err := l.until(time.Now().Add(j.heartbeatTimeout))
		if err == nil {
			err = l.receive(&t)
		}
		if err == nil && t.Wait {
			continue
		}
		if err == nil && !stop() {
			err = ctx.Err()
		}
		if err == nil {
			err = l.until(time.Time{})
		}
		size := len(t.Addresses)
		if err == nil && (t.Rank < 1 || t.Rank >= size || size > j.info.Size || len(t.Hosts) != size) {
			err = errors.New("it sent an invalid table of ranks")
		}
		if err != nil {
			stop()
			l.close()
			return nil, ring, &LostError{0, j.info.Address, "disconnected before the group was complete: " + err.Error()}
		}
		j.info.Rank, j.info.Size = t.Rank, size
		j.session, j.addresses, j.hosts = t.Session, t.Addresses, t.Hosts
		control = make([]*link, size)
		control[0] = l
		return control, ring, nil
	}
}
