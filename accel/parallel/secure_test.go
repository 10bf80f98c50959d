package parallel

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// wire is a connection between two ends that somebody in between reads and changes.
type wire struct {
	near, far net.Conn
	mu        sync.Mutex
	seen      bytes.Buffer // from near to far
	flip      int          // offset of a byte in that to change; -1 for none
}

func newWire(t *testing.T, flip int) *wire {
	t.Helper()
	w := &wire{flip: flip}
	near, a := tcpPair(t)
	b, far := tcpPair(t)
	w.near, w.far = near, far
	go func() { _, _ = io.Copy(a, b); _ = a.Close() }()
	go func() {
		buffer := make([]byte, 4096)
		for at := 0; ; {
			n, err := a.Read(buffer)
			w.mu.Lock()
			if w.flip >= at && w.flip < at+n {
				buffer[w.flip-at] ^= 1
			}
			at += n
			w.seen.Write(buffer[:n])
			w.mu.Unlock()
			if _, failed := b.Write(buffer[:n]); err != nil || failed != nil {
				_ = b.Close()
				return
			}
		}
	}()
	return w
}

// tcpPair is both ends of a connection.
func tcpPair(t *testing.T) (near, far net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if near, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if far, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = near.Close(), far.Close() })
	return near, far
}

// linked introduces the two ends of a wire to each other.
func linked(w *wire) (near, far *link, err error) { return linkedAs(w, false, false) }

// linkedAs is linked, with who takes the secret for one of this machine.
func linkedAs(w *wire, dialLocal, listenLocal bool) (near, far *link, err error) {
	dials := &joining{secret: "s", place: &RankInfo{Rank: 1, Size: 2}, local: dialLocal}
	listens := &joining{secret: "s", place: &RankInfo{Size: 2}, local: listenLocal}
	var greeting sync.WaitGroup
	var refused error
	greeting.Go(func() {
		if far, _, refused = listens.greet(w.far, func(hello) error { return nil }); refused != nil {
			_ = w.far.Close()
		}
	})
	if near, err = dials.introduce(w.near, 0, hello{}); err != nil {
		_ = w.near.Close()
	}
	greeting.Wait()
	return near, far, errors.Join(err, refused)
}

// TestWireIsPrivate reads along: neither what is said nor what is computed is seen.
func TestWireIsPrivate(t *testing.T) {
	t.Parallel()
	w := newWire(t, -1)
	near, far, err := linked(w)
	if err != nil {
		t.Fatal(err)
	}
	secret := bytes.Repeat([]byte("gradients"), 10_000)
	go func() { _, _ = near.conn.Write(secret) }()
	got := make([]byte, len(secret))
	if _, err := io.ReadFull(far.in, got); err != nil || !bytes.Equal(got, secret) {
		t.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, word := range []string{"gradients", "Proof", "Rank"} {
		if bytes.Contains(w.seen.Bytes(), []byte(word)) {
			t.Errorf("%q can be read on the wire", word)
		}
	}
}

// TestOneEndEncrypts says that there is encryption unless both ends do without.
func TestOneEndEncrypts(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ dials, listens, plain bool }{{true, true, true}, {true, false, false}, {false, true, false}, {false, false, false}} {
		w := newWire(t, -1)
		near, far, err := linkedAs(w, row.dials, row.listens)
		if err != nil {
			t.Fatal(err)
		}
		said := bytes.Repeat([]byte("gradients"), 10_000)
		for _, way := range [][2]*link{{near, far}, {far, near}} {
			go func() { _, _ = way[0].conn.Write(said) }()
			got := make([]byte, len(said))
			if _, err := io.ReadFull(way[1].in, got); err != nil || !bytes.Equal(got, said) {
				t.Fatal(err)
			}
		}
		w.mu.Lock()
		if got := bytes.Contains(w.seen.Bytes(), []byte("gradients")); got != row.plain {
			t.Errorf("%+v: it can be read on the wire: %v", row, got)
		}
		if bytes.Contains(w.seen.Bytes(), []byte("Proof")) {
			t.Errorf("%+v: the handshake can be read on the wire", row)
		}
		w.mu.Unlock()
	}
}

// TestWireCannotBeChanged changes one bit of what goes by: then the connection fails,
// and no other numbers come.
func TestWireCannotBeChanged(t *testing.T) {
	t.Parallel()
	numbers := bytes.Repeat([]byte{0, 0, 0x80, 0x3f}, 50_000)
	for _, local := range []bool{false, true} {
		for at := 0; at < len(numbers); at = at*3/2 + 7 {
			w := newWire(t, at)
			near, far, err := linkedAs(w, local, local)
			if err != nil {
				continue // in the handshake
			}
			sending := make(chan error, 1)
			go func() { _, err := near.conn.Write(numbers); near.close(); sending <- err }()
			got, err := io.ReadAll(far.in)
			if !bytes.HasPrefix(numbers, got) {
				t.Errorf("byte %d was changed, and other numbers came", at)
			}
			if err == nil && len(got) == len(numbers) {
				t.Errorf("byte %d was changed, and nothing noticed", at)
			}
			far.close()
			<-sending
		}
	}
}

