package driver

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// machineOf returns a machine with these files and variables.
func machineOf(files []string, variables map[string]string) machine {
	return machine{
		exists: func(path string) bool { return slices.Contains(files, path) },
		env:    func(name string) (string, bool) { v, ok := variables[name]; return v, ok },
	}
}

func TestReasons(t *testing.T) {
	t.Parallel()
	cause := errors.New("cannot open shared object file")
	hidden := map[string]string{visibleDevices: ""}
	for name, row := range map[string]struct {
		err  error
		want string
	}{
		"no driver":                 {machineOf(nil, nil).withoutLibrary(cause), "there is no NVIDIA driver"},
		"container without GPU":     {machineOf([]string{moduleFile}, nil).withoutLibrary(cause), "--gpus all"},
		"container without library": {machineOf([]string{controlFile}, nil).withoutLibrary(cause), "NVIDIA_DRIVER_CAPABILITIES"},
		"hidden":                    {machineOf([]string{controlFile}, hidden).withoutInit(NoDevice), "hides every GPU"},
		"hidden by -1":              {machineOf(nil, map[string]string{visibleDevices: "-1"}).withoutInit(NoDevice), "hides every GPU"},
		"no files":                  {machineOf(nil, nil).withoutInit(NoDevice), "/dev/nvidiactl is missing"},
		"no device":                 {machineOf([]string{controlFile}, nil).withoutInit(NoDevice), "finds no GPU"},
		"no uvm":                    {machineOf([]string{controlFile}, nil).withoutInit(Unknown), "nvidia-modprobe"},
		"mismatch":                  {machineOf(nil, nil).withoutInit(SystemDriverMismatch), "its library differ"},
		"fabric":                    {machineOf(nil, nil).withoutInit(SystemNotReady), "fabric manager"},
		"stub":                      {machineOf(nil, nil).withoutInit(StubLibrary), "stub"},
		"taken":                     {machineOf(nil, nil).withoutInit(DeviceUnavailable), "another process"},
		"anything else":             {machineOf(nil, nil).withoutInit(OutOfMemory), "CUDA_ERROR_OUT_OF_MEMORY"},
		"old driver":                {Usable(11030, nil), "only supports CUDA 11.3, but 11.4 is needed"},
		"old device":                {Usable(12000, []Info{{Name: "Tesla T4", Major: 7, Minor: 5}}), "Tesla T4 has compute capability 7.5"},
	} {
		if !errors.Is(row.err, ErrNoGPU) || !strings.Contains(row.err.Error(), row.want) || strings.Contains(row.err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, row.err, row.want)
		}
	}
	if err := Usable(12000, []Info{{Major: 7, Minor: 5}, {Major: 8, Minor: 6}}); err != nil {
		t.Errorf("one usable device: %v", err)
	}
}

func TestFilesOfThisMachine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "device")
	if m := thisMachine(); m.exists(path) {
		t.Error("a missing file exists")
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if m := thisMachine(); !m.exists(path) {
		t.Error("an existing file does not exist")
	}
}

func TestErrorText(t *testing.T) {
	t.Parallel()
	err := error(&Error{Code: IllegalAddress, Call: "cuStreamSynchronize", Op: "MatMul [2 3] [3 4]"})
	if !errors.Is(err, IllegalAddress) || errors.Is(err, OutOfMemory) {
		t.Error("the error does not match its code")
	}
	for _, want := range []string{"MatMul [2 3] [3 4]", "cuStreamSynchronize", "CUDA_ERROR_ILLEGAL_ADDRESS", "restart the session"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %q", want, err)
		}
	}
	for code, sticky := range map[Code]bool{OutOfMemory: false, InvalidPTX: false, LaunchFailed: true, ECCUncorrectable: true, NotReady: false} {
		if code.Sticky() != sticky {
			t.Errorf("%v sticky: %v", code, !sticky)
		}
	}
	for code, want := range map[Code]string{DeviceUnavailable: "another process", UnsupportedPTXVersion: "update it", ECCUncorrectable: "checked", OutOfMemory: ""} {
		if text := (&Error{Code: code, Call: "cuCall"}).Error(); !strings.Contains(text, want) || want == "" && strings.Contains(text, "(") {
			t.Errorf("%v: %q, want %q", code, text, want)
		}
	}
	if got := Code(12345).Name(); got != "CUDA error 12345" {
		t.Errorf("unknown code: %q", got)
	}
}

func TestOpenHere(t *testing.T) {
	t.Parallel()
	d, err := Open()
	if err != nil {
		if !errors.Is(err, ErrNoGPU) || strings.Contains(err.Error(), "\n") {
			t.Fatalf("the error is not one line about the GPU: %v", err)
		}
		t.Logf("no GPU here: %v", err)
		return
	}
	for i, info := range d.Devices() {
		t.Logf("device %d: %+v", i, info)
	}
}
