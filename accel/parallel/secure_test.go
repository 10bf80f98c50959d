package parallel

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
)

// wire is a connection whose traffic is recorded and can be changed.
type wire struct {
	near, far net.Conn
	mu        sync.Mutex
	seen      bytes.Buffer // recorded from near to far
	flip      int          // offset of a byte to change; -1 for none
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

// tcpPair returns both ends of a connection.
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

// linked runs the handshake between the two ends of a wire.
func linked(w *wire) (near, far *link, err error) { return linkedAs(w, false, false) }

// linkedAs is linked; dialLocal and listenLocal say which end uses the secret of this machine.
func linkedAs(w *wire, dialLocal, listenLocal bool) (near, far *link, err error) {
	dials := &joiner{secret: "s", info: &RankInfo{Rank: 1, Size: 2}, local: dialLocal}
	listens := &joiner{secret: "s", info: &RankInfo{Size: 2}, local: listenLocal}
	var greeting sync.WaitGroup
	var refused error
	greeting.Go(func() {
		if far, _, refused = listens.acceptHandshake(w.far, func(hello) error { return nil }); refused != nil {
			_ = w.far.Close()
		}
	})
	if near, err = dials.dialHandshake(w.near, 0, hello{}); err != nil {
		_ = w.near.Close()
	}
	greeting.Wait()
	return near, far, errors.Join(err, refused)
}

// TestWireIsPrivate checks that neither handshake nor data can be read on the wire.
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

// TestOneEndEncrypts checks that a connection is encrypted unless both ends do without.
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

// TestWireCannotBeChanged flips a bit on the wire: the connection must fail and deliver no changed
// data.
func TestWireCannotBeChanged(t *testing.T) {
	t.Parallel()
	numbers := bytes.Repeat([]byte{0, 0, 0x80, 0x3f}, 50_000)
	for _, local := range []bool{false, true} {
		for at := 0; at < len(numbers); at = at*3/2 + 7 {
			w := newWire(t, at)
			near, far, err := linkedAs(w, local, local)
			if err != nil {
				continue // the byte was in the handshake
			}
			sending := make(chan error, 1)
			go func() { _, err := near.conn.Write(numbers); near.close(); sending <- err }()
			got, err := io.ReadAll(far.in)
			if !bytes.HasPrefix(numbers, got) {
				t.Errorf("byte %d was changed, and changed data was received", at)
			}
			if err == nil && len(got) == len(numbers) {
				t.Errorf("byte %d was changed, but no error was returned", at)
			}
			far.close()
			<-sending
		}
	}
}

// TestFramesInOrder omits, repeats, swaps, truncates and reflects frames between two ranks of one
// machine: only the content before that may be read, then an error.
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

// TestInjected writes into a connection between two ranks from outside.
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

// TestManInTheMiddle puts a relay without the secret between two ranks. It has an encrypted
// connection with each and forwards their messages.
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
	if _, _, err := linked(&wire{near: near, far: far}); !errors.Is(err, errWrongSecret) {
		t.Errorf("got %v", err)
	}
}

// TestManyStrangers opens more connections than rank 0 handles at a time.
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
	for len(strangers) < 2*maxPending {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			continue // rank 0 does not listen yet
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
