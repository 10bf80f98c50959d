package parallel

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
)

// fakeStore is a fake of torchrun's store.
func fakeStore(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	var mu sync.Mutex
	kept := map[string]string{}
	text := func(r io.Reader) string {
		var n uint64
		_ = binary.Read(r, binary.NativeEndian, &n)
		b := make([]byte, min(n, 1<<16))
		_, _ = io.ReadFull(r, b)
		return string(b)
	}
	serve := func(conn net.Conn) {
		defer func() { _ = conn.Close() }()
		var magic uint32
		kind := make([]byte, 1)
		if _, err := io.ReadFull(conn, kind); err != nil || kind[0] != 0 {
			return
		}
		if err := binary.Read(conn, binary.NativeEndian, &magic); err != nil || magic != 0x3C85F7CE {
			return
		}
		for {
			if _, err := io.ReadFull(conn, kind); err != nil {
				return
			}
			switch kind[0] {
			case 1:
				key, value := text(conn), text(conn)
				mu.Lock()
				kept[key] = value
				mu.Unlock()
			case 3:
				key := text(conn)
				mu.Lock()
				value := kept[key]
				mu.Unlock()
				_, _ = conn.Write(append(binary.NativeEndian.AppendUint64(nil, uint64(len(value))), value...))
			case 5:
				var n uint64
				_ = binary.Read(conn, binary.NativeEndian, &n)
				key := text(conn)
				mu.Lock()
				_, there := kept[key]
				mu.Unlock()
				answer := []byte{1}
				if there {
					answer[0] = 0
				}
				_, _ = conn.Write(answer)
			default:
				return
			}
		}
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go serve(conn)
		}
	}()
	return l.Addr().String()
}

func TestJoinThroughTheStoreOfTorchrun(t *testing.T) {
	host, port, _ := net.SplitHostPort(fakeStore(t))
	var all []RankInfo
	for r := range 3 {
		environment := map[string]string{
			"RANK": fmt.Sprint(r), "WORLD_SIZE": "3", "LOCAL_RANK": fmt.Sprint(r), "LOCAL_WORLD_SIZE": "3",
			"MASTER_ADDR": host, "MASTER_PORT": port, "TORCHELASTIC_USE_AGENT_STORE": "True", "TORCHELASTIC_RUN_ID": "none", "TORCHELASTIC_RESTART_COUNT": "0",
		}
		p, err := FromEnvironment(func(name string) (string, bool) { v, ok := environment[name]; return v, ok })
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	groups, errs := joinAll(t, all, []string{""})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	mustEach(t, groups, func(ctx context.Context, g *Group) error { return g.Barrier(ctx) })
}
