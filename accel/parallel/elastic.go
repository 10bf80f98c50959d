package parallel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"time"

	"github.com/quernlab/quern/accel/internal/training/interrupt"
)

// ErrChanging is the error with which accel.Fit ends between two steps because the ranks of an elastic group change. [Elastic]
// then calls its function again.
var ErrChanging = errors.New("parallel: the ranks of the group change")

// Elastic calls train on the ranks of a group of at least least and at most most processes, and again on the ranks of a new
// group whenever they change: when a rank is lost or leaves, or when another process comes. It returns when train has
// returned nil on all ranks.
//
//	err := parallel.Elastic(ctx, 2, 8, func(ctx context.Context, group *parallel.Group) error {
//		accel.Seed(1)
//		model := nn.Sequential(…)
//		_, err := accel.Fit(ctx, model, train, accel.DataParallel(group), accel.Resume("run.safetensors"), accel.SaveEvery(100))
//		return err
//	})
//
// Every process calls Elastic with the same numbers, and needs the address at which they meet, MASTER_ADDR and MASTER_PORT or
// those of a launcher ([FromEnvironment]), but no rank: ranks are assigned for each group. The first process that listens at the
// address becomes rank 0. If it is lost, another one on its machine takes its place; if its machine is lost, another process has
// to be started at the address. A group begins when most processes have come, or, with fewer, when none came for
// ten seconds; after a change, as soon as the ranks that are left are there. A process that comes while a
// group of fewer than most ranks trains joins it after the current step; others wait until a rank is lost.
//
// train must begin with the last common state, which for accel.Fit is the file of accel.Resume, on a path that all ranks
// share: Fit requires it, and writes it before the first step, at the end of each epoch, as often as accel.SaveEvery says, and
// when ranks join or leave. The steps since then are repeated if a rank is lost. Batches have the same number
// of examples for any number of ranks, so the learning rate needs no change; a rank needs more memory
// if there are fewer. With the same number of ranks in all groups, the result is bit for bit that of an undisturbed training; otherwise
// it differs by the rounding of sums and by the random numbers of layers. A loop of one's own ends when
// [Group.Changing] reports true on any rank, and returns ErrChanging. Elastic calls a function that returns ErrChanging again, also if the
// ranks are the same as before, so it must not do so for another reason.
//
// If ctx of this rank is done, for example since its machine is taken away, it leaves, Elastic returns the error of train, and
// the others go on. So they do if train fails on one rank. A process that was suspended, so that the others have lost it, joins the
// next group when it continues. Under torchrun, which starts all ranks again after a change, Elastic
// calls train once.
//
// Options and errors are those of [Join]; [Timeout] is how long a process waits for enough others.
func Elastic(ctx context.Context, least, most int, train func(context.Context, *Group) error, options ...Option) (err error) {
	if err := interrupt.RequireContext(ctx, "parallel: Elastic"); err != nil {
		return err
	}
	if least < 1 || most < least {
		return fmt.Errorf("parallel: Elastic(%d, %d): the first number must be at least 1 and the second at least the first", least, most)
	}
	if train == nil {
		return fmt.Errorf("parallel: Elastic(%d, %d): the function that trains is nil", least, most)
	}
	j, err := newJoiner("Elastic", options, "At", "Secret", "Timeout", "HeartbeatTimeout", "Bucket", "Logger")
	if err != nil {
		return err
	}
	j.least = least
	if j.info == nil {
		p, err := elasticInfo(os.LookupEnv)
		if err != nil {
			return err
		}
		j.info = &p
	}
	if j.info.store != "" { // of torchrun's agent
		return j.once(ctx, train)
	}
	j.info.Rank, j.info.Size, j.info.LocalRank, j.info.LocalSize = -1, most, -1, 0
	if err := j.protect(); err != nil {
		return err
	}
	e := &elastic{joiner: *j, most: most}
	defer func() { err = errors.Join(err, e.door.close()) }()
	for {
		g, err := e.form(ctx)
		if err != nil {
			return err
		}
		again, err := e.run(ctx, g, train)
		err = cmp.Or(err, g.Close())
		if !again {
			return err
		}
		e.log.Info("parallel: forming a new group", "reason", err)
	}
}

// elasticInfo reads the address at which the processes meet.
func elasticInfo(lookup func(string) (string, bool)) (RankInfo, error) {
	v := &variables{lookup: lookup, launcher: "Elastic"}
	if v.text("MASTER_ADDR") != "" && v.text("RANK") == "" {
		address, err := v.address("", DefaultPort)
		return RankInfo{Address: address}, err
	}
	p, err := FromEnvironment(lookup)
	if err == nil && p.Address == "" {
		err = v.wrong("MASTER_ADDR is not set; set it and MASTER_PORT to where the processes meet, the same for all")
	}
	return p, err
}

// once runs train under a launcher that starts all ranks again after a change.
func (j *joiner) once(ctx context.Context, train func(context.Context, *Group) error) error {
	g, err := j.join(ctx)
	if err != nil {
		return err
	}
	if err = train(ctx, g); err != nil {
		g.Fail(err)
	}
	return errors.Join(err, g.Close())
}

// elastic is a process of [Elastic].
type elastic struct {
	joiner
	most int
	door *door // open while this process is rank 0, also between groups

	// remaining is how many ranks of the last group, with this one, are expected in the next group; 0 before the first.
	remaining int
}

