// Package descendants signals a process together with all processes that it has started,
// directly or indirectly.
//
// A process group would do this without listing every process of the system, but the
// children of a worker must stay in the worker's group, so that they end with it.
package descendants

import (
	"github.com/shirou/gopsutil/v4/process"
)

// A Tree is a process with its descendants at the time of Of. Each process comes after its
// parent.
type Tree []*process.Process

// Of returns the tree of the process with an id. The tree is empty if the process has
// ended.
func Of(pid int) Tree {
	root, err := process.NewProcess(int32(pid))
	if err != nil {
		return nil
	}
	tree := Tree{root}
	for i := 0; i < len(tree); i++ {
		// on an error there are no children
		children, _ := tree[i].Children()
		tree = append(tree, children...)
	}
	for _, p := range tree {
		_, _ = p.CreateTime() // cached, so IsRunning can distinguish it from a later process with the same id
	}
	return tree
}

// Interrupt sends SIGINT to all processes of the tree, or kills them if the system has no
// such signal.
func (t Tree) Interrupt() {
	for _, p := range t {
		if interrupt(p) != nil {
			_ = p.Kill() // it fails when the process has ended
		}
	}
}

// Kill kills the processes that still run, and those that they have started meanwhile.
func (t Tree) Kill() {
	for _, p := range t {
		if running, err := p.IsRunning(); err != nil || !running {
			continue
		}
		for _, descendant := range Of(int(p.Pid)) {
			_ = descendant.Kill() // it fails when the process has ended
		}
	}
}
