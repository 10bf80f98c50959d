//go:build unix

package worker

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
)

// A dead worker is replaced even if clients, for example, have used up all file
// descriptors.
func TestFewDescriptors(t *testing.T) {
	const variable = "TEST_FEW_DESCRIPTORS"
	if os.Getenv(variable) == "" { // the limit applies to a whole process
		t.Parallel()
		cmd := exec.Command(os.Args[0], "-test.run=^TestFewDescriptors$")
		cmd.Env = append(os.Environ(), variable+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	limit := syscall.Rlimit{Cur: 64, Max: 64}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	program := Program([]string{os.Args[0]}, "")
	start := func() {
		runner := program("", nil)
		pipes, err := runner.Start("token")
		if err != nil {
			t.Fatalf("start: %v", err)
		}
		runner.Kill()
		runner.Wait()
		for _, pipe := range []interface{ Close() error }{pipes.Link, pipes.Stdout, pipes.Stderr} {
			pipe.Close()
		}
	}
	start()
	var used []*os.File
	for { // as clients do
		f, err := os.Open(os.DevNull)
		used = append(used, f)
		if errors.Is(err, syscall.EMFILE) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	start()
	start()
	runtime.KeepAlive(used) // the garbage collector closes files
}
