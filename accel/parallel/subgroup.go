package parallel

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
)

// invitation is how the ranks of a sub-group find its first rank.
type invitation struct {
	Address string // where it listens
	Secret  string // of the sub-group
	Failed  string // why it cannot listen; empty if it can
}

// subgroup connects some of the ranks, in their order, with each other. All ranks of the group
// call it at the same time, each with the ranks of its own sub-group; every rank is in one.
//
// If a rank is lost, the group and its sub-groups break together, with an error in which ranks
// have the numbers of the whole group.
func (g *Group) subgroup(ctx context.Context, members []int) (sub *Group, err error) {
	if len(members) == g.Size() {
		members = nil // the group itself
	}
	first := len(members) > 1 && members[0] == g.Rank()
	var mine invitation
	var listener *net.TCPListener
	if first {
		if listener, err = g.listenFor(ctx, &mine); err != nil {
			mine.Failed = err.Error()
		}
	}
	all, err := gatherJSON(ctx, g, mine)
	if err == nil {
		for r, i := range all {
			if i.Failed != "" {
				err = fmt.Errorf("parallel: rank %d cannot listen for its sub-group: %s", r, i.Failed)
				break
			}
		}
	}
	switch {
	case err != nil:
		if listener != nil {
			err = errors.Join(err, listener.Close())
		}
		return nil, err
	case members == nil:
		return g, nil
	case len(members) == 1:
		alone := singleProcess()
		return newGroup(&joiner{info: &alone, heartbeatTimeout: g.heartbeatTimeout, bucket: g.bucket}), nil
	}
	invited := all[members[0]]
	j := *g.joined
	j.secret, j.listening, j.session, j.addresses, j.hosts = invited.Secret, listener, nil, nil, nil
	j.info = &RankInfo{
		Rank: slices.Index(members, g.Rank()), Size: len(members), Address: invited.Address, Run: g.info.Run, Launcher: g.info.Launcher,
		LocalRank: g.info.LocalRank, LocalSize: g.info.LocalSize, local: g.info.local,
	}
	j.names = members
	if members[0] == 0 && !first { // rank 0's name for itself may mean another machine here
		j.info.Address = atHost(g.joined.reached, invited.Address)
	}
	waiting, cancel := context.WithTimeout(ctx, j.timeout)
	defer cancel()
	if sub, err = j.connectAll(waiting); err != nil {
		return nil, g.breakWith(fmt.Errorf("parallel: connect ranks %v: %w", members, err))
	}
	sub.watches.Go(func() { g.breakTogether(sub) })
	return sub, nil
}

// listenFor opens the port of the first rank of a sub-group, at the address by which the other
// ranks know this machine.
func (g *Group) listenFor(ctx context.Context, i *invitation) (*net.TCPListener, error) {
	host, _, err := net.SplitHostPort(g.addresses[g.Rank()])
	if err != nil {
		return nil, err
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		host = "" // the other ranks may reach this machine by another of its addresses
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, err
	}
	i.Address, i.Secret = atHost(g.addresses[g.Rank()], l.Addr().String()), fmt.Sprintf("%x", nonce())
	return l.(*net.TCPListener), nil
}

// breakTogether breaks a sub-group when the group breaks, and the reverse.
func (g *Group) breakTogether(sub *Group) {
	select {
	case <-sub.end:
	case <-sub.broken:
		_ = g.breakWith(sub.Err())
	case <-g.broken:
		_ = sub.breakFor(g.Err(), false)
	}
}

// inWhole returns an error of a sub-group with the numbers that ranks have in the whole group.
func (g *Group) inWhole(err error) error {
	if g.names == nil {
		return err
	}
	var lost *LostError
	var differs *MismatchError
	switch {
	case errors.As(err, &lost):
		return &LostError{g.names[lost.Rank], lost.Address, lost.Reason}
	case errors.As(err, &differs):
		return &MismatchError{g.names[differs.Rank], differs.There, differs.Here}
	}
	return err
}
