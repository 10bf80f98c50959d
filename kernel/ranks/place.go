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

// The variables by which a rank knows its place. Those of torchrun
// (https://docs.pytorch.org/docs/stable/elastic/run.html) come with a secret, which
// only the ranks of one start have.
const (
	rankVariable           = "RANK"
	worldSizeVariable      = "WORLD_SIZE"
	localRankVariable      = "LOCAL_RANK"
	localWorldSizeVariable = "LOCAL_WORLD_SIZE"
	addressVariable        = "MASTER_ADDR"
	portVariable           = "MASTER_PORT"
	secretVariable         = "QUERN_PARALLEL_SECRET"
	launcherVariable       = "QUERN_PARALLEL_LAUNCHER" // what started them, as a group says it

	// CUDA's own. Without the order by bus, its numbers need not be those of NVML.
	visibleVariable = "CUDA_VISIBLE_DEVICES"
	orderVariable   = "CUDA_DEVICE_ORDER"
)

// meeting is where the ranks of one start find each other.
type meeting struct {
	address string
	port    int
	secret  string
}

func newMeeting() meeting { return meeting{"127.0.0.1", freePort(), rand.Text()} }

// Rank 0 opens the port when a cell asks for it, if one ever does. These are ports that
// systems do not give to anybody who does not ask for them.
const firstPort, lastPort = 20_000, 32_000

// freePort is a port that nobody listens on.
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

// environment is what a rank has besides the environment of the front.
func (m meeting) environment(rank int, s size) []string {
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

// joined says why this process cannot start ranks: it is a rank itself.
func joined() string {
	if n, err := strconv.Atoi(os.Getenv(worldSizeVariable)); err == nil && n > 1 {
		return fmt.Sprintf("this session is rank %s of %d already, by its environment (%s, %s): start one for each GPU there, or unset them",
			os.Getenv(rankVariable), n, rankVariable, worldSizeVariable)
	}
	return ""
}

// visibleDevices are the GPUs of this process as CUDA_VISIBLE_DEVICES names them.
func visibleDevices() []string {
	if text, set := os.LookupEnv(visibleVariable); set {
		return listed(text)
	}
	devices, err := gpu.Devices()
	if err != nil { // there are none
		return nil
	}
	names := make([]string, len(devices))
	for i, d := range devices {
		names[i] = strconv.Itoa(i)
		d.Close()
	}
	return names
}

// listed are the devices of a list. As in CUDA, it ends at the first that there
// cannot be.
func listed(text string) []string {
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
