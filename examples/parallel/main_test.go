package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

const variable = "EXAMPLE_PARALLEL" // set in the processes that are ranks

func TestMain(m *testing.M) {
	if os.Getenv(variable) == "" {
		os.Exit(m.Run())
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx, os.Stdout, []string{"-epochs", "2"}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// TestRun starts three processes like a launcher does, and compares their output.
func TestRun(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	said := make([]string, 3)
	var running sync.WaitGroup
	for r := range said {
		running.Go(func() {
			c := exec.CommandContext(t.Context(), os.Args[0])
			c.Env = append(os.Environ(), variable+"=1", "RANK="+fmt.Sprint(r), "WORLD_SIZE=3", "MASTER_ADDR=127.0.0.1", "MASTER_PORT="+port)
			text, err := c.CombinedOutput()
			if err != nil {
				t.Errorf("rank %d: %v\n%s", r, err, text)
			}
			said[r] = string(text)
		})
	}
	running.Wait()
	weights := regexp.MustCompile(`^rank (\d) of 3 \(torchrun\): weights ([0-9a-f]{16})\n`)
	for r, text := range said {
		found, first := weights.FindStringSubmatch(text), weights.FindStringSubmatch(said[0])
		if found == nil || first == nil || found[1] != fmt.Sprint(r) || found[2] != first[2] {
			t.Errorf("rank %d prints\n%s\nbut rank 0\n%s", r, text, said[0])
		}
		if strings.Contains(text, "3 ranks; waiting for the gradients of other ranks") != (r == 0) {
			t.Errorf("rank %d prints\n%s", r, text)
		}
	}
}

func TestAlone(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), &out, []string{"-epochs", "1", "-width", "16"}); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), "rank 0 of 1: weights ") {
		t.Error(out.String())
	}
}
