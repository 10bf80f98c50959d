// Package descendants signals a process together with all that it has started.
//
// A process group would do that without looking at every process of the system,
// but a worker's children are in the group of the worker, with which they end.
package descendants

import (
	"github.com/shirou/gopsutil/v4/process"
)

// A Tree is a process with those that it had started when the tree was looked at,
// and those that these had. All but the first come behind their parents.
type Tree []*process.Process

// Of looks at the process with a number. One that has ended is an empty tree.
func Of(pid int) Tree {
	root, err := process.NewProcess(int32(pid))
	if err != nil {
		return nil
	}
	tree := Tree{root}
	for i := 0; i < len(tree); i++ {
		// Without an answer there is nobody.
		children, _ := tree[i].Children()
		tree = append(tree, children...)
	}
	for _, p := range tree {
		_, _ = p.CreateTime() // is kept, for IsRunning to tell it from a later one
	}
	return tree
}

// Interrupt sends all of them what Control-C does, or kills them where the system
// has no such signal.
func (t Tree) Interrupt() {
	for _, p := range t {
		if interrupt(p) != nil {
			_ = p.Kill() // it fails when the process has ended
		}
	}
}

// Kill kills those that still run, and what they have started meanwhile.
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
