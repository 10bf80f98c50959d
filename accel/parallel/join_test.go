package parallel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quernlab/quern/internal/testenv"
)

// freeAddress returns an address that nobody listens on.
func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// joinAll joins concurrently with the given ranks and secrets.
func joinAll(t testing.TB, places []RankInfo, secrets []string, options ...Option) (groups []*Group, errs []error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testTime)
	defer cancel()
	groups, errs = make([]*Group, len(places)), make([]error, len(places))
	var joining sync.WaitGroup
	for i, p := range places {
		joining.Go(func() {
			groups[i], errs[i] = Join(ctx, append([]Option{At(p), Secret(secrets[i%len(secrets)])}, options...)...)
		})
	}
	joining.Wait()
	for _, g := range groups {
		if g != nil {
			t.Cleanup(func() { _ = g.Close() })
		}
	}
	return groups, errs
}

func places(address string, ranks ...int) []RankInfo {
	all := make([]RankInfo, len(ranks))
	for i, r := range ranks {
		all[i] = RankInfo{Rank: r, Size: 3, LocalRank: -1, Address: address}
	}
	return all
}

func TestJoin(t *testing.T) {
	groups, errs := joinAll(t, places(freeAddress(t), 2, 0, 1), []string{"s"})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{2, 0, 1} {
		g := groups[i]
		if g.Rank() != want || g.Size() != 3 || g.LocalRank() != want || g.LocalSize() != 3 || g.First() != (want == 0) || g.Err() != nil {
			t.Errorf("%v: local rank %d of %d, %v", g, g.LocalRank(), g.LocalSize(), g.Err())
		}
	}
}

