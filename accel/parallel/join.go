package parallel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/internal/training/option"
)

// Option configures [Join], [Elastic] and [Local], or [Distribute].
type Option struct{ setting }

type setting = option.Of[settings]

// settings are what options change: those of Join, Elastic and Local a joiner, and those of Distribute a distribution.
type settings struct {
	*joiner
	*distribution
}

// At sets the rank of this process, instead of the environment.
func At(p RankInfo) Option { return Option{option.New(func(s *settings) { s.info = &p }, "At", p)} }

// Secret sets the secret that a process must know to join; the default is the environment
// variable QUERN_PARALLEL_SECRET. Ranks on several machines need one. Ranks on one machine do
// not: without it rank 0 listens only on the loopback interface, and the ranks use a secret
// from a file in the user's cache directory.
func Secret(text string) Option {
	return Option{option.New(func(s *settings) { s.secret = text }, "Secret", option.Code("…"))}
}

// Timeout sets how long to wait for the other ranks; the default is 2 minutes.
func Timeout(d time.Duration) Option {
	return Option{option.New(func(s *settings) { s.timeout = d }, "Timeout", d).Require(d > 0, "the duration must be positive")}
}

// HeartbeatTimeout sets how long a rank may be silent before it counts as lost although its
// connection is open, as after a power failure of its machine. The default is 10 seconds. The
// end of a process is detected immediately.
func HeartbeatTimeout(d time.Duration) Option {
	return Option{option.New(func(s *settings) { s.heartbeatTimeout = d }, "HeartbeatTimeout", d).Require(d > 0, "the duration must be positive")}
}

// Bucket sets the size in bytes of the buckets in which gradients are reduced, the same on all
// ranks; the default is 25 MiB, as in PyTorch's DistributedDataParallel. Smaller buckets start
// earlier but have more overhead.
func Bucket(bytes int) Option {
	return Option{option.Count("Bucket", bytes, 1, func(s *settings) *int { return &s.bucket })}
}

// Logger sets a logger; the default is none.
func Logger(l *slog.Logger) Option {
	return Option{option.New(func(s *settings) { s.log = l }, "Logger", option.Code("l"))}
}

// SecretVariable is the environment variable of [Secret].
const SecretVariable = "QUERN_PARALLEL_SECRET"

const (
	defaultTimeout          = 2 * time.Minute
	defaultHeartbeatTimeout = 10 * time.Second
	defaultBucket           = 25 << 20
)

// joiner is one call of Join.
type joiner struct {
	info             *RankInfo
	secret           string
	version          string // of Quern; empty if unknown
	timeout          time.Duration
	heartbeatTimeout time.Duration
	bucket           int // in bytes
	log              *slog.Logger
	mpi              bool // MPI is requested
	least            int  // smallest number of ranks of an elastic group; 0 for others

	listening *net.TCPListener // of rank 0 of a sub-group, which listens already; else nil
	names     []int            // of a sub-group: the rank of each of its ranks in the whole group

	reached   string   // address at which this rank has reached rank 0
	addresses []string // addresses of the ranks' ring listeners
	hosts     []string // machines of the ranks
	session   []byte   // session that rank 0 has assigned; that of the last group while an elastic one is formed
	local     bool     // the secret is that of the user's file or of this process
}

// Join waits until all ranks have joined and returns the group. It reads the rank of this
// process from the environment ([FromEnvironment]) unless [At] sets it.
//
// Errors: an [*EnvironmentError] if variables are missing or invalid, a [*MissingError] if
// ranks did not join in time, a [*RefusedError] if this rank was rejected, a [*SecretError] if
// ranks on several machines have no secret, an [*AddressError] if rank 0 cannot listen or be
// reached, or the error of ctx.
func Join(ctx context.Context, options ...Option) (*Group, error) {
	if err := interrupt.RequireContext(ctx, "parallel: Join"); err != nil {
		return nil, err
	}
	j, err := newJoiner("Join", options, "At", "Secret", "Timeout", "HeartbeatTimeout", "Bucket", "Logger", "MPI")
	if err != nil {
		return nil, err
	}
	if j.info == nil {
		p, err := FromEnvironment(os.LookupEnv)
		if err != nil {
			return nil, err
		}
		j.info = &p
	} else if err := j.info.check("the program"); err != nil {
		return nil, err
	}
	return j.join(ctx)
}

// newJoiner returns the settings of a function with the given options.
func newJoiner(function string, options []Option, takes ...string) (*joiner, error) {
	j := &joiner{secret: os.Getenv(SecretVariable), version: version(), timeout: defaultTimeout, heartbeatTimeout: defaultHeartbeatTimeout, bucket: defaultBucket, log: slog.New(slog.DiscardHandler)}
	if err := option.Apply("parallel."+function, &settings{joiner: j}, options, takes...); err != nil {
		return nil, err
	}
	if j.info != nil {
		p := *j.info
		j.info = &p // a copy, because it may be changed
	}
	return j, nil
}

// join joins as the rank of info.
func (j *joiner) join(ctx context.Context) (*Group, error) {
	if j.info.Size == 1 {
		return newGroup(j), nil
	}
	if err := j.protect(); err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeout(ctx, j.timeout)
	defer cancel()
	g, err := j.connectAll(waiting)
	if err == nil && j.mpi {
		if err = g.joinMPI(waiting); err != nil {
			g, err = nil, errors.Join(err, g.Close())
		}
	}
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("parallel: join as rank %d: %w", j.info.Rank, ctx.Err())
	}
	return g, err
}

// connectAll finds the other ranks and connects to those that this rank talks to.
func (j *joiner) connectAll(ctx context.Context) (*Group, error) {
	if j.info.Rank == 0 {
		control, ring, err := j.gather(ctx)
		return j.assemble(ctx, control, ring, err)
	}
	control, ring, err := j.register(ctx)
	return j.assemble(ctx, control, ring, err)
}

// assemble returns the group of ranks that have found each other, unless finding them failed. It closes the listener for the
// connection in the ring.
func (j *joiner) assemble(ctx context.Context, control []*link, ring *net.TCPListener, failed error) (g *Group, err error) {
	if ring != nil {
		defer func() { err = errors.Join(err, ring.Close()) }()
	}
	if failed != nil {
		return nil, failed
	}
	j.setLocalRank()
	g = newGroup(j)
	if g.Size() == 1 {
		return g, nil
	}
	g.watch(control) // detects lost ranks from here on
	connecting, cancel := context.WithCancel(ctx)
	defer cancel()
	broken := g.broken // the variable g is nil when this function has failed
	go func() {
		select {
		case <-broken:
			cancel()
		case <-connecting.Done():
		}
	}()
	next, previous, err := j.connect(connecting, ring)
	if err != nil {
		return nil, errors.Join(g.fail(err), g.Close())
	}
	g.mu.Lock()
	g.next, g.previous = next, previous
	err = g.err
	g.mu.Unlock()
	if err != nil { // a rank has been lost
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// setLocalRank determines the local rank if the launcher did not set it.
func (j *joiner) setLocalRank() {
	p := j.info
	if p.LocalSize > 0 && p.LocalRank >= 0 {
		return
	}
	rank, size := 0, 0
	for i, host := range j.hosts {
		if host != j.hosts[p.Rank] {
			continue
		}
		if i < p.Rank {
			rank++
		}
		size++
	}
	if p.LocalRank < 0 || p.LocalRank >= size || p.Launcher == "torchrun" {
		p.LocalRank = rank
	}
	p.LocalSize = size
}
