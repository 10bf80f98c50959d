package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/gpu"
	"github.com/quernlab/quern/internal/loader"
	"github.com/quernlab/quern/internal/trust"
)

// machine describes the machine and what it lacks.
type machine struct {
	CPU         string            `json:"cpu"`
	Cores       int               `json:"cores"`
	Kernel      string            `json:"kernel,omitempty"` // of the operating system
	Go          string            `json:"go"`
	User        int               `json:"user"`
	Environment map[string]string `json:"environment,omitempty"`

	GPUs      []accel.GPU       `json:"gpus,omitempty"`
	Driver    map[string]string `json:"driver"` // libraries of the driver: the path, or why it is not used
	Libraries []string          `json:"libraries"`
	// SMI is what nvidia-smi says about the GPU: clocks, ECC, MIG and limits. Slowed is what limits
	// the clock.
	SMI    map[string]string `json:"nvidia_smi,omitempty"`
	Slowed string            `json:"slowed,omitempty"`
	Tools  map[string]string `json:"tools"` // path, or empty

	Refused []string `json:"refused,omitempty"` // files and folders that other users can change
	Fixed   []string `json:"fixed,omitempty"`   // those that -chown has changed
	Fix     string   `json:"fix,omitempty"`     // commands that change the others
}

// tools are the programs that the parts use, and folders in which they are if not on PATH.
var tools = map[string][]string{
	"nvidia-smi":        {"/usr/local/nvidia/bin", "/usr/lib/wsl/lib"},
	"ncu":               {"/usr/local/cuda/bin", "/opt/nvidia/nsight-compute/*", "/opt/cuda/bin"},
	"compute-sanitizer": {"/usr/local/cuda/bin", "/usr/local/cuda/compute-sanitizer", "/opt/cuda/bin"},
}

// findTool returns the path of a tool, or "".
func findTool(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	for _, pattern := range tools[name] {
		found, err := filepath.Glob(filepath.Join(pattern, name))
		if err != nil {
			continue
		}
		for _, path := range slices.Backward(found) { // the newest version
			if path, err := exec.LookPath(path); err == nil {
				return path
			}
		}
	}
	return ""
}

// driverFiles are the libraries of the driver.
var driverFiles = []string{"libcuda.so.1", "libnvidia-ml.so.1"}

// describeMachine describes the machine. Without a GPU, it sets the reason and fails.
func describeMachine(ctx context.Context, o options, r *report, out io.Writer) error {
	host := gpu.Host()
	m := &machine{CPU: host.Name(), Cores: runtime.NumCPU(), Go: goVersion, User: os.Geteuid(), Driver: map[string]string{}, Tools: map[string]string{}, Environment: map[string]string{}}
	host.Close()
	r.Machine, r.Name = m, o.device
	if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = strings.TrimSpace(string(text))
	}
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		if slices.Contains([]string{"LD_LIBRARY_PATH", "PATH", "PYTHONPATH", "VIRTUAL_ENV", "CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "QUERN_CUDA_LIBRARIES", "QUERN_CUDA_VARIANTS"}, name) {
			m.Environment[name] = value
		}
	}
	for name := range tools {
		m.Tools[name] = findTool(name)
	}
	m.Tools["python"], _ = exec.LookPath(o.python) // empty if there is none
	if o.simulated() {
		m.print(out)
		return nil
	}
	m.refuse(o, m.driverRefusals) // before anything loads the driver
	m.refuse(o, libraryRefusals)
	devices := accel.Devices()
	for _, l := range devices.Libraries {
		m.Libraries = append(m.Libraries, l.String())
	}
	m.GPUs = devices.GPUs
	for _, g := range m.GPUs {
		if g.Device == o.device || o.device == "cuda" && r.Name == o.device {
			r.Name = g.Name
			m.sample(g.PCI)
		}
	}
	m.queryNVIDIA(ctx)
	m.print(out)
	r.Missing = devices.Missing
	if r.Missing == "" && r.Name == o.device {
		r.Missing = fmt.Sprintf("there is no device %s: the machine has %d GPUs", o.device, len(m.GPUs))
	}
	if r.Missing != "" {
		for _, file := range driverFiles {
			if why, ok := strings.CutPrefix(m.Driver[file], notUsed); ok {
				r.Missing += fmt.Sprintf(" (%s: %s)", file, why)
			}
		}
		return &missingError{r.Missing}
	}
	return nil
}

// notUsed begins the entry of a driver's file that is not used.
const notUsed = "not used: "

// refusal is a file or folder for which a file is not used, because other users can change it.
type refusal struct{ path, reason string }

// driverRefusals looks for the driver's files as they are searched when a GPU is used.
func (m *machine) driverRefusals() (all []refusal) {
	for _, file := range driverFiles {
		path, err := loader.Find(file, loader.Path())
		if m.Driver[file] = path; err != nil {
			m.Driver[file] = notUsed + err.Error()
		}
		for _, e := range trust.Errors(err) {
			all = append(all, refusal{e.Path, e.Error()})
		}
	}
	return all
}

// libraryRefusals looks for NVIDIA's libraries.
func libraryRefusals() (all []refusal) {
	for _, l := range accel.Devices().Libraries {
		for _, path := range l.Refused {
			all = append(all, refusal{path, fmt.Sprintf("%s of %s: other users can change it, so the library is not used", path, l.Name)})
		}
	}
	return all
}