// TestRankZeroCallsItselfLocalhost gives rank 0 another name for itself than the other ranks use,
// as in Kubeflow's PyTorchJob.
func TestRankZeroCallsItselfLocalhost(t *testing.T) {
	_, port, _ := net.SplitHostPort(freeAddress(t))
	elsewhere := net.JoinHostPort("127.0.0.2", port) // not served by a listener on 127.0.0.1
	l, err := net.Listen("tcp", elsewhere)
	if err != nil {
		testenv.Missing(t, "a second address of this machine is needed: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	all := places(elsewhere, 0, 1, 2)
	all[0].Address = net.JoinHostPort("localhost", port)
	groups, errs := joinAll(t, all, []string{"s"}, Timeout(10*time.Second))
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	mustEach(t, groups, func(ctx context.Context, g *Group) error { return g.Barrier(ctx) })
}

func TestJoinOverIPv6(t *testing.T) {
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		testenv.Optional(t, "IPv6 is needed: %v", err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	groups, errs := joinAll(t, places(address, 0, 1, 2), []string{"s"})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	mustEach(t, groups, func(ctx context.Context, g *Group) error { return g.Barrier(ctx) })
}

func TestJoinAgainAtTheSameAddress(t *testing.T) {
	address := freeAddress(t)
	for range 3 {
		groups, errs := joinAll(t, places(address, 0, 1, 2), []string{"s"})
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		mustEach(t, groups, func(ctx context.Context, g *Group) error { return g.Barrier(ctx) })
		groups[1].Fail(errors.New("away"))
		for _, g := range groups {
			<-g.broken
			if err := g.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestRanksThatDoNotCome(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	_, errs := joinAll(t, []RankInfo{{Rank: 0, Size: 4, Address: address}, {Rank: 2, Size: 4, Address: address}}, []string{"s"}, Timeout(6*time.Second))
	for i, err := range errs {
		var missing *MissingError
		if !errors.As(err, &missing) || fmt.Sprint(missing.Ranks) != "[1 3]" || !strings.Contains(err.Error(), "ranks 1, 3 of 4 did not join at 127.0.0.1:") {
			t.Errorf("%d: %v", i, err)
		}
	}
	_, errs = joinAll(t, places(address, 1), []string{"s"}, Timeout(300*time.Millisecond))
	var unreachable *AddressError
	if !errors.As(errs[0], &unreachable) || !strings.Contains(errs[0].Error(), "check that rank 0 runs there") {
		t.Error(errs[0])
	}
}

func TestJoinIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	address := freeAddress(t)
	ends := make(chan error, 2)
	for r := range 2 {
		go func() {
			_, err := Join(ctx, At(RankInfo{Rank: r, Size: 3, Address: address}), Secret("s"))
			ends <- err
		}()
	}
	cancel()
	for range 2 {
		if err := <-ends; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

func TestPortTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, errs := joinAll(t, places(l.Addr().String(), 0), []string{"s"})
	var taken *AddressError
	if !errors.As(errs[0], &taken) || !strings.Contains(errs[0].Error(), "if another run uses the port") {
		t.Error(errs[0])
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		places func(address string) []RankInfo
		want   string
	}{
		{"another size", func(a string) []RankInfo {
			return []RankInfo{{Rank: 0, Size: 3, Address: a}, {Rank: 1, Size: 2, Address: a}}
		}, "it was started with 2 ranks, but rank 0 with 3"},
		{"the same rank twice", func(a string) []RankInfo { return places(a, 0, 1, 1) }, "rank 1 has already joined from 127.0.0.1:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, errs := joinAll(t, c.places(freeAddress(t)), []string{"s"}, Timeout(20*time.Second))
			refused := 0
			for i, err := range errs {
				switch {
				case errors.As(err, new(*RefusedError)) && strings.Contains(err.Error(), c.want):
					refused++
				case errors.As(err, new(*LostError)):
				case i > 0 && errors.As(err, new(*AddressError)): // rank 0 ended during the handshake
				default:
					t.Errorf("%d: %v", i, err)
				}
			}
			if refused < 2 { // rank 0 and the rejected rank
				t.Error(errs)
			}
		})
	}
}

func TestStrangers(t *testing.T) {
	// Peers that do not know the secret or are not ranks must not disturb the others.
	address := freeAddress(t)
	var joining sync.WaitGroup
	var groups []*Group
	var errs, strange []error
	knocked := make(chan struct{})
	joining.Go(func() {
		groups, errs = joinAll(t, places(address, 0), []string{"right"})
	})
	joining.Go(func() {
		for { // until rank 0 listens
			conn, err := net.Dial("tcp", address)
			if err != nil {
				continue
			}
			_, _ = conn.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
			_, _ = io.Copy(io.Discard, conn)
			_ = conn.Close()
			break
		}
		_, strange = joinAll(t, places(address, 1), []string{"wrong"})
		close(knocked)
	})
	var others []*Group
	var otherErrs []error
	joining.Go(func() {
		<-knocked
		others, otherErrs = joinAll(t, places(address, 1, 2), []string{"right"})
	})
	joining.Wait()
	var refused *RefusedError
	if !errors.As(strange[0], &refused) || !strings.Contains(strange[0].Error(), "does not know the secret") {
		t.Error(strange[0])
	}
	if err := errors.Join(append(errs, otherErrs...)...); err != nil {
		t.Fatal(err)
	}
	mustEach(t, append(groups, others...), func(ctx context.Context, g *Group) error { return g.Barrier(ctx) })
}

func TestImpostor(t *testing.T) {
	// A listener at rank 0's address must know the secret, too.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			j := &joiner{secret: "guessed", info: &RankInfo{Size: 3}}
			k, exported, err := newLink(1, conn, true)
			if err != nil {
				continue
			}
			_ = k.send(challenge{protocol, nonce()})
			var h hello
			_ = k.receive(&h)
			_ = k.send(welcome{Proof: j.proof("listen", exported, nil, h)})
		}
	}()
	_, errs := joinAll(t, places(l.Addr().String(), 1), []string{"s"})
	var refused *RefusedError
	if !errors.As(errs[0], &refused) || !strings.Contains(errs[0].Error(), "does not know the secret") {
		t.Error(errs[0])
	}
}

func TestRunsAreKeptApart(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	_, errs := joinAll(t, []RankInfo{{Rank: 0, Size: 2, Address: address, Run: "7"}, {Rank: 1, Size: 2, Address: address, Run: "8"}}, []string{""}, Timeout(6*time.Second))
	var missing *MissingError
	var refused *RefusedError
	if !errors.As(errs[0], &missing) || !errors.As(errs[1], &refused) {
		t.Error(errs)
	}
}

func TestReachable(t *testing.T) {
	address := func(s string) net.Addr {
		ip, network, err := net.ParseCIDR(s)
		if err != nil {
			t.Fatal(err)
		}
		return &net.IPNet{IP: ip, Mask: network.Mask}
	}
	interfaces := []net.Addr{address("127.0.0.1/8"), address("::1/128"), address("fe80::1/64"), address("10.1.2.3/16"), address("10.9.9.9/16")}
	for _, c := range []struct {
		name, here, rank0 string
		interfaces        []net.Addr
		want              string
	}{
		{"toward rank 0", "10.9.9.9", "node0:29500", interfaces, "10.9.9.9:0"},
		{"one machine", "127.0.0.1", "127.0.0.1:29500", interfaces, "127.0.0.1:0"},
		{"one machine by name", "127.0.0.1", "localhost:29500", interfaces, "127.0.0.1:0"},
		{"one machine, IPv6", "::1", "[::1]:29500", interfaces, "[::1]:0"},
		{"its own name is its own", "127.0.0.1", "node0:29500", interfaces, "10.1.2.3:0"},
		{"no network", "127.0.0.1", "node0:29500", interfaces[:3], "127.0.0.1:0"},
	} {
		if got := reachable(&net.TCPAddr{IP: net.ParseIP(c.here), Port: 4}, c.rank0, c.interfaces).String(); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// FuzzGreet sends arbitrary bytes to a listening rank, which must admit nobody without the secret.
func FuzzGreet(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Add([]byte{0, 0, 0, 2, '{', '}'})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	f.Add(append([]byte{0, 0, 0, 41}, `{"Rank":-1,"Size":0,"Proof":"","Ring":[]}`...))
	f.Fuzz(func(t *testing.T, said []byte) {
		near, far := net.Pipe()
		var talking sync.WaitGroup
		talking.Go(func() { _, _ = io.Copy(io.Discard, far) })
		talking.Go(func() {
			_, _ = far.Write(said)
			_ = far.Close()
		})
		j := &joiner{secret: "s", info: &RankInfo{Size: 3}}
		if _, h, err := j.acceptHandshake(near, func(hello) error { return nil }); err == nil {
			t.Errorf("%+v was let in", h)
		}
		_ = near.Close()
		talking.Wait()
	})
}

func TestJoinReadsTheEnvironment(t *testing.T) {
	set := map[string]string{"RANK": "0", "WORLD_SIZE": "2"}
	for name, value := range maps.All(set) {
		t.Setenv(name, value)
	}
	t.Setenv("MASTER_ADDR", "")
	var wrong *EnvironmentError
	if _, err := Join(t.Context()); !errors.As(err, &wrong) || wrong.Launcher != "torchrun" {
		t.Error(err)
	}
}