// form waits for the other processes and returns the next group.
func (e *elastic) form(ctx context.Context) (*Group, error) {
	waiting, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	begin := time.Now()
	var g *Group
	refused, err := again(waiting, func() (err error) {
		g, err = e.attempt(waiting)
		return err
	})
	missing := (*MissingError)(nil)
	switch {
	case err == nil || refused:
		return g, err
	case ctx.Err() != nil:
		return nil, fmt.Errorf("parallel: join an elastic group: %w", ctx.Err())
	case errors.As(err, &missing):
		missing.Waited = time.Since(begin)
		return nil, missing
	}
	return nil, &AddressError{e.info.Address, fmt.Sprintf("this process has tried for %v; check that another one runs there", time.Since(begin).Round(time.Millisecond)), err}
}

// attempt forms a group as rank 0, if this process can listen at the address, or as another rank.
func (e *elastic) attempt(ctx context.Context) (*Group, error) {
	if e.door == nil && isHere(ctx, e.info.Address) {
		if l, err := e.listen(ctx); err == nil {
			e.door = e.open(l)
		}
	}
	j := e.joiner // a copy, which gets the rank and the addresses of this group
	info := *e.info
	j.info = &info
	var control []*link
	var ring *net.TCPListener
	var err error
	if e.door != nil {
		control, ring, err = e.gatherGuests(ctx, &j)
	} else {
		control, ring, err = j.beGuest(ctx)
	}
	g, err := j.assemble(ctx, control, ring, err)
	if err != nil {
		return nil, err
	}
	e.session, e.remaining = j.session, g.Size()
	return g, nil
}

// isHere reports whether an address is one of this machine.
func isHere(ctx context.Context, address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	var r net.Resolver
	found, err := r.LookupIPAddr(ctx, host)
	if err != nil {
		return false
	}
	here, _ := net.InterfaceAddrs() // without them only a loopback address is here
	return slices.ContainsFunc(found, func(a net.IPAddr) bool {
		return a.IP.IsLoopback() || slices.ContainsFunc(here, func(b net.Addr) bool {
			n, ok := b.(*net.IPNet)
			return ok && n.IP.Equal(a.IP)
		})
	})
}

// outcome is how train has ended on a rank.
type outcome uint8

const (
	finished outcome = iota + 1
	changing         // the rank takes part in the next group
	leaving          // its context is done
)

// leaveTime is how long a rank that leaves waits for the others.
const leaveTime = 5 * time.Second

// run calls train, and reports whether the ranks form another group.
func (e *elastic) run(ctx context.Context, g *Group, train func(context.Context, *Group) error) (again bool, err error) {
	if e.door != nil {
		defer e.watchDoor(g)()
	}
	err = train(ctx, g)
	broken := g.Err()
	mine := changing
	switch {
	case ctx.Err() != nil:
		mine = leaving
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
		defer cancel()
		ctx = bounded
	case err == nil:
		mine = finished
	case g.continuesAfter(err):
	case (errors.Is(err, ErrChanging) || errors.Is(err, context.Canceled)) && (broken == nil || g.continuesAfter(broken)):
		// A rank that was interrupted may have ended in the meantime.
	default:
		g.Fail(err)
		return false, err
	}
	all, exchangeErr := gatherJSON(ctx, g, mine)
	if mine == leaving {
		return false, err
	}
	if exchangeErr != nil {
		if !g.wasLost() {
			e.remaining-- // the lost rank; if there are more, the others wait for them in vain
		}
		return true, errors.Join(err, exchangeErr)
	}
	e.remaining = 0
	ended := true
	for _, o := range all {
		ended = ended && o == finished
		if o != leaving {
			e.remaining++
		}
	}
	if ended {
		_ = g.Barrier(ctx) // a rank that does not get here has seen that all have finished, or will call train again
		return false, nil
	}
	return true, err
}

// continuesAfter reports whether a rank takes part in the next group after an error of this one: if a rank is lost, also if it is this
// one, whose process was suspended for longer than the others wait. If it has given up itself, it does not.
func (g *Group) continuesAfter(err error) bool {
	lost, ok := errors.AsType[*LostError](err)
	return ok && (lost.Rank != g.Rank() || g.wasLost())
}

// wasLost reports whether the other ranks have lost this one although it did not give up.
func (g *Group) wasLost() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	lost, ok := errors.AsType[*LostError](g.err)
	return ok && lost.Rank == g.Rank() && !g.gaveUp
}

// watchDoor makes the ranks of a group form another one when a process comes for which there is room. The returned function
// ends that.
func (e *elastic) watchDoor(g *Group) (end func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			if g.Size() < e.most && e.door.guests() > 0 {
				g.change()
				return
			}
			select {
			case <-e.door.came:
			case <-done:
				return
			case <-g.broken:
				return
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// Changing reports whether the ranks of an elastic group are about to change. [accel.Fit] then saves the training after the current
// step and ends with [ErrChanging]; see [Elastic].
func (g *Group) Changing() bool {
	select {
	case <-g.changing:
		return true
	default:
		return false
	}
}

// Elastic reports whether the group is one of [Elastic].
func (g *Group) Elastic() bool { return g.elastic }

// change announces to all ranks that they change. Rank 0 calls it.
func (g *Group) change() {
	if g.setChanging() {
		g.notify(notice{Kind: ranksChange, Rank: g.Rank()})
	}
}

// setChanging reports whether it is the first call.
func (g *Group) setChanging() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.elastic && !g.Changing() {
		close(g.changing)
		return true
	}
	return false
}
