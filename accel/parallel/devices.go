package parallel

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

// devices is the state of exchanges between the GPUs of a group.
type devices struct {
	on     string                // current device; empty before the first
	joined *tensors.Communicator // nil if the hosts exchange
	why    string                // why the hosts do; empty if that is expected
}

// joinTime is the time limit for connecting the GPUs of all ranks.
const joinTime = time.Minute

// Backend returns what reduces the gradients, and exchanges what [Distribute] divides: "NCCL 2.27.3", "Open MPI v4.1.4",
// "the hosts", or "the hosts, since …" with the reason if there are GPUs or [MPI] was requested. It is empty before
// [Gradients.Begin] and Distribute.
func (g *Group) Backend() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch d := g.device; {
	case d.on == "":
		return ""
	case d.joined != nil:
		return d.joined.String()
	case g.mpi.world != nil:
		return g.mpi.world.Version
	case d.why != "" || g.mpi.why != "":
		return "the hosts, since " + cmp.Or(d.why, g.mpi.why)
	}
	return "the hosts"
}

// OnDevices reports whether the GPUs reduce gradients, and exchange what [Distribute] divides, themselves with NCCL.
func (g *Group) OnDevices() bool { return g.devicesJoined() != nil }

// candidate describes the device of a rank.
type candidate struct {
	Device string
	Why    string // why it cannot join the others; empty if it can
}

// joinDevices connects the GPUs of all ranks, once for each device. If that is impossible, the
// hosts exchange.
func (g *Group) joinDevices(ctx context.Context) error {
	if g.Size() == 1 {
		return nil
	}
	mine := candidate{Device: tensors.Device()}
	switch {
	case mine.Device == "cpu":
	case g.info.local:
		mine.Why = "the ranks of Local share a device"
	default:
		if err := tensors.CheckCommunicator(); err != nil {
			mine.Why = err.Error()
		}
	}
	g.mu.Lock()
	known := g.device.on == mine.Device
	g.mu.Unlock()
	others, err := gatherJSON(ctx, g, struct {
		candidate
		Known bool
	}{mine, known})
	if err != nil {
		return err
	}
	allKnown, allCPU, why := true, true, ""
	for rank, o := range others {
		allKnown = allKnown && o.Known
		allCPU = allCPU && o.Device == "cpu"
		switch {
		case why != "":
		case o.Device == "cpu":
			why = fmt.Sprintf("rank %d computes on its CPU", rank)
		case o.Why != "":
			why = fmt.Sprintf("rank %d reports: %s", rank, o.Why)
		}
	}
	if allKnown {
		return nil
	}
	found := devices{on: mine.Device}
	switch {
	case allCPU:
	case why != "":
		found.why = why
	default:
		if found.joined, found.why, err = g.connectDevices(ctx); err != nil {
			return err
		}
	}
	g.mu.Lock()
	old := g.device.joined
	g.device = found
	g.mu.Unlock()
	if old != nil {
		return old.Close()
	}
	return nil
}

// connectDevices connects the devices; why is the reason if that fails on any rank.
func (g *Group) connectDevices(ctx context.Context) (joined *tensors.Communicator, why string, err error) {
	var id []byte
	var failed error
	if g.First() {
		id, failed = tensors.NewCommunicatorID()
	}
	if id, err = g.Broadcast(ctx, 0, id); err != nil {
		return nil, "", err
	}
	if len(id) > 0 {
		waiting, cancel := context.WithTimeout(ctx, joinTime)
		joined, failed = tensors.NewCommunicator(waiting, id, g.Rank(), g.Size())
		cancel()
	}
	why, err = g.anyReason(ctx, failed)
	if (err != nil || why != "") && joined != nil {
		err = errors.Join(err, joined.Abort())
		joined = nil
	}
	return joined, why, err
}

// gatherJSON gathers a value of each rank on all ranks.
func gatherJSON[T any](ctx context.Context, g *Group, mine T) ([]T, error) {
	text, err := json.Marshal(mine)
	if err != nil {
		return nil, fmt.Errorf("parallel: encode the message of this rank: %w", err)
	}
	all, err := g.AllGather(ctx, text)
	if err != nil {
		return nil, err
	}
	values := make([]T, len(all))
	for i, text := range all {
		if err := json.Unmarshal(text, &values[i]); err != nil {
			return nil, fmt.Errorf("parallel: decode the message of rank %d: %w", i, err)
		}
	}
	return values, nil
}

// devicesJoined returns the NCCL communicator of this rank's device, or nil if the hosts
// exchange.
func (g *Group) devicesJoined() *tensors.Communicator {
	device := tensors.Device()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.device.on != device {
		return nil
	}
	return g.device.joined
}

// abortWhenDone breaks the group when ctx is done, until stop is called: a host that waits for its device, which waits
// for another rank, does not see ctx.
func (g *Group) abortWhenDone(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		_ = g.breakWith(fmt.Errorf("parallel: exchange between devices on rank %d: %w", g.Rank(), ctx.Err()))
	})
}

// abortDevices aborts exchanges of the device that wait for lost ranks.
func (g *Group) abortDevices() {
	g.mu.Lock()
	joined := g.device.joined
	g.mu.Unlock()
	if joined != nil {
		_ = joined.Abort() // the group already has a more informative error
	}
}

// closeDevices closes the connection with the other GPUs.
func (g *Group) closeDevices(whole bool) error {
	g.mu.Lock()
	joined := g.device.joined
	g.device.joined = nil
	g.mu.Unlock()
	switch {
	case joined == nil:
		return nil
	case whole:
		return joined.Close()
	}
	return joined.Abort()
}
