package worker

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// inherit lets the child inherit its ends of the link and returns their handles,
// separated by a comma.
func inherit(cmd *exec.Cmd, in, out *os.File) (string, error) {
	handles := make([]syscall.Handle, 2)
	for i, f := range []*os.File{in, out} {
		h := f.Fd()
		if err := windows.SetHandleInformation(windows.Handle(h), windows.HANDLE_FLAG_INHERIT, windows.HANDLE_FLAG_INHERIT); err != nil {
			return "", os.NewSyscallError("SetHandleInformation", err)
		}
		handles[i] = syscall.Handle(h)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{AdditionalInheritedHandles: handles}
	return fmt.Sprintf("%d,%d", handles[0], handles[1]), nil
}

// group is a job object with a worker and everything that it starts. Windows ends them
// when the last handle of the job is closed, which happens at the latest when the kernel
// process ends.
type group struct {
	mu  sync.Mutex
	job windows.Handle // 0 if there is none
}

func (g *group) start(cmd *exec.Cmd) error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return os.NewSyscallError("CreateJobObject", err)
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits))); err != nil {
		windows.CloseHandle(job)
		return os.NewSyscallError("SetInformationJobObject", err)
	}
	// The worker has its own group: a Ctrl-Break from a console is for the kernel
	// process, which forwards it.
	cmd.SysProcAttr.CreationFlags = syscall.CREATE_NEW_PROCESS_GROUP
	if err := cmd.Start(); err != nil {
		windows.CloseHandle(job)
		return err
	}
	g.mu.Lock()
	g.job = job
	g.mu.Unlock()
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(cmd.Process.Pid))
	if err == nil {
		err = windows.AssignProcessToJobObject(job, process)
		windows.CloseHandle(process)
	}
	if err != nil {
		_ = cmd.Process.Kill()
		return fmt.Errorf("add the worker to its job object: %w", err)
	}
	return nil
}

// kill ends all processes of the job.
func (g *group) kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		_ = windows.TerminateJobObject(g.job, 1)
	}
}

// end ends what is left of the job after Wait has returned.
func (g *group) end() {
	g.kill()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		windows.CloseHandle(g.job)
		g.job = 0
	}
}

// describe returns how a process ended, for the user.
func describe(state *os.ProcessState) string { return exited(state) }
