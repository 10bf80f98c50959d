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

// Option changes how [Join] joins.
type Option func(*joining)

// At gives the place of this process, instead of the environment.
func At(p RankInfo) Option { return func(j *joining) { j.place = &p } }

// Secret is what a process must know to join; without it that of the environment
// variable QUERN_PARALLEL_SECRET. Ranks on several machines need one. Ranks of one
// machine do without: rank 0 then listens on the loopback interface alone, and they use
// a secret that each user has in a file of the cache directory.
func Secret(text string) Option { return func(j *joining) { j.secret = text } }

// Timeout is how long to wait for the other ranks; 2 minutes without it.
func Timeout(d time.Duration) Option { return func(j *joining) { j.patience = d } }

// HeartbeatTimeout is how long a rank may not be heard of before it counts as lost, although
// its connection stands: that of a machine that has lost its power. It is 10 seconds
// without it. A process that ends is noticed at once.
func HeartbeatTimeout(d time.Duration) Option { return func(j *joining) { j.silence = d } }

// Bucket is how many bytes of gradients go at once, the same on all ranks; 25 MiB without
// it, as in PyTorch's DistributedDataParallel. Smaller ones are sooner on their way, and
// cost more of them.
func Bucket(bytes int) Option { return func(j *joining) { j.bucket = bytes } }

// Logger is told what goes on; without it nobody is.
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
	bucket   int // bytes
	log      *slog.Logger

	reached   string   // the address at which this rank has found rank 0
	addresses []string // of the ranks' ring listeners
	hosts     []string // of the ranks
	session   []byte   // that rank 0 has given this group
	local     bool     // the secret is of this user on this machine, or of this process
}

// Join waits until all ranks are there, and returns the group. Which rank this is it
// reads from the environment ([FromEnvironment]), unless [At] says it.
//
// The error is an [*EnvironmentError] where variables are missing or wrong, a
// [*MissingError] where ranks did not come in time, a [*RefusedError] where this one
// may not join, a [*SecretError] where ranks on several machines have no secret, and an
// [*AddressError] where rank 0 cannot listen or be reached. When ctx is done Join returns
// its error.
func Join(ctx context.Context, options ...Option) (*Group, error) {
	j := &joining{secret: os.Getenv(SecretVariable), patience: defaultPatience, silence: defaultSilence, bucket: defaultBucket, log: slog.New(slog.DiscardHandler)}
	for _, o := range options {
		if o != nil {
			o(j)
		}
	}
	if j.place != nil {
		p := *j.place
		j.place = &p // which may be changed
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
		return nil, fmt.Errorf("parallel: patience of %v, silence of %v and buckets of %d bytes must be positive", j.patience, j.silence, j.bucket)
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

// meet finds the other ranks and connects with those that this one talks to.
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
	g.watch(control) // from now on it is known when one of them ends
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
	if err != nil { // a rank was lost meanwhile
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// count finds the rank among those of this machine where the launcher did not say.
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
