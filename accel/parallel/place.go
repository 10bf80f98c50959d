package parallel

import (
	"cmp"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

// Place is where a rank computes. What the system does not say is empty.
type Place struct {
	Host      string // name of the machine
	Device    string // on which the rank computes, such as cpu or cuda:1
	NUMA      string // nodes of the cores on which the rank may run, such as 0 or 0-1
	Interface string // network interface to the other ranks, such as eth0 or lo
	Speed     string // of the interface, such as 100 Gbit/s
	PCI       string // bus id of the rank's GPU, such as 0000:3b:00.0
}

// Host returns the name of the machine of a rank.
func (g *Group) Host(rank int) string {
	if g.joined == nil || rank < 0 || rank >= len(g.joined.hosts) {
		return hostname()
	}
	return g.joined.hosts[rank]
}

// place finds out where this rank is, from the files of Linux below root.
func (g *Group) place(root string) Place {
	p := Place{Host: hostname(), Device: tensors.Device(), NUMA: numa(root), PCI: pciOf(tensors.Device())}
	if g.next != nil {
		p.Interface = interfaceOf(g.next.raw.LocalAddr())
		p.Speed = speedOf(root, p.Interface)
	}
	return p
}

// pciOf returns the bus id of a GPU; empty for another device.
func pciOf(device string) string {
	gpus, err := tensors.GPUs()
	if err != nil {
		return ""
	}
	for _, g := range gpus {
		if g.Device == device {
			return g.PCI
		}
	}
	return ""
}

// numa returns the nodes of the cores on which this process may run.
func numa(root string) string {
	status, err := os.ReadFile(filepath.Join(root, "proc/self/status"))
	if err != nil {
		return ""
	}
	var allowed []int
	for line := range strings.Lines(string(status)) {
		if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
			allowed = numbersIn(list)
		}
	}
	folders, err := filepath.Glob(filepath.Join(root, "sys/devices/system/node/node*"))
	if err != nil {
		return ""
	}
	var nodes []int
	for _, folder := range folders {
		node, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(folder), "node"))
		if err != nil {
			continue
		}
		list, _ := os.ReadFile(filepath.Join(folder, "cpulist")) // a node without cores counts for none
		cores := numbersIn(string(list))
		if slices.ContainsFunc(allowed, func(core int) bool { return slices.Contains(cores, core) }) {
			nodes = append(nodes, node)
		}
	}
	slices.Sort(nodes)
	switch n := len(nodes); {
	case n == 0:
		return ""
	case n > 1 && nodes[n-1]-nodes[0] == n-1:
		return fmt.Sprintf("%d-%d", nodes[0], nodes[n-1])
	}
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(nodes), "[]"), " ", ",")
}

// numbersIn returns the numbers of a list of Linux, such as 0-3,8.
func numbersIn(list string) (all []int) {
	for part := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		from, to, _ := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		last, failed := strconv.Atoi(cmp.Or(to, from))
		if err != nil || failed != nil || last-first > 1<<16 {
			return nil
		}
		for n := first; n <= last; n++ {
			all = append(all, n)
		}
	}
	return all
}

// interfaceOf returns the name of the network interface that has an address.
func interfaceOf(a net.Addr) string {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return ""
	}
	all, err := net.Interfaces()
	if err != nil {
		return ""
	}
	for _, i := range all {
		addresses, err := i.Addrs()
		if err != nil {
			continue
		}
		for _, b := range addresses {
			if n, ok := b.(*net.IPNet); ok && n.IP.Equal(tcp.IP) {
				return i.Name
			}
		}
	}
	return ""
}

// speedOf returns the speed of a network interface; virtual ones have none.
func speedOf(root, name string) string {
	text, err := os.ReadFile(filepath.Join(root, "sys/class/net", name, "speed"))
	if err != nil {
		return ""
	}
	megabits, err := strconv.Atoi(strings.TrimSpace(string(text)))
	switch {
	case err != nil || megabits <= 0:
		return ""
	case megabits < 1000:
		return fmt.Sprintf("%d Mbit/s", megabits)
	}
	return fmt.Sprintf("%g Gbit/s", float64(megabits)/1000)
}
