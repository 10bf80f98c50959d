package parallel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"
)

// Option configures [Join].
type Option func(*joining)

// At sets the rank of this process, instead of the environment.
func At(p RankInfo) Option { return func(j *joining) { j.place = &p } }

// Secret sets the secret that a process must know to join; the default is the environment
// variable QUERN_PARALLEL_SECRET. Ranks on several machines need one. Ranks on one machine do
// not: without it rank 0 listens only on the loopback interface, and the ranks use a secret
// from a file in the user's cache directory.
func Secret(text string) Option { return func(j *joining) { j.secret = text } }

// Timeout sets how long to wait for the other ranks; the default is 2 minutes.
func Timeout(d time.Duration) Option { return func(j *joining) { j.patience = d } }

// HeartbeatTimeout sets how long a rank may be silent before it counts as lost although its
// connection is open, as after a power failure of its machine. The default is 10 seconds. The
// end of a process is detected immediately.
func HeartbeatTimeout(d time.Duration) Option { return func(j *joining) { j.silence = d } }

// Bucket sets the size in bytes of the buckets in which gradients are reduced, the same on all
// ranks; the default is 25 MiB, as in PyTorch's DistributedDataParallel. Smaller buckets start
// earlier but have more overhead.
func Bucket(bytes int) Option { return func(j *joining) { j.bucket = bytes } }

// Logger sets a logger; the default is none.
func Logger(l *slog.Logger) Option { return func(j *joining) { j.log = l } }

// SecretVariable is the environment variable of [Secret].
const SecretVariable = "QUERN_PARALLEL_SECRET"

const (
	defaultPatience = 2 * time.Minute
	defaultSilence  = 10 * time.Second
	defaultBucket   = 25 << 20
)

// joining is one call of Join.
type joining struct {
	place    *RankInfo
	secret   string
	patience time.Duration
	silence  time.Duration
	bucket   int // in bytes
	log      *slog.Logger

	reached   string   // address at which this rank has reached rank 0
	addresses []string // addresses of the ranks' ring listeners
	hosts     []string // machines of the ranks
	session   []byte   // session that rank 0 has assigned
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
	j := &joining{secret: os.Getenv(SecretVariable), patience: defaultPatience, silence: defaultSilence, bucket: defaultBucket, log: slog.New(slog.DiscardHandler)}
	for _, o := range options {
		if o != nil {
			o(j)
		}
	}
	if j.place != nil {
		p := *j.place
		j.place = &p // a copy, because it may be changed
	}
	if j.place == nil {
		p, err := FromEnvironment(os.LookupEnv)
		if err != nil {
			return nil, err
		}
		j.place = &p
	} else if err := j.place.check("the program"); err != nil {
		return nil, err
	}
	if j.patience <= 0 || j.silence <= 0 || j.bucket <= 0 {
		return nil, fmt.Errorf("parallel: Timeout(%v), HeartbeatTimeout(%v) and Bucket(%d) must be positive", j.patience, j.silence, j.bucket)
	}
	if j.place.Size == 1 {
		return newGroup(j), nil
	}
	if err := j.protect(); err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeout(ctx, j.patience)
	defer cancel()
	g, err := j.meet(waiting)
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("parallel: join as rank %d: %w", j.place.Rank, ctx.Err())
	}
	return g, err
}

// meet finds the other ranks and connects to those that this rank talks to.
func (j *joining) meet(ctx context.Context) (g *Group, err error) {
	var control []*link
	var ring *net.TCPListener
	if j.place.Rank == 0 {
		control, ring, err = j.gather(ctx)
	} else {
		control, ring, err = j.call(ctx)
	}
	if ring != nil {
		defer func() { err = errors.Join(err, ring.Close()) }()
	}
	if err != nil {
		return nil, err
	}
	j.count()
	g = newGroup(j)
	g.watch(control) // from now on lost ranks are detected
	connecting, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-g.broken:
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

// count determines the local rank if the launcher did not set it.
func (j *joining) count() {
	p := j.place
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
