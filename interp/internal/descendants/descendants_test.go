//go:build unix

package descendants

import (
	"bufio"
	"os/exec"
	"testing"
)

// The child of a shell ends with the shell, even if the shell ignores the interrupt.
func TestTree(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, script string
		end          func(Tree)
	}{
		{"interrupt", "sleep 1000; true", Tree.Interrupt},
		{"kill", "trap '' INT; sleep 1000; true", func(t Tree) { t.Interrupt(); t.Kill() }},
		{"kill two generations", "trap '' INT; (trap '' INT; sleep 1000; true); true", func(t Tree) { t.Interrupt(); t.Kill() }},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := exec.Command("sh", "-c", "echo; "+row.script)
			out, err := c.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			r := bufio.NewReader(out)
			if _, err := r.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			tree := Of(c.Process.Pid)
			for len(tree) < 2 { // the shell is about to start its child
				tree = Of(c.Process.Pid)
			}
			row.end(tree)
			if _, err := r.ReadString('\n'); err == nil { // EOF comes when all processes have closed it
				t.Error("there is more output")
			}
			if err := c.Wait(); err == nil {
				t.Error("the shell ended well")
			}
			for _, p := range tree[1:] {
				if status, err := p.Status(); err == nil && len(status) > 0 && status[0] != "zombie" {
					t.Errorf("process %d is %s", p.Pid, status)
				}
			}
			tree.Kill() // does nothing for processes that have ended
		})
	}
}

func TestOfEndedProcess(t *testing.T) {
	t.Parallel()
	c := exec.Command("true")
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	if tree := Of(c.Process.Pid); len(tree) != 0 {
		t.Errorf("got %v", tree)
	}
}
