package worker

import "syscall"

// dieWithParent has the system kill the worker when the front dies, even where
// the worker is stuck and does not see the end of its link.
func dieWithParent(attributes *syscall.SysProcAttr) { attributes.Pdeathsig = syscall.SIGKILL }
