package parallel

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// lossyVariable is set in the process that has a network of its own.
const lossyVariable = "QUERN_TEST_LOSSY"

// TestLossyNetwork connects two ranks by a network that loses packets. It needs the right to make a network namespace with a TUN
// device, and unshare and ip; make lossy runs it.
func TestLossyNetwork(t *testing.T) {
	if os.Getenv("QUERN_LONG") != "1" {
		t.Skip("run by make lossy")
	}
	if os.Getenv(lossyVariable) == "" {
		c := exec.CommandContext(t.Context(), "unshare", "--map-root-user", "--net", os.Args[0], "-test.run=^TestLossyNetwork$", "-test.v")
		c.Env = append(os.Environ(), lossyVariable+"=1")
		out, err := c.CombinedOutput()
		t.Logf("%s", out)
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	n := openLossy(t)
	for _, row := range []struct {
		name  string
		loss  float64 // share of the packets
		later float64 // after the ranks have joined
		works bool    // all sums must arrive
		lost  bool    // the loss of a rank must be noticed
	}{
		{"no packet", 0, 0, true, false},
		{"every tenth", 0.1, 0.1, true, false},
		{"half of them", 0.5, 0.5, false, false},
		{"half of them, after the ranks have joined", 0, 0.5, false, false},
		{"all of them, after the ranks have joined", 0, 1, false, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			const timeout, heartbeat, steps = 30 * time.Second, 10 * time.Second, 5
			n.setLoss(row.loss)
			port := fmt.Sprint(29000 + len(row.name))
			begin := time.Now()
			errs, made := make([]error, 2), make([]int, 2)
			var running sync.WaitGroup
			for rank := range 2 {
				running.Go(func() {
					// Rank 1 reaches rank 0 through the network; rank 0 has its own address.
					at := net.JoinHostPort([]string{lossyHere, lossyThere}[rank], port)
					g, err := Join(t.Context(), At(RankInfo{Rank: rank, Size: 2, LocalRank: -1, Address: at}), Secret("s"), Timeout(timeout), HeartbeatTimeout(heartbeat))
					if err != nil {
						errs[rank] = err
						return
					}
					n.setLoss(row.later)
					for step := range steps {
						data := make([]float32, 100000)
						for i := range data {
							data[i] = float32(step + rank)
						}
						ctx, cancel := context.WithTimeout(t.Context(), timeout)
						err := g.AllReduce(ctx, data, Sum)
						cancel()
						if err != nil {
							errs[rank] = err
							break
						}
						for _, v := range data {
							if v != float32(2*step+1) {
								t.Errorf("rank %d, step %d: the sum is %v", rank, step, v)
								return
							}
						}
						made[rank]++
					}
					_ = g.Close() // it may be broken
				})
			}
			running.Wait()
			t.Logf("%d and %d sums in %v, errors %v", made[0], made[1], time.Since(begin).Round(time.Millisecond), errs)
			if passed := time.Since(begin); passed > timeout+steps*timeout+2*heartbeat {
				t.Errorf("it took %v", passed)
			}
			for rank, err := range errs {
				var lost *LostError
				var missing *MissingError
				var address *AddressError
				known := errors.As(err, &lost) || errors.As(err, &missing) || errors.As(err, &address) || errors.Is(err, context.DeadlineExceeded)
				if err != nil && (row.works || !known) || row.lost && !errors.As(err, &lost) {
					t.Errorf("rank %d: %v", rank, err)
				}
			}
		})
	}
}

// The address of this machine, and the one whose packets the lossy network sends back to it.
const lossyHere, lossyThere = "10.9.0.1", "10.9.0.2"

// lossy is a network of one machine. It exchanges the addresses of the sender and the receiver of each packet, so that what is
// sent to lossyThere arrives here, as if from there.
type lossy struct{ loss atomic.Uint64 } // share of 2⁶³

func (n *lossy) setLoss(share float64) { n.loss.Store(uint64(share * (1 << 63))) }

// openLossy opens the network device.
func openLossy(t *testing.T) *lossy {
	t.Helper()
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	request, err := unix.NewIfreq("lossy0")
	if err != nil {
		t.Fatal(err)
	}
	request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, request); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"link", "set", "lo", "up"}, {"addr", "add", lossyHere + "/24", "dev", "lossy0"}, {"link", "set", "lossy0", "up"}} {
		if out, err := exec.CommandContext(t.Context(), "ip", command...).CombinedOutput(); err != nil {
			t.Fatalf("ip %v: %v\n%s", command, err, out)
		}
	}
	n := &lossy{}
	go func() { // until the process ends
		random := rand.New(rand.NewPCG(1, 0))
		packet := make([]byte, 1<<16)
		for {
			length, err := unix.Read(fd, packet)
			if err != nil {
				return
			}
			if length < 20 || packet[0]>>4 != 4 || random.Uint64()>>1 < n.loss.Load() {
				continue
			}
			var sender [4]byte
			copy(sender[:], packet[12:16])
			copy(packet[12:16], packet[16:20])
			copy(packet[16:20], sender[:]) // the checksums stay the same, since they are sums
			if _, err := unix.Write(fd, packet[:length]); err != nil {
				return
			}
		}
	}()
	return n
}