// TestFramesInOrder leaves out, repeats, swaps, cuts and sends back the frames between two
// ranks of a machine: of each, only what came before is read, and then an error.
func TestFramesInOrder(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(own [][]byte, back []byte) [][]byte
		want   string
	}{
		"as sent":     {func(own [][]byte, _ []byte) [][]byte { return own }, "abc"},
		"left out":    {func(own [][]byte, _ []byte) [][]byte { return [][]byte{own[0], own[2]} }, "a"},
		"repeated":    {func(own [][]byte, _ []byte) [][]byte { return [][]byte{own[0], own[0], own[1]} }, "a"},
		"swapped":     {func(own [][]byte, _ []byte) [][]byte { return [][]byte{own[1], own[0]} }, ""},
		"cut":         {func(own [][]byte, _ []byte) [][]byte { return [][]byte{own[0], own[1][:10]} }, "a"},
		"sent back":   {func(_ [][]byte, back []byte) [][]byte { return [][]byte{back} }, ""},
		"no length":   {func([][]byte, []byte) [][]byte { return [][]byte{make([]byte, 100)} }, ""},
		"long length": {func([][]byte, []byte) [][]byte { return [][]byte{bytes.Repeat([]byte{255}, 100)} }, ""},
	} {
		near, far := tcpPair(t)
		a, b, err := linkedAs(&wire{near: near, far: far}, true, true)
		if err != nil {
			t.Fatal(err)
		}
		recorded := func(l *link, text string) []byte {
			into, from := net.Pipe()
			framed := l.conn.(*framed)
			conn := framed.Conn
			framed.Conn = into
			go func() { _, _ = l.conn.Write([]byte(text)); _ = into.Close() }()
			frame, err := io.ReadAll(from)
			framed.Conn = conn
			if err != nil {
				t.Fatal(err)
			}
			return frame
		}
		var own [][]byte
		for _, text := range []string{"a", "b", "c"} {
			own = append(own, recorded(a, text))
		}
		for _, frame := range row.change(own, recorded(b, "a")) {
			if _, err := near.Write(frame); err != nil {
				t.Fatal(err)
			}
		}
		_ = near.Close()
		got, err := io.ReadAll(b.in)
		if string(got) != row.want || err == nil {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
		if _, again := b.conn.Read(make([]byte, 1)); !errors.Is(again, err) {
			t.Errorf("%s: an error of %v, and then %v", name, err, again)
		}
	}
}

