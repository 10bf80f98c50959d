package gpu

import (
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

// container holds the limits of Linux control groups (version 2 or 1) for this process. It is
// empty on other systems and without limits. See
// https://docs.kernel.org/admin-guide/cgroup-v2.html.
type container struct {
	cores  float64 // CPU cores that may be used; 0: no limit
	memory float64 // bytes that may be used; 0: no limit

	root      fs.FS
	memoryDir string
	cpuDir    string
	version2  bool
}

// readContainer finds the limits below root, the root of the file system.
func readContainer(root fs.FS) container {
	c := container{root: root}
	groups, ok := read(root, "proc/self/cgroup")
	if !ok {
		return c
	}
	const mount = "sys/fs/cgroup"
	if _, ok := read(root, mount+"/cgroup.controllers"); ok {
		c.version2 = true
		dir := c.within(mount, controller(groups, ""))
		c.cpuDir, c.memoryDir = dir, dir
		// Any parent group may have a limit; the smallest applies.
		for d := dir; ; d = path.Dir(d) {
			if words, ok := read(root, d+"/cpu.max"); ok {
				quota, period, _ := strings.Cut(words, " ")
				c.cores = tighter(c.cores, number(quota)/number(period))
			}
			c.memory = tighter(c.memory, c.number(d, "memory.max"))
			if d == mount || d == "." {
				return c
			}
		}
	}
	c.cpuDir = c.within(mount+"/cpu", controller(groups, "cpu"))
	c.memoryDir = c.within(mount+"/memory", controller(groups, "memory"))
	c.cores = tighter(0, c.number(c.cpuDir, "cpu.cfs_quota_us")/c.number(c.cpuDir, "cpu.cfs_period_us"))
	c.memory = tighter(0, c.number(c.memoryDir, "memory.limit_in_bytes"))
	return c
}

// controller returns the group path of a controller from /proc/self/cgroup, whose lines look
// like "4:cpu,cpuacct:/path".
func controller(groups, name string) string {
	for line := range strings.Lines(groups) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		names, group, _ := strings.Cut(rest, ":")
		if slices.Contains(strings.Split(names, ","), name) {
			return group
		}
	}
	return "/"
}

// within returns the directory of a group. In a container with its own cgroup namespace the
// path may not exist; then the mount itself is the group.
func (c container) within(mount, group string) string {
	dir := path.Join(mount, path.Clean("/"+group))
	if _, err := fs.Stat(c.root, dir); err != nil {
		return mount
	}
	return dir
}

// tighter returns the smaller of two limits. 0, NaN and values as large as "unlimited" in
// version 1 mean no limit.
func tighter(a, b float64) float64 {
	const unlimited = 1 << 60
	if !(b > 0) || b >= unlimited {
		return a
	}
	if a == 0 {
		return b
	}
	return min(a, b)
}

// cpuTime returns the CPU seconds that the group has used.
func (c container) cpuTime() float64 {
	if c.version2 {
		return c.field(c.cpuDir, "cpu.stat", "usage_usec") / 1e6
	}
	for _, dir := range [...]string{c.cpuDir, strings.Replace(c.cpuDir, "cgroup/cpu", "cgroup/cpuacct", 1)} {
		if ns := c.number(dir, "cpuacct.usage"); ns >= 0 {
			return ns / 1e9
		}
	}
	return math.NaN()
}

// memoryUsed returns the bytes that the group uses, without the page cache that the system
// would reclaim first.
func (c container) memoryUsed() float64 {
	used, cached := c.number(c.memoryDir, "memory.usage_in_bytes"), c.field(c.memoryDir, "memory.stat", "total_inactive_file")
	if c.version2 {
		used, cached = c.number(c.memoryDir, "memory.current"), c.field(c.memoryDir, "memory.stat", "inactive_file")
	}
	if cached <= used {
		used -= cached
	}
	return used
}

// number returns the number in a file, or NaN.
func (c container) number(dir, name string) float64 { return numberIn(c.root, dir+"/"+name) }

// numberIn returns the number in a file, or NaN.
func numberIn(root fs.FS, name string) float64 {
	words, _ := read(root, name)
	return number(words)
}

// field returns the number after a word at the beginning of a line of a file.
func (c container) field(dir, name, word string) float64 {
	words, _ := read(c.root, dir+"/"+name)
	for line := range strings.Lines(words) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && key == word {
			return number(value)
		}
	}
	return math.NaN()
}

func number(s string) float64 {
	v, err := strconv.ParseUint(strings.TrimSpace(s), 10, 64)
	if err != nil {
		return math.NaN() // also for "max"
	}
	return float64(v)
}

func read(root fs.FS, name string) (string, bool) {
	b, err := fs.ReadFile(root, name)
	return strings.TrimSpace(string(b)), err == nil
}