// maxFixes is how often files are looked for again after some were changed: the folders above a
// file are looked at one by one.
const maxFixes = 100

// refuse records the files that are not used, and how to change that. With -chown it does so.
func (m *machine) refuse(o options, find func() []refusal) {
	for range maxFixes {
		list := find()
		err := m.fix(o, list)
		if len(list) == 0 || err == nil {
			if len(list) == 0 {
				return
			}
			continue
		}
		for _, x := range list {
			m.Refused = append(m.Refused, x.reason)
			m.Fix += fmt.Sprintf("chown -h %d '%s'; chmod go-w '%s'; ", m.User, x.path, x.path)
		}
		if !errors.Is(err, errNotAsked) {
			m.Refused = append(m.Refused, err.Error())
		}
		return
	}
}

// errNotAsked is the error of fix without -chown.
var errNotAsked = errors.New("-chown changes the owner")

// fix changes the owners of files. It fails if one was changed before, which did not help.
func (m *machine) fix(o options, list []refusal) error {
	if !o.chown {
		return errNotAsked
	}
	for _, x := range list {
		if slices.Contains(m.Fixed, x.path) {
			return fmt.Errorf("%s is still not used after its owner has changed", x.path)
		}
	}
	for _, x := range list {
		if slices.Contains(m.Fixed, x.path) { // for another library
			continue
		}
		if err := own(x.path, m.User); err != nil {
			return err
		}
		m.Fixed = append(m.Fixed, x.path)
	}
	return nil
}

// own makes a file or folder belong to a user, and others unable to write to it.
func own(path string, user int) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if err := os.Lchown(path, user, -1); err != nil {
		return err
	}
	if info.Mode()&os.ModeSymlink != 0 {
		return nil
	}
	return os.Chmod(path, info.Mode()&^0o022)
}

// sample asks the driver for the state of a GPU.
func (m *machine) sample(pci string) {
	d, err := gpu.OpenPCI(pci)
	if err != nil {
		m.Slowed = err.Error()
		return
	}
	m.Slowed = d.Sample().Slowed
	if err := d.Close(); err != nil {
		m.Slowed += err.Error()
	}
}

// properties are what nvidia-smi is asked for. One that a version does not know fails the query,
// so each group is a query of its own.
var properties = []string{
	"driver_version,vbios_version,pstate,clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem,clocks.applications.graphics,power.draw,power.limit,temperature.gpu",
	"ecc.mode.current,ecc.errors.uncorrected.volatile.total",
	"mig.mode.current",
	"persistence_mode,compute_mode,pcie.link.gen.current,pcie.link.width.current,memory.used,memory.total",
}

// queryNVIDIA asks nvidia-smi about the first GPU.
func (m *machine) queryNVIDIA(ctx context.Context) {
	program := m.Tools["nvidia-smi"]
	if program == "" {
		return
	}
	m.SMI = map[string]string{}
	for _, group := range properties {
		own, cancel := context.WithTimeout(ctx, 5*time.Second)
		command, said := external(own, program, "--query-gpu="+group, "--format=csv,noheader")
		text, err := command.Output()
		cancel()
		rows := csv.NewReader(strings.NewReader(string(text)))
		rows.TrimLeadingSpace, rows.FieldsPerRecord = true, -1
		values, readErr := rows.Read()
		names := strings.Split(group, ",")
		if err = errors.Join(err, readErr); err != nil || len(values) != len(names) {
			m.SMI[names[0]] = fmt.Sprintf("unknown: %v %s %s", err, strings.TrimSpace(string(text)), said)
			continue
		}
		for i, name := range names {
			m.SMI[name] = values[i]
		}
	}
}

// print writes the machine.
func (m *machine) print(out io.Writer) {
	fmt.Fprintf(out, "CPU        %s, %d cores, Linux %s\n", m.CPU, m.Cores, m.Kernel)
	for _, g := range m.GPUs {
		fmt.Fprintf(out, "GPU        %s %s, compute capability %s, %d SMs, %.1f GiB\n", g.Device, g.Name, g.Capability, g.SMs, float64(g.Memory)/(1<<30))
	}
	for _, file := range sortedKeys(m.Driver) {
		fmt.Fprintf(out, "driver     %s: %s\n", file, m.Driver[file])
	}
	for _, l := range m.Libraries {
		fmt.Fprintf(out, "library    %s\n", l)
	}
	for _, name := range sortedKeys(m.SMI) {
		fmt.Fprintf(out, "nvidia-smi %s: %s\n", name, m.SMI[name])
	}
	if m.Slowed != "" {
		fmt.Fprintf(out, "the clock is limited by %s\n", m.Slowed)
	}
	for _, name := range sortedKeys(m.Tools) {
		path := m.Tools[name]
		if path == "" {
			path = "not installed"
		}
		fmt.Fprintf(out, "tool       %s: %s\n", name, path)
	}
	if len(m.Fixed) > 0 {
		fmt.Fprintf(out, "changed the owner of %d files and folders, the first of which is %s\n", len(m.Fixed), m.Fixed[0])
	}
	for _, why := range m.Refused {
		fmt.Fprintf(out, "REFUSED    %s\n", why)
	}
	if m.Fix != "" {
		fmt.Fprintf(out, "to fix it  -chown, or %s\n", m.Fix)
	}
}
