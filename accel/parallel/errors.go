package parallel

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrClosed is returned by collectives of a group that this rank has closed.
var ErrClosed = errors.New("parallel: the group is closed")

// LostError says that another rank is gone: its process has ended, its machine does not
// respond, or it has given up with an error of its own.
type LostError struct {
	Rank    int    // that is gone
	Address string // its address
	Reason  string // what was observed
}

func (e *LostError) Error() string {
	return fmt.Sprintf("parallel: rank %d (%s) %s", e.Rank, e.Address, e.Reason)
}

// MissingError says that not all ranks joined in time.
type MissingError struct {
	Ranks   []int         // that did not join
	Size    int           // of the group
	Waited  time.Duration // time until rank 0 gave up
	Address string        // address of rank 0
}

func (e *MissingError) Error() string {
	ranks := make([]string, len(e.Ranks))
	for i, r := range e.Ranks {
		ranks[i] = fmt.Sprint(r)
	}
	which := "rank " + ranks[0]
	if len(ranks) > 1 {
		which = "ranks " + strings.Join(ranks, ", ")
	}
	return fmt.Sprintf("parallel: %s of %d did not join at %s within %v; check that all ranks were started with the same address and secret",
		which, e.Size, e.Address, e.Waited.Round(time.Millisecond))
}

// RefusedError says why rank 0 rejected a rank.
type RefusedError struct {
	Rank   int    // that was rejected; -1 for a process of [Elastic], which has no rank yet
	Reason string // as rank 0 gave it
}

func (e *RefusedError) Error() string {
	if e.Rank < 0 {
		return "parallel: rank 0 rejected a process that has no rank yet: " + e.Reason
	}
	return fmt.Sprintf("parallel: rank 0 rejected rank %d: %s", e.Rank, e.Reason)
}

// AddressError says that rank 0 cannot listen at its address, or cannot be reached there.
type AddressError struct {
	Address string // of rank 0
	Hint    string // what to do
	Err     error  // of the network
}

func (e *AddressError) Error() string {
	return fmt.Sprintf("parallel: rank 0 at %s: %v; %s", e.Address, e.Err, e.Hint)
}

func (e *AddressError) Unwrap() error { return e.Err }

// MismatchError says that two ranks have called different collectives, or the same one with
// different arguments, because their programs or data differ.
type MismatchError struct {
	Rank        int    // the other rank
	There, Here string // the calls there and here
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("parallel: rank %d calls %s, but this rank %s; all ranks must make the same calls in the same order", e.Rank, e.There, e.Here)
}