// TestInjected has somebody write into a connection between two ranks.
func TestInjected(t *testing.T) {
	t.Parallel()
	all := ranks(t, 2)
	if _, err := all[0].next.raw.Write(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	for rank, err := range each(t, all, func(ctx context.Context, g *Group) error {
		return g.AllReduce(ctx, make([]float32, 10_000), Sum)
	}) {
		var lost *LostError
		if !errors.As(err, &lost) {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// TestManInTheMiddle has somebody without the secret between two ranks, who makes an
// encrypted connection with each and passes on what they say.
func TestManInTheMiddle(t *testing.T) {
	t.Parallel()
	near, middleNear := tcpPair(t)
	middleFar, far := tcpPair(t)
	go func() {
		a, _, err := newLink(1, middleNear, true)
		if err != nil {
			return
		}
		b, _, err := newLink(0, middleFar, false)
		if err != nil {
			return
		}
		go func() { _, _ = io.Copy(a.conn, b.conn); a.close() }()
		_, _ = io.Copy(b.conn, a.conn)
		b.close()
	}()
	if _, _, err := linked(&wire{near: near, far: far}); !errors.Is(err, errStranger) {
		t.Errorf("got %v", err)
	}
}

// TestWithoutSecret says where ranks may be that have no secret.
func TestWithoutSecret(t *testing.T) {
	t.Setenv(SecretVariable, "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	_, port, _ := net.SplitHostPort(freeAddress(t))
	for _, row := range []struct {
		host   string
		local  int
		listen string // empty: refused
	}{
		{"127.0.0.1", 0, "127.0.0.1"},
		{"127.0.0.2", 0, "127.0.0.2"},
		{"localhost", 0, "127.0.0.1"},
		{"node0.example", 2, "127.0.0.1"},
		{"192.0.2.1", 2, "127.0.0.1"},
		{"0.0.0.0", 2, "127.0.0.1"},
		{"192.0.2.1", 0, ""},
		{"192.0.2.1", 1, ""},
		{"0.0.0.0", 0, ""},
		{"::", 0, ""},
		{"", 0, ""},
		{"node0.example", 0, ""},
		{"localhost.example", 0, ""},
	} {
		address := net.JoinHostPort(row.host, port)
		for rank := range 2 {
			ctx, cancel := context.WithCancel(t.Context())
			if row.listen != "" {
				cancel() // that it may go on is enough
			}
			place := RankInfo{Rank: rank, Size: 2, LocalRank: min(rank, row.local-1), LocalSize: row.local, Address: address}
			_, err := Join(ctx, At(place), Timeout(time.Millisecond))
			cancel()
			var refused *SecretError
			if errors.As(err, &refused) != (row.listen == "") || row.listen != "" && !errors.Is(err, context.Canceled) {
				t.Errorf("%s, %d on this machine, rank %d: %v", address, row.local, rank, err)
			}
		}
		if row.listen == "" {
			continue
		}
		j := &joining{place: &RankInfo{Size: 2, LocalSize: row.local, Address: address}}
		if err := j.protect(); err != nil || len(j.secret) < 64 {
			t.Fatalf("%v, secret of %d characters", err, len(j.secret))
		}
		l, err := j.listen(t.Context())
		if err != nil {
			if row.listen != "127.0.0.1" {
				continue // this machine has no such address
			}
			t.Fatal(err)
		}
		if got := l.Addr().(*net.TCPAddr).IP; got.String() != row.listen {
			t.Errorf("%s: listens at %v", address, got)
		}
		_ = l.Close()
	}
}

// TestRanksOfAnotherUser must not be able to join where no secret was given.
func TestRanksOfAnotherUser(t *testing.T) {
	t.Setenv(SecretVariable, "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	if runtime.GOOS == "windows" {
		t.Setenv("LocalAppData", t.TempDir())
	}
	address := freeAddress(t)
	var joining sync.WaitGroup
	joining.Go(func() {
		_, errs := joinAll(t, []RankInfo{{Rank: 0, Size: 2, LocalRank: -1, Address: address}}, []string{""}, Timeout(5*time.Second))
		var missing *MissingError
		if !errors.As(errs[0], &missing) {
			t.Errorf("rank 0: %v", errs[0])
		}
	})
	for _, guess := range []string{"\x00", "quern", "0"} { // Join would look for a secret without any
		_, errs := joinAll(t, []RankInfo{{Rank: 1, Size: 2, LocalRank: -1, Address: address}}, []string{guess}, Timeout(5*time.Second))
		var refused *RefusedError
		if !errors.As(errs[0], &refused) {
			t.Errorf("rank 1 with %q: %v", guess, errs[0])
		}
	}
	joining.Wait()
}

func TestUserSecret(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("LocalAppData", cache)
	t.Setenv("HOME", cache)
	const n = 8
	secrets := make([]string, n)
	var reading sync.WaitGroup
	for i := range n {
		reading.Go(func() {
			var err error
			if secrets[i], err = userSecret(); err != nil {
				t.Error(err)
			}
		})
	}
	reading.Wait()
	for _, s := range secrets {
		if s != secrets[0] || len(s) != 2*secretBytes {
			t.Errorf("secrets of one user: %q and %q", s, secrets[0])
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	base, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(base, "quern", "parallel.secret")
	for _, row := range []struct {
		mode os.FileMode
		want string // of the error
	}{{0o644, "is readable by others"}, {0o606, "can be written by everybody"}, {0o600, ""}} {
		if err := os.Chmod(path, row.mode); err != nil {
			t.Fatal(err)
		}
		if _, err := userSecret(); (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("mode %o: %v", row.mode, err)
		}
	}
	if err := os.WriteFile(path, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := userSecret(); err == nil || !strings.Contains(err.Error(), "does not contain a secret") {
		t.Errorf("a short secret: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".secret-*")); err != nil || len(left) > 0 {
		t.Errorf("%q is left, %v", left, err)
	}
}

// TestManyStrangers has more connections than rank 0 asks who they are.
func TestManyStrangers(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	var joining sync.WaitGroup
	joining.Go(func() {
		groups, errs := joinAll(t, []RankInfo{{Rank: 0, Size: 2, LocalRank: -1, Address: address}}, []string{"s"})
		if errs[0] != nil {
			t.Error(errs[0], groups)
		}
	})
	var strangers []net.Conn
	for len(strangers) < 2*maxGreeted {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			continue // rank 0 is not there yet
		}
		strangers = append(strangers, conn)
	}
	for _, conn := range strangers {
		_ = conn.Close()
	}
	if _, errs := joinAll(t, []RankInfo{{Rank: 1, Size: 2, LocalRank: -1, Address: address}}, []string{"s"}); errs[0] != nil {
		t.Error(errs[0])
	}
	joining.Wait()
}
