package ranks

import (
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/quernlab/quern/gpu"
	"github.com/quernlab/quern/kernel/worker/child"
)

// Environment variables that tell a rank about itself. In addition to those of torchrun
// (https://docs.pytorch.org/docs/stable/elastic/run.html) there is a secret, which only
// the ranks of one generation know.
const (
	rankVariable           = "RANK"
	worldSizeVariable      = "WORLD_SIZE"
	localRankVariable      = "LOCAL_RANK"
	localWorldSizeVariable = "LOCAL_WORLD_SIZE"
	addressVariable        = "MASTER_ADDR"
	portVariable           = "MASTER_PORT"
	secretVariable         = "QUERN_PARALLEL_SECRET"
	launcherVariable       = "QUERN_PARALLEL_LAUNCHER" // what started the ranks

	// CUDA's variables. Unless the order is PCI_BUS_ID, CUDA's device numbers may differ
	// from those of NVML.
	visibleVariable = "CUDA_VISIBLE_DEVICES"
	orderVariable   = "CUDA_DEVICE_ORDER"
)

// rendezvous is where the ranks of one generation find each other.
type rendezvous struct {
	address string
	port    int
	secret  string
}

func newRendezvous() rendezvous { return rendezvous{"127.0.0.1", freePort(), rand.Text()} }

// Rank 0 opens the port when a cell first needs it. The ports are outside the ranges from
// which systems choose ports on their own.
const firstPort, lastPort = 20_000, 32_000

// freePort returns a port on which nobody listens at the moment.
func freePort() int {
	port := firstPort
	for range 100 {
		port = firstPort + mathrand.IntN(lastPort-firstPort)
		if l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			l.Close()
			break
		}
	}
	return port
}

// environment returns the variables of a rank that are added to the environment of this
// process.
func (m rendezvous) environment(rank int, s size) []string {
	list := []string{
		fmt.Sprintf("%s=%d/%d", child.RankVariable, rank, s.ranks),
		fmt.Sprintf("%s=%d", rankVariable, rank),
		fmt.Sprintf("%s=%d", worldSizeVariable, s.ranks),
		fmt.Sprintf("%s=%d", localRankVariable, rank),
		fmt.Sprintf("%s=%d", localWorldSizeVariable, s.ranks),
		fmt.Sprintf("%s=%s", addressVariable, m.address),
		fmt.Sprintf("%s=%d", portVariable, m.port),
		fmt.Sprintf("%s=%s", secretVariable, m.secret),
		launcherVariable + "=%ranks",
	}
	if len(s.gpus) == 0 {
		return list
	}
	own := ""
	if rank < len(s.gpus) {
		own = s.gpus[rank]
	}
	list = append(list, visibleVariable+"="+own)
	if _, set := os.LookupEnv(visibleVariable); !set {
		list = append(list, orderVariable+"=PCI_BUS_ID")
	}
	return list
}

// rankAlready returns why this process cannot start ranks if it is a rank itself, else
// "".
func rankAlready() string {
	if n, err := strconv.Atoi(os.Getenv(worldSizeVariable)); err == nil && n > 1 {
		return fmt.Sprintf("this session is already rank %s of %d, as its environment says (%s, %s): start one process for each GPU there, or unset the variables",
			os.Getenv(rankVariable), n, rankVariable, worldSizeVariable)
	}
	return ""
}

// visibleDevices returns the GPUs of this process as CUDA_VISIBLE_DEVICES names them.
func visibleDevices() []string {
	if text, set := os.LookupEnv(visibleVariable); set {
		return parseDevices(text)
	}
	devices, err := gpu.Devices()
	if err != nil { // no driver, so no GPUs
		return nil
	}
	names := make([]string, len(devices))
	for i, d := range devices {
		names[i] = strconv.Itoa(i)
		d.Close()
	}
	return names
}

// parseDevices returns the devices of a value of CUDA_VISIBLE_DEVICES. As in CUDA, the
// list ends at the first invalid entry.
func parseDevices(text string) []string {
	var names []string
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		if name == "" || strings.HasPrefix(name, "-") {
			break
		}
		names = append(names, name)
	}
	return names
}
