package parallel

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/internal/training/option"
)

// ofVersion makes a rank have a version of Quern.
func ofVersion(version string) Option {
	return Option{option.New(func(s *settings) { s.version = version }, "Bucket")}
}

// A rank that does not belong to a group gets an error that says why, and so does rank 0 if the group cannot be formed without it.
func TestInvalidRanks(t *testing.T) {
	const limit = testTime            // of each row
	short := Timeout(4 * time.Second) // of ranks that wait in vain
	type formed struct{}              // key of a channel that receives from each rank whose group works
	join := func(ctx context.Context, address string, rank int, options ...Option) error {
		g, err := Join(ctx, append([]Option{At(RankInfo{Rank: rank, Size: 2, LocalRank: rank, LocalSize: 2, Address: address}), Secret("s"), Timeout(limit)}, options...)...)
		if err == nil {
			ctx.Value(formed{}).(chan int) <- rank
			<-ctx.Done() // the group works until the end of the row
			err = g.Close()
		}
		return err
	}
	for _, row := range []struct {
		name  string
		ranks []func(ctx context.Context, address string) error
		works bool                                            // the ranks become a group
		late  func(ctx context.Context, address string) error // called when the others are a group, or nil
		want  []string                                        // in the errors of the ranks, and of the late one
	}{
		{
			"too late: nobody else comes",
			[]func(context.Context, string) error{func(ctx context.Context, a string) error { return join(ctx, a, 0, short) }}, false, nil,
			[]string{"parallel: rank 1 of 2 did not join at 127.0.0.1:"},
		},
		{
			"too late: the group is complete, as for the second process with a rank",
			[]func(context.Context, string) error{
				func(ctx context.Context, a string) error { return join(ctx, a, 0) }, func(ctx context.Context, a string) error { return join(ctx, a, 1) },
			}, true,
			func(ctx context.Context, a string) error { return join(ctx, a, 1, short) },
			[]string{"", "", "rank 1 has tried for"},
		},
		{
			"another version",
			[]func(context.Context, string) error{
				func(ctx context.Context, a string) error { return join(ctx, a, 0, ofVersion("v0.2.0")) },
				func(ctx context.Context, a string) error { return join(ctx, a, 1, ofVersion("v0.1.0")) },
			}, false, nil,
			[]string{"parallel: rank 0 rejected rank 1: it has version v0.1.0 of Quern, but rank 0 has v0.2.0", "parallel: rank 0 rejected rank 1: it has version v0.1.0 of Quern, but rank 0 has v0.2.0"},
		},
		{
			"a version that is unknown",
			[]func(context.Context, string) error{
				func(ctx context.Context, a string) error { return join(ctx, a, 0, ofVersion("v0.2.0")) },
				func(ctx context.Context, a string) error { return join(ctx, a, 1, ofVersion("")) },
			}, true, nil, []string{"", ""},
		},
		{
			"another secret",
			[]func(context.Context, string) error{
				func(ctx context.Context, a string) error { return join(ctx, a, 0, short) },
				func(ctx context.Context, a string) error { return join(ctx, a, 1, Secret("x")) },
			}, false, nil,
			[]string{"rank 1 of 2 did not join at 127.0.0.1:", "rank 0 rejected rank 1: it does not know the secret of this run"},
		},
		{
			"another program listens at the port",
			[]func(context.Context, string) error{
				func(ctx context.Context, a string) error { return answer(ctx, a, "SSH-2.0-OpenSSH_9.2\r\n") },
				func(ctx context.Context, a string) error { return join(ctx, a, 1, short) },
			}, false, nil,
			[]string{"", "it does not speak TLS: another version or another program"},
		},
		{
			"the port is in use",
			[]func(context.Context, string) error{func(ctx context.Context, a string) error {
				l, err := net.Listen("tcp", a)
				if err != nil {
					return err
				}
				return errors.Join(join(ctx, a, 0), l.Close())
			}}, false, nil,
			[]string{"if another run uses the port, set another MASTER_PORT for all ranks"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			works := make(chan int, len(row.ranks))
			ctx, end := context.WithCancel(context.WithValue(t.Context(), formed{}, works))
			defer end()
			address := freeAddress(t)
			var all []chan error
			for _, rank := range row.ranks {
				done := make(chan error, 1)
				go func() { done <- rank(ctx, address) }()
				all = append(all, done)
			}
			if row.works {
				for range row.ranks {
					select {
					case <-works:
					case <-time.After(limit):
						t.Fatal("the group does not work")
					}
				}
			}
			var late error
			if row.late != nil {
				late = row.late(ctx, address)
			}
			for i, done := range all {
				if row.want[i] == "" {
					continue // it works until the end
				}
				select {
				case err := <-done:
					if err == nil || !strings.Contains(err.Error(), row.want[i]) {
						t.Errorf("rank %d: got %v, want %s", i, err, row.want[i])
					}
				case <-time.After(limit):
					t.Fatalf("rank %d does not end", i)
				}
			}
			if row.late != nil && (late == nil || !strings.Contains(late.Error(), row.want[len(row.want)-1])) {
				t.Errorf("the late rank: got %v, want %s", late, row.want[len(row.want)-1])
			}
			end()
			for i, done := range all {
				if row.want[i] != "" {
					continue
				}
				select {
				case err := <-done:
					if err != nil {
						t.Errorf("rank %d: %v", i, err)
					}
				case <-time.After(limit):
					t.Fatalf("rank %d does not end", i)
				}
			}
		})
	}
}

// answer is a program that greets everybody at a port, until ctx is done.
func answer(ctx context.Context, address, greeting string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	for {
		conn, err := l.Accept()
		if err != nil {
			return nil
		}
		_, _ = conn.Write([]byte(greeting))
		_ = conn.Close()
	}
}
