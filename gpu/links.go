package gpu

import "fmt"

// Link is how one GPU of the machine reaches another one.
type Link struct {
	From, To string // PCI bus ids, such as 0000:3b:00.0
	// NVLinks is how many NVLinks lead from one to the other, directly or through NVSwitch; 0 for none.
	NVLinks int
	// Path is what data crosses without NVLink.
	Path Path
}

// Path is what data crosses between two GPUs on PCI Express, from the shortest path to the longest. Its names are those of
// nvidia-smi topo -m.
type Path string

// The paths.
const (
	SameBoard       Path = "INT"  // within a board that has several GPUs; nvidia-smi shows PIX
	OneSwitch       Path = "PIX"  // one PCIe switch
	SeveralSwitches Path = "PXB"  // several PCIe switches, but no host bridge
	HostBridge      Path = "PHB"  // a PCIe host bridge
	SameNUMANode    Path = "NODE" // host bridges of a NUMA node
	BetweenSockets  Path = "SYS"  // the connection between NUMA nodes
)

// String returns what nvidia-smi topo -m shows: the number of NVLinks such as NV18, or the path.
func (l Link) String() string {
	if l.NVLinks > 0 {
		return fmt.Sprintf("NV%d", l.NVLinks)
	}
	return string(l.Path)
}
